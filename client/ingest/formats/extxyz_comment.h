// The comment line of an extended xyz frame.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_COMMENT_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_COMMENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/formats/atom_rows.h"

namespace packtrain::ingest {

// Views into the comment.
struct KeyValue {
  std::string_view key = {};
  std::string_view value = {};  // without its quotes and blanks around it; escapes are left as they are
  bool has_value = false;       // false: a plain word
  bool is_ambiguous = false;    // it has the form of a pair, and may be none
};

// Splits a comment into `pairs`, which it overwrites. Values may stand in "..", '..', {..} or [..]; the last
// two may be nested. `key: number` is a pair, with or without a blank in front of the colon. A comma behind a
// number is left out. Ambiguous pairs are
// - `word key: value` and `word key= number`. The key has the word in front of it,
//   as in `g norm`, unless that is the first one of the comment, which may be a title;
// - `key: value`, where the value is no number, and `key:number`, where the key begins
//   with a letter. The key, with its colon, is also a plain word in front of its pair,
//   as it may be a title.
// Refusal "bad_comment": a value in quotes or brackets does not end.
absl::Status ParseComment(std::string_view comment, std::vector<KeyValue>* pairs);

// The value of the first `key` that is not ambiguous, or nullopt. FindSetting takes the key in any case, as
// "lattice" for "Lattice".
std::optional<std::string_view> FindKey(const std::vector<KeyValue>& pairs, std::string_view key);
std::optional<std::string_view> FindSetting(const std::vector<KeyValue>& pairs, std::string_view key);

// What `Properties=NAME:TYPE:COUNT:...` says of the columns.
struct Properties {
  AtomColumns columns;
  // Begin and length, in the text of the property, of the names of columns that are not read.
  std::vector<std::pair<std::size_t, std::size_t>> other_names;
};

// Columns `species` (or `Z` or `numbers`) of one column and `pos` of three, in any case. Refusal
// "bad_properties".
absl::StatusOr<Properties> ParseProperties(std::string_view properties);

// Lattice vectors as rows, in angstrom, and the directions in which they repeat.
struct PeriodicCell {
  std::array<float, 9> vectors = {};
  std::array<std::uint8_t, 3> pbc = {1, 1, 1};
};

// The cell of a frame with `Lattice="ax ay az bx by bz cx cy cz"` and, perhaps, `pbc="T T F"` (default all T).
// Commas and brackets between the values mean nothing. Refusals "bad_lattice", "bad_pbc".
absl::StatusOr<PeriodicCell> ParseCell(std::string_view lattice, std::optional<std::string_view> pbc);

// Refusal "bad_pbc": `pbc` is not three flags.
absl::StatusOr<std::array<std::uint8_t, 3>> ParsePbc(std::string_view pbc);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_COMMENT_H_
