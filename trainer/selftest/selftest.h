// Runs what is to be tried, and keeps count.
#ifndef PACKTRAIN_TRAINER_SELFTEST_SELFTEST_H_
#define PACKTRAIN_TRAINER_SELFTEST_SELFTEST_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace packtrain::trainer {

// Used by one thread.
class Selftest {
 public:
  // `progress` gets a line for each trial when it has ended.
  explicit Selftest(std::function<void(const std::string& line)> progress) : progress_(std::move(progress)) {}

  // Runs `body`; an error that it returns, or an exception, is a failure of `name`.
  void Try(std::string_view name, absl::FunctionRef<absl::Status()> body);

  // Notes that `name` cannot be tried here, and why. It counts neither as passed nor as a failure.
  void Skip(std::string_view name, std::string_view reason);

  bool passed() const { return failures_.empty(); }
  // Those that were tried.
  int tests() const { return tests_; }
  // {"tests":N, "failed":M, "failures":[{"name","message"}], "skipped":[{"name","reason"}]}
  nlohmann::ordered_json ToJson() const;

 private:
  struct Failure {
    std::string name;
    std::string message;
  };

  struct Skipped {
    std::string name;
    std::string reason;
  };

  const std::function<void(const std::string& line)> progress_;
  int tests_ = 0;
  std::vector<Failure> failures_;
  std::vector<Skipped> skipped_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_SELFTEST_H_
