#include "tests/server/analysis/reported_run.h"

#include <utility>

namespace packtrain::analysis {

v1::RunDescription SampleDescription() {
  v1::RunDescription description;
  description.set_model("schnet");
  description.set_target("energy");
  description.set_dataset("qm9@1");
  description.mutable_spec()->set_policy(v1::POLICY_STATIC);
  description.mutable_spec()->set_pad(v1::PAD_MULTIPLE);
  description.mutable_spec()->set_graphs(32);
  description.set_precision("f32");
  description.set_engine("eager");
  description.set_world_size(1);
  description.mutable_hardware()->set_device("cpu");
  description.mutable_hardware()->set_name("Xeon");
  return description;
}

wire::StepRecord Step(std::uint64_t step, std::uint64_t total_ns, std::uint32_t flags) {
  wire::StepRecord record;
  record.step = step;
  record.batch_index = step;
  record.real = {32, 576, 10'000};
  record.padded = {33, 640, 10'048};
  record.total_ns = total_ns;
  record.flags = flags;
  return record;
}

std::vector<wire::StepRecord> Steps(std::uint64_t first, std::uint64_t last) {
  std::vector<wire::StepRecord> steps;
  for (std::uint64_t step = first; step <= last; ++step) steps.push_back(Step(step, 1'000'000));
  return steps;
}

ReportedRun::ReportedRun(std::string name, std::uint32_t world_size) {
  run_.record.set_run(std::move(name));
  run_.record.set_state(v1::RUN_STATE_DONE);
  *run_.record.mutable_description() = SampleDescription();
  run_.record.mutable_description()->set_world_size(world_size);
}

void ReportedRun::OpenAttempt(const RankAttempt& process, std::uint64_t first_step) {
  first_steps_[process] = first_step;
}

void ReportedRun::AddSteps(const RankAttempt& process, const std::vector<wire::StepRecord>& steps) {
  if (!steps.empty()) first_steps_.emplace(process, steps.front().step);
  for (const wire::StepRecord& step : steps) steps_.push_back({process.rank, process.attempt, step});
}

void ReportedRun::AddSamples(const RankAttempt& process, const std::vector<v1::Sample>& samples) {
  for (const v1::Sample& sample : samples) run_.samples.Add(process, sample);
}

void ReportedRun::AddEvents(const std::vector<v1::Event>& events) {
  for (const v1::Event& event : events) run_.events.Add(event);
}

void ReportedRun::AddCorruptGraphs(const std::vector<v1::CorruptGraphs>& batches) {
  for (const v1::CorruptGraphs& batch : batches) run_.corrupt_graphs.Add(batch);
}

void ReportedRun::AddEvaluation(v1::Evaluation evaluation) {
  run_.evaluations.push_back(std::move(evaluation));
}

LoadedRun ReportedRun::Load() const {
  LoadedRun loaded = run_;
  loaded.counted = Counted();
  loaded.SetSteps(steps_);
  loaded.evaluations = loaded.counted.Keep(std::move(loaded.evaluations));
  return loaded;
}

CountedRecords ReportedRun::Counted() const {
  std::vector<OpenedAttempt> attempts;
  for (const auto& [process, first_step] : first_steps_) attempts.push_back({process, first_step});
  return CountedRecords(run_.record, attempts);
}

std::vector<RankStep> ReportedRun::AllSteps() const {
  std::vector<RankStep> steps = steps_;
  SortSteps(steps);
  return steps;
}

}  // namespace packtrain::analysis
