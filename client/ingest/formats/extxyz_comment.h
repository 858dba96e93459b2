// The comment line of an extended xyz frame.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_COMMENT_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_COMMENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace packtrain::ingest {

// Views into the comment.
struct KeyValue {
  std::string_view key;
  std::string_view value;  // without its quotes; escapes are left as they are
  bool has_value = false;  // false: a word without "="
};

// Splits a comment into `pairs`, which it overwrites. Values may stand in "..", '..', {..} or [..].
// Refusal "bad_comment": such a value does not end.
absl::Status ParseComment(std::string_view comment, std::vector<KeyValue>* pairs);

// The value of the first `key`, or nullopt.
std::optional<std::string_view> FindKey(const std::vector<KeyValue>& pairs, std::string_view key);

// Where a row of a frame's table has what is read of it. Columns count from 0.
struct AtomColumns {
  std::size_t species = 0;
  std::size_t position = 1;  // the first of three
  std::size_t count = 4;     // a row must have at least this many

  friend bool operator==(const AtomColumns&, const AtomColumns&) = default;
};

// Columns after `Properties=NAME:TYPE:COUNT:...`: `species` (or `Z`) of one column and `pos` of three.
// Refusal "bad_properties".
absl::StatusOr<AtomColumns> ParseProperties(std::string_view properties);

// Lattice vectors as rows, in angstrom, and the directions in which they repeat.
struct PeriodicCell {
  std::array<float, 9> vectors = {};
  std::array<std::uint8_t, 3> pbc = {1, 1, 1};
};

// The cell of a frame with `Lattice="ax ay az bx by bz cx cy cz"` and, perhaps, `pbc="T T F"` (default all T).
// Refusals "bad_lattice", "bad_pbc".
absl::StatusOr<PeriodicCell> ParseCell(std::string_view lattice, std::optional<std::string_view> pbc);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_COMMENT_H_
