// What a failure says of its causes.
#ifndef PACKTRAIN_TRAINER_ENGINE_STATUS_WORDS_H_
#define PACKTRAIN_TRAINER_ENGINE_STATUS_WORDS_H_

#include <exception>
#include <string>

#include "absl/status/status.h"

namespace packtrain::trainer {

// The first line of what the exception says; Torch's go on with a stack.
std::string FirstLine(const std::exception& error);

// `status` with the message of `reason` behind its own.
absl::Status WithReason(const absl::Status& status, const absl::Status& reason);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_STATUS_WORDS_H_
