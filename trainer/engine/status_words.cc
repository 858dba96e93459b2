#include "trainer/engine/status_words.h"

#include "absl/strings/str_cat.h"

namespace packtrain::trainer {

std::string FirstLine(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

absl::Status WithReason(const absl::Status& status, const absl::Status& reason) {
  return {status.code(), absl::StrCat(status.message(), "; ", reason.message())};
}

}  // namespace packtrain::trainer
