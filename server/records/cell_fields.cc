#include "server/records/cell_fields.h"

#include <array>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "server/records/schema.h"

namespace packtrain::records {
namespace {

constexpr std::string_view kCell = "cell";
constexpr std::string_view kPeriodicAxes = "pbc";

bool IsFloat(v1::DataType type) { return type == v1::DATA_TYPE_F32 || type == v1::DATA_TYPE_F64; }

bool IsCell(const v1::Field& field) {
  return field.scope() == v1::FIELD_SCOPE_GRAPH && IsFloat(field.data_type()) && RowElements(field) == 9;
}

bool IsPeriodicAxes(const v1::Field& field) {
  return field.scope() == v1::FIELD_SCOPE_GRAPH && field.data_type() == v1::DATA_TYPE_U8 &&
         RowElements(field) == 3;
}

std::optional<std::size_t> FindGraphField(const RecordLayout& layout, std::string_view name) {
  const std::optional<std::size_t> field = layout.FindField(name);
  return field && layout.fields()[*field].scope == v1::FIELD_SCOPE_GRAPH ? field : std::nullopt;
}

template <typename T>
std::array<edges::Point, 3> VectorsAt(std::string_view row) {
  std::array<T, 9> at;
  std::memcpy(at.data(), row.data(), sizeof(at));
  return {edges::Point{at[0], at[1], at[2]}, {at[3], at[4], at[5]}, {at[6], at[7], at[8]}};
}

}  // namespace

absl::Status CheckCellFields(const v1::Schema& schema) {
  for (const v1::Field& field : schema.fields()) {
    if (field.name() == kCell && !IsCell(field)) {
      return absl::InvalidArgumentError("field 'cell' must be a graph field of F32 or F64 with dims [3, 3]");
    }
    if (field.name() == kPeriodicAxes && !IsPeriodicAxes(field)) {
      return absl::InvalidArgumentError("field 'pbc' must be a graph field of U8 with dims [3]");
    }
  }
  return absl::OkStatus();
}

bool HasCellFields(const v1::Schema& schema) {
  for (const v1::Field& field : schema.fields()) {
    if (field.name() == kCell || field.name() == kPeriodicAxes) return true;
  }
  return false;
}

CellFields::CellFields(const RecordLayout& layout) {
  cell_ = FindGraphField(layout, kCell);
  if (cell_) {
    const RecordLayout::Field& field = layout.fields()[*cell_];
    f32_ = field.data_type == v1::DATA_TYPE_F32;
    if (!IsFloat(field.data_type) || field.row_bytes != 9 * (f32_ ? sizeof(float) : sizeof(double)))
      cell_.reset();
  }
  pbc_ = FindGraphField(layout, kPeriodicAxes);
  if (pbc_) {
    const RecordLayout::Field& field = layout.fields()[*pbc_];
    if (field.data_type != v1::DATA_TYPE_U8 || field.row_bytes != 3) pbc_.reset();
  }
}

edges::PeriodicCell CellFields::CellOf(const GraphView& graph) const {
  edges::PeriodicCell cell;
  if (cell_) {
    cell.vectors = f32_ ? VectorsAt<float>(graph.fields[*cell_]) : VectorsAt<double>(graph.fields[*cell_]);
  }
  for (std::size_t k = 0; k < 3; ++k) cell.repeats[k] = pbc_ ? graph.fields[*pbc_][k] != 0 : cell_.has_value();
  return cell;
}

}  // namespace packtrain::records
