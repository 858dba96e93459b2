// One data block of a CIF file as plain text, and space groups. Gemmi is known here only, and is read as C++17:
// in C++20 its documents hold vectors of a type that is not complete yet, which clang refuses.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_BLOCK_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_BLOCK_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace packtrain::ingest {

// A row of the loop of atoms. Words are without quotes, and empty where they are "?", "." or not there.
struct CifSite {
  std::string label;
  std::string symbol;
  std::array<std::string, 3> at;  // fractional coordinates
  std::string occupancy;
};

struct CifBlock {
  struct Pair {
    std::string tag;    // as it is spelt
    std::string value;  // as it is spelt, with its quotes
  };

  struct Operation {
    std::string text;      // "-x, y+1/2, -z", without quotes
    std::string_view tag;  // under which it stands
    std::size_t row = 0;   // of the tag's loop, from 0
  };

  std::string name;
  std::vector<Pair> pairs;  // outside of loops, in the order of the block
  std::vector<CifSite> sites;
  bool has_cartesian_sites = false;  // and no fractional ones
  std::vector<Operation> operations;

  // The value of a tag, in whichever case it is spelt, as the words of a site.
  std::string Find(std::string_view tag) const;
};

// `text` is one block. Refusal "bad_cif": it breaks a rule of the format; the message is Gemmi's, "line:3:1:
// ..", which counts lines from the first of the text.
absl::StatusOr<CifBlock> ReadCifBlock(const std::string& text);

// What a symmetry operation does to fractional coordinates: rows of a matrix, and what is added.
struct SymmetryOperation {
  std::array<std::array<double, 3>, 3> rotation = {};
  std::array<double, 3> translation = {};
};

// Operations of a space group by its Hermann-Mauguin name, whose setting the angles of the cell may decide, or
// by its number, in the setting of the International Tables; empty: there is none.
std::vector<SymmetryOperation> OperationsOfName(const std::string& name, double alpha, double gamma);
std::vector<SymmetryOperation> OperationsOfNumber(int number);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_BLOCK_H_
