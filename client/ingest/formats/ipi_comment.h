// The comment line that i-PI writes into xyz files:
//
//   # CELL(abcABC): 10 10 10 90 90 90 Step: 3 Bead: 0 positions{angstrom} cell{angstrom}
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_IPI_COMMENT_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_IPI_COMMENT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "client/ingest/formats/extxyz_comment.h"

namespace packtrain::ingest {

struct IpiHead {
  PeriodicCell cell;             // periodic in all directions
  double angstrom_of_pos = 1.0;  // what a coordinate's unit is in angstrom
  std::string_view rest;         // of the comment, behind the numbers of the cell
};

// Whether a comment is one of i-PI.
bool IsIpiComment(std::string_view comment);

// Refusals "not_positions" where the rows hold forces, velocities or the like; "bad_cell" for a cell in another
// form than three lengths and three angles, or that is none; "unknown_unit".
absl::StatusOr<IpiHead> ParseIpiComment(std::string_view comment);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_IPI_COMMENT_H_
