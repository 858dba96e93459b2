// Runs that are reported as a trainer reports them, and read back.
#ifndef PACKTRAIN_TESTS_SOAK_REPORTED_RUN_H_
#define PACKTRAIN_TESTS_SOAK_REPORTED_RUN_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/connection.h"

namespace packtrain::soak {

// Steps of each run.
inline constexpr std::uint64_t kRunSteps = 1'000;

// Reports a run of kRunSteps, in the middle of which the trainer dies and a second one takes over what was not
// acknowledged; its name, once the server has acknowledged all of it. `key` names the run among all. `pause` is
// called between steps.
absl::StatusOr<std::string> ReportRun(const std::shared_ptr<client::Connection>& connection,
                                      const std::string& key, absl::FunctionRef<void()> pause);

// DATA_LOSS unless the server has each step of the run once.
absl::Status CheckRun(const std::shared_ptr<client::Connection>& connection, const std::string& run);

}  // namespace packtrain::soak

#endif  // PACKTRAIN_TESTS_SOAK_REPORTED_RUN_H_
