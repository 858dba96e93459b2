#include "client/internal/report_kinds.h"

#include <optional>

#include "proto/wire/step_convert.h"

namespace packtrain::client {
namespace {

v1::Evaluation ToMessage(const Evaluation& evaluation) {
  v1::Evaluation message;
  message.set_step(evaluation.step);
  message.set_split(evaluation.split);
  message.set_graphs(evaluation.graphs);
  message.set_mae(evaluation.mae);
  message.set_rmse(evaluation.rmse);
  message.set_constant_mae(evaluation.constant_mae);
  message.set_constant_rmse(evaluation.constant_rmse);
  message.set_duration_ns(evaluation.duration_ns);
  if (evaluation.attempt.has_value()) message.set_attempt(*evaluation.attempt);
  if (evaluation.accuracy.has_value()) message.set_accuracy(*evaluation.accuracy);
  if (evaluation.constant_accuracy.has_value()) message.set_constant_accuracy(*evaluation.constant_accuracy);
  if (evaluation.filter_error.has_value()) message.set_filter_error(*evaluation.filter_error);
  return message;
}

v1::Sample ToMessage(const Sample& sample) {
  v1::Sample message;
  message.set_time_ns(sample.time_ns);
  if (sample.monotonic_ns >= 0) message.set_monotonic_ns(sample.monotonic_ns);
  if (sample.process_cpu_ns >= 0) message.set_process_cpu_ns(static_cast<std::uint64_t>(sample.process_cpu_ns));
  if (sample.rss_bytes >= 0) message.set_rss_bytes(static_cast<std::uint64_t>(sample.rss_bytes));
  if (sample.device_memory_bytes >= 0) {
    message.set_device_memory_bytes(static_cast<std::uint64_t>(sample.device_memory_bytes));
  }
  if (sample.device_use >= 0) message.set_device_use(sample.device_use);
  if (sample.device_energy_uj >= 0) {
    message.set_device_energy_uj(static_cast<std::uint64_t>(sample.device_energy_uj));
  }
  message.set_device_id(sample.device_id);
  if (sample.step >= 0) message.set_step(static_cast<std::uint64_t>(sample.step));
  return message;
}

v1::Event ToMessage(const Event& event) {
  v1::Event message;
  message.set_name(event.name);
  message.set_start_ns(event.start_ns);
  message.set_duration_ns(event.duration_ns);
  if (event.step >= 0) message.set_step(static_cast<std::uint64_t>(event.step));
  return message;
}

v1::CorruptGraphs ToMessage(const CorruptGraphs& batch) {
  v1::CorruptGraphs message;
  message.set_step(batch.step);
  message.set_epoch(batch.epoch);
  message.set_batch_index(batch.batch_index);
  message.set_split(batch.split);
  message.mutable_graphs()->Add(batch.graphs.begin(), batch.graphs.end());
  return message;
}

// Of records that are the sender's own; `add(request)` gives the message that a record goes to.
template <typename Request, typename Record, typename Add>
Request OwnRequest(const Sender& sender, const std::vector<Record>& block, Add add) {
  Request request;
  request.set_run(sender.run);
  request.set_rank(sender.rank);
  request.set_attempt(sender.attempt);
  for (const Record& record : block) *add(request) = ToMessage(record);
  return request;
}

}  // namespace

v1::ReportStepsRequest StepKind::ToRequest(const Sender& sender, const std::vector<AddressedStep>& block) {
  std::vector<wire::StepRecord> records;
  records.reserve(block.size());
  for (const AddressedStep& step : block) records.push_back(step.record);
  v1::ReportStepsRequest request;
  request.set_run(sender.run);
  request.set_rank(block.front().rank);
  request.set_attempt(block.front().attempt);
  *request.mutable_steps() = wire::ToStepBlock(records);
  return request;
}

std::vector<AddressedStep> StepKind::FromRequest(const v1::ReportStepsRequest& request) {
  std::vector<AddressedStep> block;
  const absl::StatusOr<std::vector<wire::StepRecord>> records = wire::FromStepBlock(request.steps());
  if (!records.ok()) return block;
  for (const wire::StepRecord& record : *records) block.push_back({request.rank(), request.attempt(), record});
  return block;
}

std::vector<Evaluation> EvaluationKind::FromRequest(const v1::ReportEvaluationRequest& request) {
  const v1::Evaluation& message = request.evaluation();
  return {{.step = message.step(),
           .split = message.split(),
           .graphs = message.graphs(),
           .mae = message.mae(),
           .rmse = message.rmse(),
           .constant_mae = message.constant_mae(),
           .constant_rmse = message.constant_rmse(),
           .duration_ns = message.duration_ns(),
           .attempt = message.has_attempt() ? std::optional(message.attempt()) : std::nullopt,
           .accuracy = message.has_accuracy() ? std::optional(message.accuracy()) : std::nullopt,
           .constant_accuracy =
               message.has_constant_accuracy() ? std::optional(message.constant_accuracy()) : std::nullopt,
           .filter_error = message.has_filter_error() ? std::optional(message.filter_error()) : std::nullopt}};
}

v1::ReportEvaluationRequest EvaluationKind::ToRequest(const Sender& sender,
                                                      const std::vector<Evaluation>& block) {
  v1::ReportEvaluationRequest request;
  request.set_run(sender.run);
  *request.mutable_evaluation() = ToMessage(block.front());
  return request;
}

v1::ReportSamplesRequest SampleKind::ToRequest(const Sender& sender, const std::vector<Sample>& block) {
  return OwnRequest<v1::ReportSamplesRequest>(sender, block,
                                              [](auto& request) { return request.add_samples(); });
}

v1::ReportEventsRequest EventKind::ToRequest(const Sender& sender, const std::vector<Event>& block) {
  return OwnRequest<v1::ReportEventsRequest>(sender, block, [](auto& request) { return request.add_events(); });
}

v1::ReportCorruptGraphsRequest CorruptGraphsKind::ToRequest(const Sender& sender,
                                                            const std::vector<CorruptGraphs>& block) {
  return OwnRequest<v1::ReportCorruptGraphsRequest>(sender, block,
                                                    [](auto& request) { return request.add_batches(); });
}

}  // namespace packtrain::client
