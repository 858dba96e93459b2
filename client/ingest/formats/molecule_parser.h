// From SMILES and molfiles to graphs, by RDKit.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_MOLECULE_PARSER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_MOLECULE_PARSER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "client/ingest/formats/molecule_layout.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

// The time that RDKit takes grows with the square of a molecule's rings: 3 s for rings of this length in all.
inline constexpr std::size_t kMaxSmilesBytes = 16 << 10;

// Whether `text` is a SMILES, be it chemically odd.
bool IsSmiles(std::string_view text);

// Both functions fill an empty graph of MoleculeLayout. A molecule whose atoms and bonds can be read, but that
// RDKit does not sanitise (a valence too high, aromatic rings without a Kekule structure), is read without, has
// `unsanitized` 1 and the remark "unsanitized". Refusals, without the place: "no_nodes", "too_many_atoms",
// "query_atom" (an atom that stands for one of several elements), "unreadable_molecule" (none of the above, but
// RDKit gives up), and those named below.

// `smiles` holds no blank; `extension` is a CXSMILES block, "|...|", or empty. "not_ascii", "smiles_too_long",
// "bad_smiles", "bad_cxsmiles" (a block that RDKit does not understand, or with another number of coordinates
// than atoms).
absl::Status ReadSmiles(std::string_view smiles, std::string_view extension, const MoleculeOptions& options,
                        SourceGraph* graph);

// A molfile, V2000 or V3000, up to "M  END". "bad_molfile"; then `line`, which is 0, becomes the line that is
// wrong, from 1, where RDKit says it or a bond or an element is wrong, and otherwise stays.
absl::Status ReadMolfile(const std::string& text, const MoleculeOptions& options, SourceGraph* graph,
                         std::size_t* line);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_MOLECULE_PARSER_H_
