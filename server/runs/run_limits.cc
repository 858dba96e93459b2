#include "server/runs/run_limits.h"

#include <google/protobuf/map.h>

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/enum_check.h"
#include "proto/base/status_macros.h"

namespace packtrain::runs {
namespace {

// Of a run in memory, beside its description and its message.
constexpr std::size_t kMaxOtherRunBytes = 1280;
// Also where a description of an older server takes all there is.
constexpr std::size_t kMinMessageRoom = 256;

absl::Status CheckText(std::string_view what, std::string_view text, std::size_t limit = kMaxTextBytes) {
  if (text.size() <= limit) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(what), " has ", text.size(), " bytes, at most ", limit, " are taken"));
}

absl::Status CheckNamed(std::string_view what, std::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError(absl::StrCat(std::string(what), " is empty"));
  return CheckText(what, text);
}

absl::Status CheckMap(std::string_view what, const google::protobuf::Map<std::string, std::string>& entries) {
  if (entries.size() > kMaxLabels) {
    return absl::InvalidArgumentError(
        absl::StrCat(entries.size(), " ", std::string(what), ", at most ", kMaxLabels, " are taken"));
  }
  for (const auto& [key, value] : entries) {
    ABSL_RETURN_IF_ERROR(CheckNamed(absl::StrCat("a key of ", std::string(what)), key));
    ABSL_RETURN_IF_ERROR(CheckText(absl::StrCat(std::string(what), " ", key), value));
  }
  return absl::OkStatus();
}

absl::Status CheckCount(std::string_view what, std::size_t count) {
  if (count == 0) return absl::InvalidArgumentError(absl::StrCat("the report holds no ", std::string(what)));
  if (count <= kMaxBlockRows) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the report holds ", count, " ", std::string(what),
                                                 ", at most ", kMaxBlockRows, " are taken at once"));
}

absl::Status CheckShare(std::string_view what, double share) {
  if (share >= 0 && share <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(std::string(what), " is ", share, ", not one of 0 to 1"));
}

absl::Status CheckTime(std::string_view what, std::int64_t time_ns) {
  if (time_ns >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(std::string(what), " is ", time_ns, ", before 1970"));
}

// A padded count of 0 is not known.
absl::Status CheckRoom(const wire::StepRecord& step) {
  const std::tuple<std::string_view, std::uint32_t, std::uint32_t> counts[] = {
      {"graphs", step.real.graphs, step.padded.graphs},
      {"nodes", step.real.nodes, step.padded.nodes},
      {"edges", step.real.edges, step.padded.edges}};
  for (const auto& [what, real, padded] : counts) {
    if (padded == 0 || real <= padded) continue;
    return absl::InvalidArgumentError(absl::StrCat("step ", step.step, " holds ", real, " real ",
                                                   std::string(what), " in ", padded, " padded ones"));
  }
  return absl::OkStatus();
}

// Each run's description is held in memory for as long as the run is stored.
absl::Status CheckMemory(const v1::RunDescription& description) {
  const auto bytes = static_cast<std::size_t>(description.SpaceUsedLong());
  if (bytes <= kMaxDescriptionBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the run's description takes ", bytes,
                                                 " bytes of memory, at most ", kMaxDescriptionBytes,
                                                 " are taken: give it fewer or shorter labels and libraries"));
}

absl::Status ValidateDescription(const v1::RunDescription& description) {
  ABSL_RETURN_IF_ERROR(base::CheckEnums("description", description));
  const v1::Hardware& hardware = description.hardware();
  const std::pair<std::string_view, std::string_view> texts[] = {
      {"model", description.model()},
      {"target", description.target()},
      {"dataset", description.dataset()},
      {"spec.split", description.spec().split()},
      {"plan_fingerprint", description.plan_fingerprint()},
      {"precision", description.precision()},
      {"engine", description.engine()},
      {"optimizer", description.optimizer()},
      {"git_revision", description.git_revision()},
      {"timing_method", description.timing_method()},
      {"input", description.input()},
      {"settings.learning_rate_schedule", description.settings().learning_rate_schedule()},
      {"hardware.device", hardware.device()},
      {"hardware.name", hardware.name()},
      {"hardware.cpu", hardware.cpu()},
      {"hardware.host", hardware.host()},
      {"hardware.driver", hardware.driver()},
  };
  for (const auto& [what, text] : texts) {
    ABSL_RETURN_IF_ERROR(CheckText(what, text));
  }
  ABSL_RETURN_IF_ERROR(CheckMap("libraries", description.libraries()));
  ABSL_RETURN_IF_ERROR(CheckMap("settings.other", description.settings().other()));
  ABSL_RETURN_IF_ERROR(CheckMap("labels", description.labels()));
  return CheckMemory(description);
}

}  // namespace

absl::Status ValidateStart(const v1::StartRunRequest& request) {
  if (request.idempotency_key().size() < kMinKeyBytes) {
    return absl::InvalidArgumentError(absl::StrCat("idempotency_key has ", request.idempotency_key().size(),
                                                   " bytes, at least ", kMinKeyBytes, " are needed"));
  }
  ABSL_RETURN_IF_ERROR(CheckText("idempotency_key", request.idempotency_key()));
  ABSL_RETURN_IF_ERROR(CheckText("process_key", request.process_key()));
  ABSL_RETURN_IF_ERROR(CheckText("follows", request.follows()));
  const std::uint32_t world_size = std::max(1u, request.description().world_size());
  if (world_size > kMaxWorldSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("world_size is ", world_size, ", at most ", kMaxWorldSize, " ranks are taken"));
  }
  ABSL_RETURN_IF_ERROR(ValidateRank(request.rank(), world_size));
  return ValidateDescription(request.description());
}

absl::Status ValidateRank(std::uint32_t rank, std::uint32_t world_size) {
  if (rank < world_size) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("rank ", rank, " is outside the run's world of ", world_size, " ranks"));
}

absl::Status ValidateFirstStep(const std::vector<wire::StepRecord>& steps, std::uint64_t first_step) {
  if (steps.empty() || steps.front().step >= first_step) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("step ", steps.front().step, " lies before step ", first_step,
                   ", the first_step with which StartRun opened this attempt: steps of an earlier attempt are "
                   "reported under that one"));
}

absl::Status ValidateSteps(const std::vector<wire::StepRecord>& steps) {
  ABSL_RETURN_IF_ERROR(CheckCount("step records", steps.size()));
  for (const wire::StepRecord& step : steps) {
    ABSL_RETURN_IF_ERROR(CheckRoom(step));
  }
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i - 1].step < steps[i].step) continue;
    return absl::InvalidArgumentError(absl::StrCat("steps do not ascend: step ", steps[i].step, " in row ", i,
                                                   " follows step ", steps[i - 1].step));
  }
  return absl::OkStatus();
}

absl::Status ValidateEvaluation(const v1::Evaluation& evaluation) {
  ABSL_RETURN_IF_ERROR(CheckNamed("split", evaluation.split()));
  if (evaluation.has_accuracy()) {
    ABSL_RETURN_IF_ERROR(CheckShare("accuracy", evaluation.accuracy()));
  }
  if (evaluation.has_constant_accuracy()) {
    ABSL_RETURN_IF_ERROR(CheckShare("constant_accuracy", evaluation.constant_accuracy()));
  }
  if (!evaluation.has_filter_error() || evaluation.filter_error() >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("filter_error is ", evaluation.filter_error(), ", not a number from 0 on"));
}

absl::Status ValidateSamples(const std::vector<v1::Sample>& samples) {
  ABSL_RETURN_IF_ERROR(CheckCount("samples", samples.size()));
  for (const v1::Sample& sample : samples) {
    ABSL_RETURN_IF_ERROR(CheckTime("time_ns", sample.time_ns()));
    ABSL_RETURN_IF_ERROR(CheckText("device_id", sample.device_id()));
  }
  return absl::OkStatus();
}

absl::Status ValidateEvents(const std::vector<v1::Event>& events) {
  ABSL_RETURN_IF_ERROR(CheckCount("events", events.size()));
  for (const v1::Event& event : events) {
    ABSL_RETURN_IF_ERROR(CheckNamed("an event's name", event.name()));
    ABSL_RETURN_IF_ERROR(CheckTime("start_ns", event.start_ns()));
  }
  return absl::OkStatus();
}

absl::Status ValidateCorruptGraphs(const std::vector<v1::CorruptGraphs>& batches) {
  ABSL_RETURN_IF_ERROR(CheckCount("batches", batches.size()));
  std::size_t in_all = 0;
  for (const v1::CorruptGraphs& batch : batches) {
    ABSL_RETURN_IF_ERROR(CheckNamed("split", batch.split()));
    const auto& graphs = batch.graphs();
    in_all += static_cast<std::size_t>(graphs.size());
    if (in_all > kMaxCorruptGraphs) {
      return absl::InvalidArgumentError(
          absl::StrCat("a report lists at most ", kMaxCorruptGraphs, " corrupt graphs"));
    }
    if (graphs.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("batch ", batch.batch_index(), " of epoch ", batch.epoch(), " lacks no graph"));
    }
    const auto fall = std::adjacent_find(graphs.begin(), graphs.end(), std::greater_equal<>());
    if (fall == graphs.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat("graphs do not ascend: graph ", *(fall + 1),
                                                   " follows graph ", *fall, " in batch ", batch.batch_index(),
                                                   " of epoch ", batch.epoch()));
  }
  return absl::OkStatus();
}

absl::Status CheckAttempts(std::string_view run, std::uint32_t rank, std::uint32_t opened) {
  if (opened < kMaxAttempts) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("rank ", rank, " of run ", std::string(run), " has opened ", opened, " attempts, at most ",
                   kMaxAttempts, " are taken: begin another run, with another idempotency_key"));
}

std::string CutMessage(std::string_view message, const v1::RunDescription& description) {
  constexpr std::string_view kCut = "...";
  const auto taken = static_cast<std::size_t>(description.SpaceUsedLong()) + kMaxOtherRunBytes;
  const std::size_t room = std::max(kMinMessageRoom, kMaxRunBytes - std::min(taken, kMaxRunBytes));
  if (message.size() <= room) return std::string(message);
  std::size_t size = room - kCut.size();
  while (size > 0 && (static_cast<unsigned char>(message[size]) & 0xC0) == 0x80) --size;  // within a character
  return std::string(message.substr(0, size)).append(kCut);
}

absl::Status ValidateFinish(v1::RunState state, std::string_view message) {
  if (state != v1::RUN_STATE_DONE && state != v1::RUN_STATE_FAILED) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a run finishes as RUN_STATE_DONE or RUN_STATE_FAILED, not as ",
        v1::RunState_Name(state).empty() ? absl::StrCat(static_cast<int>(state)) : v1::RunState_Name(state)));
  }
  return CheckText("message", message, kMaxMessageBytes);
}

}  // namespace packtrain::runs
