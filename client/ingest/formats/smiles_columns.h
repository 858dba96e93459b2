// Which columns a table of SMILES has.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_SMILES_COLUMNS_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_SMILES_COLUMNS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace packtrain::ingest {

struct SmilesColumns {
  bool has_header = false;
  std::vector<std::string> names;  // column1, column2, ... where there is no header or it names none
  std::size_t smiles = 0;
  std::optional<std::size_t> id = std::nullopt;
};

// Columns asked for by --smiles and --id, by name, or by number from 1 in a table without a header; empty: not
// asked for.
struct AskedColumns {
  std::string_view smiles;
  std::string_view id;
};

// Made from the first row of a table. It is a header where it holds the name asked for, or a name such as
// "smiles" or "canonical_smiles"; otherwise it must hold a SMILES. Refusals: "no_column", "ambiguous_column"
// (several such names), "column_twice".
absl::StatusOr<SmilesColumns> FindColumns(const std::vector<std::string>& first_row, const AskedColumns& asked);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_SMILES_COLUMNS_H_
