#include "server/records/row_order.h"

#include "server/edges/working_memory.h"

namespace packtrain::records {

void OrderRows(std::string_view rows, std::size_t row_bytes, std::span<const std::uint32_t> order,
               std::string& out) {
  edges::MakeRoom(out, order.size() * row_bytes);
  out.clear();
  for (const std::uint32_t row : order) out.append(rows.substr(row * row_bytes, row_bytes));
}

std::uint64_t RowBytes(const RecordLayout& layout, v1::FieldScope scope) {
  std::uint64_t bytes = 0;
  for (const RecordLayout::Field& field : layout.fields()) {
    if (field.scope == scope) bytes += field.row_bytes;
  }
  return bytes;
}

}  // namespace packtrain::records
