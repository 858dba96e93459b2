#include "client/run_reporter.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/internal/channel.h"
#include "client/internal/grpc_run_reporter.h"
#include "client/internal/unary_call.h"
#include "packtrain/v1/run.grpc.pb.h"
#include "proto/base/random_hex.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_spec_convert.h"

namespace packtrain::client {
namespace {

// Most rows of one ReportSteps.
constexpr std::size_t kMaxBlockSteps = 65'536;

v1::Hardware ToHardware(const RunDescription& description) {
  v1::Hardware hardware;
  hardware.set_device(description.device);
  hardware.set_name(description.hardware_name);
  hardware.set_count(description.device_count);
  hardware.set_cpu(description.cpu);
  hardware.set_host(description.host);
  hardware.set_driver(description.driver);
  return hardware;
}

v1::TrainerSettings ToMessage(const TrainerSettings& settings) {
  v1::TrainerSettings message;
  if (settings.threads) message.set_threads(*settings.threads);
  if (settings.read_ahead_bytes) message.set_read_ahead_bytes(*settings.read_ahead_bytes);
  if (settings.learning_rate_schedule) {
    message.set_learning_rate_schedule(*settings.learning_rate_schedule);
  }
  if (settings.max_captures) message.set_max_captures(*settings.max_captures);
  if (settings.evaluate_every) message.set_evaluate_every(*settings.evaluate_every);
  if (settings.checkpoint_every) message.set_checkpoint_every(*settings.checkpoint_every);
  message.mutable_other()->insert(settings.other.begin(), settings.other.end());
  return message;
}

v1::RunEnvironment ToMessage(const RunEnvironment& environment) {
  v1::RunEnvironment message;
  if (environment.server_builders) message.set_server_builders(*environment.server_builders);
  if (environment.shares_host_with_server) {
    message.set_shares_host_with_server(*environment.shares_host_with_server);
  }
  if (environment.power_limit_watts) message.set_power_limit_watts(*environment.power_limit_watts);
  return message;
}

absl::StatusOr<v1::RunDescription> ToMessage(const RunDescription& description) {
  v1::RunDescription message;
  ABSL_ASSIGN_OR_RETURN(*message.mutable_spec(), wire::ToMessage(description.spec));
  message.set_model(description.model);
  message.set_parameters(description.parameters);
  message.set_target(description.target);
  message.set_dataset(description.dataset);
  message.set_plan_fingerprint(description.plan_fingerprint);
  message.set_precision(description.precision);
  message.set_engine(description.engine);
  message.set_optimizer(description.optimizer);
  message.set_learning_rate(description.learning_rate);
  message.set_world_size(description.world_size);
  message.set_model_seed(description.model_seed);
  *message.mutable_hardware() = ToHardware(description);
  message.mutable_libraries()->insert(description.libraries.begin(), description.libraries.end());
  message.set_git_revision(description.git_revision);
  message.mutable_labels()->insert(description.labels.begin(), description.labels.end());
  message.set_timing_method(description.timing_method);
  message.set_planned_steps(description.planned_steps);
  message.set_on_corrupt(description.on_corrupt == OnCorrupt::kSkip ? v1::ON_CORRUPT_SKIP
                                                                    : v1::ON_CORRUPT_STOP);
  message.set_input(description.input);
  if (description.settings) *message.mutable_settings() = ToMessage(*description.settings);
  *message.mutable_environment() = ToMessage(description.environment);
  return message;
}

absl::Status CheckOptions(const ReporterOptions& options) {
  if (options.block_steps < 1 || options.block_steps > kMaxBlockSteps) {
    return absl::InvalidArgumentError(
        absl::StrCat("block_steps is ", options.block_steps, "; it must be 1 to ", kMaxBlockSteps));
  }
  if (options.spool_after_records < 1 || options.max_queued_records < options.spool_after_records) {
    return absl::InvalidArgumentError(absl::StrCat(
        "max_queued_records is ", options.max_queued_records, " and spool_after_records is ",
        options.spool_after_records, "; both must be at least 1, and the first no less than the second"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunReporter>> RunReporter::Start(std::shared_ptr<Connection> connection,
                                                                const RunDescription& description,
                                                                ReporterOptions options) {
  ABSL_RETURN_IF_ERROR(CheckOptions(options));
  ABSL_ASSIGN_OR_RETURN(v1::RunDescription message, ToMessage(description));
  v1::StartRunRequest request;
  *request.mutable_description() = std::move(message);
  request.set_idempotency_key(options.idempotency_key);
  request.set_rank(options.rank);
  request.set_first_step(options.first_step);
  request.set_join_only(options.join_only);
  request.set_process_key(base::RandomHex());
  request.set_follows(options.follows);
  auto stub = v1::RunService::NewStub(ChannelOf(*connection));
  ABSL_ASSIGN_OR_RETURN(
      const v1::StartRunResponse started,
      CallMethod(connection->options(), kLookUp, *stub, &v1::RunService::Stub::StartRun, request));
  Sender self{started.run(), options.rank, started.attempt()};
  return std::make_unique<GrpcRunReporter>(std::move(connection), std::move(stub), std::move(options),
                                           std::move(self));
}

}  // namespace packtrain::client
