// Reads extended xyz and plain xyz, any number of frames a file (xyz_frames.h).
//
// The comment of a frame may hold key=value pairs: `Lattice` and `pbc` make the cell, `Properties` says where a
// row has species and position (otherwise they are the first four columns; what follows them is skipped), `id`
// names the structure, and its first word, unless that is a pair, is its title. These keys count in any case
// but `id`. Rows VEC1 to VEC3 behind the atoms make a cell as well, and so does the comment of i-PI
// (ipi_comment.h).
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_READER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/ingest/byte_source.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

// Takes atomic numbers where elements should be.
inline constexpr FormatFlag kSpeciesAreNumbers = {
    .name = "--species-are-numbers",
    .value = "",
    .help = "Numbers where elements should be are atomic numbers"};

// Node fields `z` (u8) and `pos` (f32 [3], angstrom); graph fields `cell` (f32 [3, 3], angstrom) and `pbc` (u8
// [3]) of frames with a cell. The pairs of the comment are the labels; a comment that is one number is the
// label `energy`; columns of the rows that are not stored are labels without a value. Frames are parsed side by
// side.
//
// Never fails. Reasons of refusals, besides those of XyzCutter, AtomRows::Read and ParseIpiComment: no_nodes,
// too_many_atoms, bad_comment, bad_properties, bad_lattice, bad_pbc.
absl::StatusOr<std::unique_ptr<GraphReader>> OpenExtxyz(std::unique_ptr<ByteSource> file,
                                                        const ReadOptions& options);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_READER_H_
