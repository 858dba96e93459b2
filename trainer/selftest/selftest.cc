#include "trainer/selftest/selftest.h"

#include <exception>

#include "absl/strings/str_cat.h"
#include "trainer/ranks/rank_errors.h"

namespace packtrain::trainer {
namespace {

absl::Status Guarded(absl::FunctionRef<absl::Status()> body) {
  try {
    return body();
  } catch (const std::exception& error) {
    return absl::InternalError(FirstLine(error));
  } catch (...) {
    return absl::InternalError("an exception that is no std::exception");
  }
}

}  // namespace

void Selftest::Try(std::string_view name, absl::FunctionRef<absl::Status()> body) {
  ++tests_;
  const absl::Status status = Guarded(body);
  if (status.ok()) {
    progress_(absl::StrCat("passed: ", std::string(name)));
    return;
  }
  failures_.push_back({std::string(name), std::string(status.message())});
  progress_(absl::StrCat("FAILED: ", failures_.back().name, ": ", failures_.back().message));
}

void Selftest::Skip(std::string_view name, std::string_view reason) {
  skipped_.push_back({std::string(name), std::string(reason)});
  progress_(absl::StrCat("skipped: ", skipped_.back().name, ": ", skipped_.back().reason));
}

nlohmann::ordered_json Selftest::ToJson() const {
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  for (const Failure& failure : failures_) {
    failures.push_back({{"name", failure.name}, {"message", failure.message}});
  }
  nlohmann::ordered_json skipped = nlohmann::ordered_json::array();
  for (const Skipped& skip : skipped_) skipped.push_back({{"name", skip.name}, {"reason", skip.reason}});
  return {{"tests", tests_}, {"failed", failures_.size()}, {"failures", failures}, {"skipped", skipped}};
}

}  // namespace packtrain::trainer
