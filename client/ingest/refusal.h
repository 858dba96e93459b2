// Why something that was read is refused: a status that carries a word for counting.
#ifndef PACKTRAIN_CLIENT_INGEST_REFUSAL_H_
#define PACKTRAIN_CLIENT_INGEST_REFUSAL_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace packtrain::ingest {

// INVALID_ARGUMENT with `message` for people and `reason` (snake_case) for the ledger.
absl::Status Refusal(std::string_view reason, std::string_view message);

// Whether Refusal made it: what was read is bad, and reading may go on.
bool IsRefusal(const absl::Status& status);

// The refusal with another message.
absl::Status WithMessage(const absl::Status& refusal, std::string_view message);

// A refusal behind which its file is not read on; its message says so. Any other status as it is.
absl::Status LeavingRest(absl::Status status);
// Whether LeavingRest made it.
bool LeavesRest(const absl::Status& status);

// The word given to Refusal; "unreadable" for any other error.
std::string ReasonOf(const absl::Status& status);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_REFUSAL_H_
