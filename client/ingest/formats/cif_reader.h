// Reads crystals of CIF files: a structure for each data block, with all atoms of the cell.
//
// The atoms of a block are multiplied by its symmetry operations; where it lists none, by those of the space
// group that it names, or else numbers. A site that is not fully occupied is no atom, and the structure is
// refused. A block `data_global` without a cell and atoms, which journals put in front, is passed over.
// The format: https://www.iucr.org/resources/cif/spec/version1.1
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_READER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

// The fields of CrystalLayout, with the first vector along x and the second in the plane of x and y. Pairs
// outside of loops are labels, by their tags, without standard uncertainties; those of the dictionaries of the
// IUCr, which say what was measured and how, are descriptive, and lengths and angles of the cell structural. A
// structure's title is the name of its block. Reasons of refusals, besides those of LineReader::Next,
// ReadCifBlock and OperationsOfBlock: empty_file, not_cif, block_too_long, no_cell, bad_cell, no_nodes,
// no_coordinates, unknown_coordinate, not_a_number, partial_occupancy, unknown_symbol, too_many_atoms. Never
// fails.
absl::StatusOr<std::unique_ptr<GraphReader>> OpenCif(std::unique_ptr<ByteSource> file,
                                                     const ReadOptions& options);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_READER_H_
