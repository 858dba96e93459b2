// Rows of a field in another order.
#ifndef PACKTRAIN_SERVER_RECORDS_ROW_ORDER_H_
#define PACKTRAIN_SERVER_RECORDS_ROW_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "server/records/graph_record.h"

namespace packtrain::records {

// Replaces `out` by rows order[0], order[1], ... of `rows`, each of `row_bytes`.
void OrderRows(std::string_view rows, std::size_t row_bytes, std::span<const std::uint32_t> order,
               std::string& out);

// Bytes of a row of all fields of this scope.
std::uint64_t RowBytes(const RecordLayout& layout, v1::FieldScope scope);

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_ROW_ORDER_H_
