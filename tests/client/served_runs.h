// A run on a scripted server, and what tests report to it.
#ifndef PACKTRAIN_TESTS_CLIENT_SERVED_RUNS_H_
#define PACKTRAIN_TESTS_CLIENT_SERVED_RUNS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "client/run_reporter.h"
#include "tests/client/scripted_services.h"

namespace packtrain::testing {

inline constexpr std::chrono::milliseconds kPatient{60'000};
inline constexpr std::chrono::milliseconds kNever{3'600'000};

inline client::RunDescription Description() {
  client::RunDescription description;
  description.model = "schnet";
  description.parameters = 84'768;
  description.dataset = "qm9@abc";
  description.spec.policy = wire::Policy::kDynamic;
  description.spec.graphs = 8;
  description.world_size = 2;
  description.device = "cpu";
  description.hardware_name = "test processor";
  description.labels = {{"sweep", "7"}};
  description.libraries = {{"libtorch", "2.11.0"}};
  description.planned_steps = 50;
  description.on_corrupt = client::OnCorrupt::kSkip;
  description.input = "synthetic";
  description.settings = {.threads = 8,
                          .read_ahead_bytes = 1'000,
                          .learning_rate_schedule = "constant",
                          .max_captures = 16,
                          .evaluate_every = 0,
                          .checkpoint_every = 500,
                          .other = {{"readout", "mean"}}};
  description.environment = {
      .server_builders = 4, .shares_host_with_server = false, .power_limit_watts = 650.5};
  return description;
}

// Sends full blocks and on Flush only, so that tests decide when.
inline client::ReporterOptions Options(std::size_t block_steps) {
  client::ReporterOptions options;
  options.idempotency_key = "twelve-chars";
  options.rank = 1;
  options.first_step = 3;
  options.block_steps = block_steps;
  options.flush_every = kNever;
  return options;
}

inline wire::StepRecord Step(std::uint64_t step) {
  wire::StepRecord record;
  record.step = step;
  record.total_ns = 1'000 + step;
  record.loss = 0.5;
  return record;
}

class Served {
 public:
  explicit Served(std::chrono::milliseconds give_up = kPatient) : server({&info, &runs}) {
    client::ConnectionOptions options = OptionsFor(server.address(), give_up);
    options.on_notice = [this](const std::string& line) { notices.push_back(line); };
    connection = client::Connection::Open(options).value();
  }
  ~Served() { runs.Release(); }

  std::unique_ptr<client::RunReporter> Start(const client::ReporterOptions& options) const {
    return client::RunReporter::Start(connection, Description(), options).value();
  }

  ScriptedInfo info;
  ScriptedRuns runs;
  InProcessServer server;
  std::vector<std::string> notices;  // to be read when no reporter is left
  std::shared_ptr<client::Connection> connection;
};

inline std::vector<std::uint64_t> Range(std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> steps(to - from);
  std::iota(steps.begin(), steps.end(), from);
  return steps;
}

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_SERVED_RUNS_H_
