// Reads VASP's POSCAR and CONTCAR files, with or without a line of element symbols (VASP 5 and 4).
//
// A file holds one structure, or several one after the other. A structure is a comment, a scale (below 0: the
// volume of the cell; three numbers: one for each direction), three vectors, element symbols, their numbers of
// atoms, perhaps "Selective dynamics", "Direct" or "Cartesian", and a row for each atom; an element symbol at
// the end of a row must be that of the head. Where the head names no elements, the comment or the rows do. What
// CONTCAR has behind the atoms, velocities, is not stored.
// The format: https://www.vasp.at/wiki/index.php/POSCAR
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_POSCAR_READER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_POSCAR_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

// The fields of CrystalLayout. A structure's title is the first word of its comment. Reasons of refusals,
// besides those of LineReader::Next and ParsePoscarHead: empty_file, no_nodes, too_many_atoms, no_species,
// short_row, not_a_number, not_finite, contradiction (of symbols), extra_rows (more than the head counts),
// unknown_tail. Never fails.
absl::StatusOr<std::unique_ptr<GraphReader>> OpenPoscar(std::unique_ptr<ByteSource> file,
                                                        const ReadOptions& options);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_POSCAR_READER_H_
