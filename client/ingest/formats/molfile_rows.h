// The rows of atoms and bonds of a molfile, to say which of them is wrong where RDKit names none.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_MOLFILE_ROWS_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_MOLFILE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace packtrain::ingest {

struct MolfileRows {
  struct Atom {
    std::uint64_t number = 0;
    std::string_view symbol;
    std::size_t line = 0;  // from 1
  };
  struct Bond {
    std::uint64_t number = 0;
    std::uint64_t from = 0, to = 0;  // numbers of atoms
    std::size_t line = 0;            // from 1
  };

  std::vector<Atom> atoms;
  std::vector<Bond> bonds;
};

// Of a molfile, V2000 or V3000, as far as it has rows that can be read; views into the text.
MolfileRows ReadMolfileRows(std::string_view text);

// Refusal "bad_molfile" of the first bond that names an atom that is not there, or the same one twice, or that
// joins two atoms as another bond does; `line` is then its line.
absl::Status CheckBonds(const MolfileRows& rows, std::size_t* line);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_MOLFILE_ROWS_H_
