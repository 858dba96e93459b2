// From the atoms that a CIF file lists to all atoms of the cell.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_SYMMETRY_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_SYMMETRY_H_

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/formats/cif_block.h"
#include "client/ingest/formats/cif_lines.h"
#include "client/ingest/formats/crystal_layout.h"

namespace packtrain::ingest {

// Operations that a block may list: eight times those of the largest space group.
inline constexpr std::size_t kMaxOperations = 1536;
// Images of a site that are closer than this, in angstrom, are one atom, whose place was rounded.
inline constexpr double kSameAtom = 0.4;

// "-x, y+1/2, -z": three sums of x, y, z and numbers, which may be fractions or decimals. Refusal
// "bad_symmetry".
absl::StatusOr<SymmetryOperation> ParseOperation(std::string_view text);

// The operations that a block lists, or else names, or else numbers. Refusals: "no_symmetry" (none of the
// three; the atoms may then be a part of the cell only), "bad_symmetry" (an operation cannot be read, or the
// name is unknown and no number stands beside it); `wrong` becomes the place of what is refused.
absl::StatusOr<std::vector<SymmetryOperation>> OperationsOfBlock(const CifBlock& block, double alpha,
                                                                 double gamma, CifPlace* wrong);

// Fractional coordinates of the different images of a site, in the order of the operations, as they come out
// (outside of the cell, too). `vectors` are those of the cell, in angstrom.
std::vector<Vector> ImagesOf(const Vector& site, std::span<const SymmetryOperation> operations,
                             const std::array<Vector, 3>& vectors);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_SYMMETRY_H_
