// The lines of a POSCAR file before its atoms.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_POSCAR_HEAD_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_POSCAR_HEAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/formats/crystal_layout.h"

namespace packtrain::ingest {

// Three numbers at the front of a line, and what follows them.
std::optional<Vector> ThreeNumbers(std::string_view line, std::string_view* rest);

struct PoscarHead {
  std::array<Vector, 3> vectors = {};  // angstrom, scaled
  Vector scale = {1, 1, 1};            // of Cartesian places
  std::vector<std::uint8_t> species;   // atomic numbers, by kind of atom; empty: the rows have to say
  std::vector<std::uint64_t> counts;   // by kind of atom
  bool is_cartesian = false;
  bool is_selective = false;  // rows go on with three flags
  std::size_t lines = 0;      // that the head takes

  std::uint64_t atoms() const;
};

// Lines that a head takes at most.
inline constexpr std::size_t kMaxHeadLines = 9;

// Reads the head at the front of `lines`. VASP 4 has no line of element symbols; they may then stand in the
// comment, or behind the atoms. Refusals: truncated_file, bad_scale, bad_cell, bad_count, unknown_symbol,
// bad_mode; `line` becomes the index of the line that is refused, or the number of lines where one is missing.
absl::StatusOr<PoscarHead> ParsePoscarHead(std::span<const std::string_view> lines, std::size_t* line);

// The number of atoms, where `lines` may be the front of a head; nullopt where they are something else.
std::optional<std::uint64_t> AtomsOfHead(std::span<const std::string_view> lines);

// Whether a head, perhaps with a wrong line, stands behind the comment in front: a scale and three vectors of
// which one and at least half are right, as far as there are lines.
bool ResemblesHead(std::span<const std::string_view> lines);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_POSCAR_HEAD_H_
