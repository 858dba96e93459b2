// The table of atoms in an xyz frame: a row for each atom, with columns for its element and its position.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_ATOM_ROWS_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_ATOM_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace packtrain::ingest {

// Where a row has what is read of it. Columns count from 0.
struct AtomColumns {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t species = 0;
  std::size_t position = 1;    // the first of three
  std::size_t count = 4;       // a row must have at least this many
  std::size_t number = kNone;  // of atomic numbers beside the species, which must agree
  bool numbers = false;        // the species may be atomic numbers
  bool frequencies = false;    // a row that IsFrequencies stands behind the last atom

  friend bool operator==(const AtomColumns&, const AtomColumns&) = default;
};

// Reads rows off a text of lines. Used by one thread.
class AtomRows {
 public:
  // `line` is the number of the line before the first row.
  AtomRows(const AtomColumns& columns, std::string_view text, std::uint64_t line)
      : columns_(columns), rest_(text), line_(line) {}

  // Reads `count` rows and appends to `z`, and to `pos` three components an atom. Refusals "truncated_frame",
  // "count_too_high", "short_row", "unknown_symbol", "contradiction", "not_a_number", "not_finite".
  absl::Status Read(std::uint64_t count, std::vector<std::uint8_t>* z, std::vector<float>* pos);

  // Of the last row that was read, good or bad.
  std::uint64_t line() const { return line_; }
  // What follows the rows.
  std::string_view rest() const { return rest_; }

 private:
  absl::Status ReadRow(std::string_view row, std::vector<std::uint8_t>* z, std::vector<float>* pos) const;
  absl::Status ExplainRow(std::string_view row) const;
  absl::Status ExplainSpecies(std::string_view word) const;
  std::uint8_t NumberOf(std::string_view word) const;

  const AtomColumns columns_;
  std::string_view rest_;
  std::uint64_t line_;
};

// Refusals "no_nodes", "too_many_atoms".
absl::Status CheckAtomCount(std::uint64_t count, std::uint64_t max_atoms);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_ATOM_ROWS_H_
