// What a crystal is: atoms in a cell that repeats.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_CRYSTAL_LAYOUT_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_CRYSTAL_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

// Node fields `z` (u8) and `pos` (f32 [3], angstrom), graph fields `cell` (f32 [3, 3], angstrom, a row for each
// vector) and `pbc` (u8 [3]).
GraphLayout CrystalLayout(std::string_view record_word);

using Vector = std::array<double, 3>;

// Puts together one structure whose cell repeats in three directions, in a graph of CrystalLayout.
class CrystalWriter {
 public:
  // `vectors` are in angstrom. Refusal "bad_cell": one of them is not finite, or they span no volume.
  absl::Status Begin(const std::array<Vector, 3>& vectors, SourceGraph* graph);

  // An atom at coordinates in the vectors of the cell, or at a place in angstrom.
  void AddFractional(std::uint8_t z, const Vector& at);
  void AddCartesian(std::uint8_t z, const Vector& place);

 private:
  std::array<Vector, 3> vectors_ = {};
  SourceGraph* graph_ = nullptr;
};

// In cubic angstrom, above 0 where the vectors are right-handed.
double VolumeOf(const std::array<Vector, 3>& vectors);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_CRYSTAL_LAYOUT_H_
