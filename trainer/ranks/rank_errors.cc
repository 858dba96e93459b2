#include "trainer/ranks/rank_errors.h"

#include "absl/strings/str_cat.h"

namespace packtrain::trainer {

absl::Status RankIsGone(std::uint32_t rank) {
  return absl::AbortedError(absl::StrCat("rank ", rank, " is gone or does not answer"));
}

absl::Status AnotherRankCannotGoOn() { return absl::CancelledError("another rank cannot go on"); }

std::string FirstLine(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

absl::Status WithReason(const absl::Status& status, const absl::Status& reason) {
  return {status.code(), absl::StrCat(status.message(), "; ", reason.message())};
}

}  // namespace packtrain::trainer
