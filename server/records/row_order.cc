#include "server/records/row_order.h"

namespace packtrain::records {

void OrderRows(std::string_view rows, std::size_t row_bytes, std::span<const std::uint32_t> order,
               std::string& out) {
  out.clear();
  out.reserve(order.size() * row_bytes);
  for (const std::uint32_t row : order) out.append(rows.substr(row * row_bytes, row_bytes));
}

}  // namespace packtrain::records
