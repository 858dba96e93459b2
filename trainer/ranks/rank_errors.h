// Errors that concern the ranks of a run, and what an error says of its causes.
#ifndef PACKTRAIN_TRAINER_RANKS_RANK_ERRORS_H_
#define PACKTRAIN_TRAINER_RANKS_RANK_ERRORS_H_

#include <cstdint>
#include <exception>
#include <string>

#include "absl/status/status.h"

namespace packtrain::trainer {

// ABORTED: "rank 1 is gone or does not answer".
absl::Status RankIsGone(std::uint32_t rank);

// CANCELLED: what a rank ends with because of another one.
absl::Status AnotherRankCannotGoOn();

// The first line of what the exception says; a stack trace follows it where Torch throws.
std::string FirstLine(const std::exception& error);

// `status` with the message of `reason` after its own.
absl::Status WithReason(const absl::Status& status, const absl::Status& reason);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_RANK_ERRORS_H_
