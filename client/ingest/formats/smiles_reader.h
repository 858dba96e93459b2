// Reads files with a column of SMILES: CSV, tables with tabs, and lines of a SMILES and a name (.smi), with a
// header or without.
//
// `--smiles COLUMN` names the column; by default it is the one that is named smiles, or whose name holds this
// word, or the first where there is no header. The column of `--id COLUMN` has the ids, none of which is empty;
// all others are labels. Without a header the next column may name the graph too. Coordinates of CXSMILES
// become `pos`.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_SMILES_READER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_SMILES_READER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

// The fields of molecule_layout.h. Hydrogens that the valence implies are left out by default, as OGB does.
// Reasons of refusals, besides those of CsvReader::Next and ReadSmiles: empty_file, no_column,
// ambiguous_column, column_twice, short_row, long_row, no_id.
absl::StatusOr<std::unique_ptr<GraphReader>> OpenSmiles(std::unique_ptr<ByteSource> file,
                                                        const ReadOptions& options);

// --smiles, and those of molecule_layout.h.
std::vector<FormatFlag> SmilesFlags();

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_SMILES_READER_H_
