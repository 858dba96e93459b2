// Reads the files of QM9 as they were published (Ramakrishnan et al., Scientific Data 1, 140022, 2014), one
// molecule each, and files that hold several such records.
//
//   5                                 number of atoms
//   gdb 1 157.7118 ... 6.469          tag, index, 15 properties
//   C -0.0126 1.0858 0.008 -0.5356    element, position in angstrom, Mulliken charge; one for each atom
//   1341.307 1341.3284 ...            frequencies of vibration
//   C C                               SMILES of the molecule as enumerated, and as relaxed
//   InChI=1S/CH4/h1H4 InChI=...       InChI of both
//
// Exponents may stand behind "*^".
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_QM9_XYZ_READER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_QM9_XYZ_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/ingest/byte_source.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

// Node fields `z` (u8) and `pos` (f32 [3], angstrom). The labels are the 15 properties with their units, in
// this order: A, B, C, mu, alpha, homo, lumo, gap, r2, zpve, U0, U, H, G, Cv; the text of SMILES and InChI; and
// charges and frequencies, without a value. The title of a molecule is TAG_INDEX, as gdb_1. Molecules are
// parsed side by side.
//
// Never fails. Reasons of refusals, besides those of XyzCutter and AtomRows::Read: no_nodes, too_many_atoms,
// bad_properties, not_a_number and not_finite for a property, count_too_low, truncated_frame.
absl::StatusOr<std::unique_ptr<GraphReader>> OpenQm9Xyz(std::unique_ptr<ByteSource> file,
                                                        const ReadOptions& options);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_QM9_XYZ_READER_H_
