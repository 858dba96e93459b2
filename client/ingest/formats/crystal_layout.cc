#include "client/ingest/formats/crystal_layout.h"

#include <cmath>
#include <string>
#include <vector>

#include "client/ingest/refusal.h"

namespace packtrain::ingest {
namespace {

enum FieldPosition : std::size_t { kZ, kPos, kCell, kPbc };

}  // namespace

GraphLayout CrystalLayout(std::string_view record_word) {
  constexpr char kAngstrom[] = "angstrom";
  return {
      .fields = {{.name = "z", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_U8},
                 {.name = "pos",
                  .scope = v1::FIELD_SCOPE_NODE,
                  .data_type = v1::DATA_TYPE_F32,
                  .dims = {3},
                  .unit = kAngstrom},
                 {.name = "cell",
                  .scope = v1::FIELD_SCOPE_GRAPH,
                  .data_type = v1::DATA_TYPE_F32,
                  .dims = {3, 3},
                  .unit = kAngstrom},
                 {.name = "pbc", .scope = v1::FIELD_SCOPE_GRAPH, .data_type = v1::DATA_TYPE_U8, .dims = {3}}},
      .record_word = std::string(record_word)};
}

absl::Status CrystalWriter::Begin(const std::array<Vector, 3>& vectors, SourceGraph* graph) {
  graph_ = graph;
  vectors_ = vectors;
  std::vector<float>& cell = graph->Values<float>(kCell);
  for (const Vector& vector : vectors) {
    for (const double element : vector) cell.push_back(static_cast<float>(element));
  }
  graph->Values<std::uint8_t>(kPbc).assign(3, 1);
  for (const float element : cell) {
    if (!std::isfinite(element)) return Refusal("bad_cell", "the cell is not finite");
  }
  if (VolumeOf(vectors) == 0) return Refusal("bad_cell", "the cell has no volume");
  return absl::OkStatus();
}

void CrystalWriter::AddFractional(std::uint8_t z, const Vector& at) {
  Vector place;
  for (std::size_t k = 0; k < 3; ++k) {
    place[k] = at[0] * vectors_[0][k] + at[1] * vectors_[1][k] + at[2] * vectors_[2][k];
  }
  AddCartesian(z, place);
}

void CrystalWriter::AddCartesian(std::uint8_t z, const Vector& place) {
  graph_->Values<std::uint8_t>(kZ).push_back(z);
  for (const double element : place) graph_->Values<float>(kPos).push_back(static_cast<float>(element));
  ++graph_->n_node;
}

double VolumeOf(const std::array<Vector, 3>& v) {
  return v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) - v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
         v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
}

}  // namespace packtrain::ingest
