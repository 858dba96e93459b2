#include "server/runs/run_loader.h"

#include <algorithm>
#include <set>
#include <utility>

#include "server/analysis/run_filter.h"

namespace packtrain::runs {
namespace {

analysis::RankAttempt ProcessOf(const Reporter& reporter) { return {reporter.rank, reporter.attempt}; }

absl::Status ReadSamples(const RunStore& store, std::string_view run, analysis::LoadedRun& loaded) {
  return store.ReadSamples(run, [&loaded](const Reporter& reporter, const v1::Sample& sample) {
    if (loaded.counted.Counts(ProcessOf(reporter), sample)) loaded.samples.Add(ProcessOf(reporter), sample);
    return absl::OkStatus();
  });
}

absl::Status ReadEvents(const RunStore& store, std::string_view run, analysis::LoadedRun& loaded) {
  return store.ReadEvents(run, [&loaded](const Reporter& reporter, const v1::Event& event) {
    if (loaded.counted.Counts(ProcessOf(reporter), event)) loaded.events.Add(event);
    return absl::OkStatus();
  });
}

absl::Status ReadCorruptGraphs(const RunStore& store, std::string_view run, analysis::LoadedRun& loaded) {
  return store.ReadCorruptGraphs(run, [&loaded](const v1::CorruptGraphs& batch) {
    if (loaded.counted.Counts(batch)) loaded.corrupt_graphs.Add(batch);
    return absl::OkStatus();
  });
}

absl::StatusOr<analysis::CountedRecords> CountedOf(const RunStore& store, const v1::Run& run) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<analysis::OpenedAttempt> attempts, store.ReadAttempts(run.run()));
  return analysis::CountedRecords(run, attempts);
}

// The steps, and those that a question takes out of them, or a sort's buffer; the evaluations, and an answer.
constexpr std::uint64_t kCopies = 2;

// Holds memory for what comes one by one, a good piece at a time. Used by one thread.
class GrowingHold {
 public:
  explicit GrowingHold(HoldMemory hold) : hold_(hold) {}

  // Before so many bytes more are kept.
  absl::Status Add(std::uint64_t bytes) {
    bytes_ += bytes;
    if (bytes_ <= held_) return absl::OkStatus();
    ABSL_RETURN_IF_ERROR(hold_(bytes_ + kPieceBytes));
    held_ = bytes_ + kPieceBytes;
    return absl::OkStatus();
  }

 private:
  static constexpr std::uint64_t kPieceBytes = 256 << 10;

  const HoldMemory hold_;
  std::uint64_t bytes_ = 0;
  std::uint64_t held_ = 0;
};

absl::Status ReadEvaluations(const RunStore& store, std::string_view run, analysis::LoadedRun& loaded,
                             HoldMemory hold) {
  GrowingHold growing(hold);
  std::vector<v1::Evaluation> evaluations;
  ABSL_RETURN_IF_ERROR(store.ReadEvaluations(run, [&](v1::Evaluation evaluation) {
    ABSL_RETURN_IF_ERROR(growing.Add(kCopies * evaluation.SpaceUsedLong()));
    evaluations.push_back(std::move(evaluation));
    return absl::OkStatus();
  }));
  loaded.evaluations = loaded.counted.Keep(std::move(evaluations));
  return absl::OkStatus();
}

// Runs that were selected, each of which memory is held for.
class SelectedRuns {
 public:
  explicit SelectedRuns(HoldMemory hold) : growing_(hold) {}

  absl::Status Add(v1::Run run) {
    // The vector may have room for as many again, and moves them there out of another one.
    ABSL_RETURN_IF_ERROR(growing_.Add(run.SpaceUsedLong() + 2 * sizeof(v1::Run)));
    runs_.push_back(std::move(run));
    return absl::OkStatus();
  }
  std::vector<v1::Run> Take() { return std::move(runs_); }

 private:
  GrowingHold growing_;
  std::vector<v1::Run> runs_;
};

absl::StatusOr<std::vector<v1::Run>> NamedRuns(const RunStore& store,
                                               const google::protobuf::RepeatedPtrField<std::string>& names,
                                               HoldMemory hold) {
  SelectedRuns runs(hold);
  std::set<std::string> seen;
  for (const std::string& name : names) {
    ABSL_ASSIGN_OR_RETURN(v1::Run run, store.Get(name));
    if (!seen.insert(run.run()).second) continue;
    ABSL_RETURN_IF_ERROR(runs.Add(std::move(run)));
  }
  return runs.Take();
}

absl::StatusOr<std::vector<v1::Run>> RunsWhere(const RunStore& store, std::string_view where, HoldMemory hold) {
  ABSL_ASSIGN_OR_RETURN(const analysis::RunFilter filter, analysis::RunFilter::Parse(where));
  SelectedRuns runs(hold);
  absl::Status held;
  ABSL_RETURN_IF_ERROR(store.ListAfter(kListBegin, [&](ListPosition, v1::Run run) {
    if (filter.Matches(run)) held = runs.Add(std::move(run));
    return held.ok();
  }));
  ABSL_RETURN_IF_ERROR(held);
  return runs.Take();
}

}  // namespace

absl::StatusOr<std::vector<analysis::RankStep>> LoadSteps(const RunStore& store, std::string_view run,
                                                          HoldMemory hold) {
  ABSL_ASSIGN_OR_RETURN(const v1::Run described, store.Get(run));
  std::vector<analysis::RankStep> steps;
  const auto make_room = [&steps, hold](std::uint64_t count) -> absl::Status {
    ABSL_RETURN_IF_ERROR(hold(kCopies * count * sizeof(analysis::RankStep)));
    steps.reserve(count);
    return absl::OkStatus();
  };
  // As many as there usually are, so that the memory seldom has to grow.
  ABSL_RETURN_IF_ERROR(make_room(described.steps() * std::max(1u, described.description().world_size())));
  ABSL_RETURN_IF_ERROR(
      store.ReadSteps(run, [&](const Reporter& reporter, const std::vector<wire::StepRecord>& records) {
        const std::size_t needed = steps.size() + records.size();
        if (needed > steps.capacity()) {
          ABSL_RETURN_IF_ERROR(make_room(std::max(needed, steps.capacity() + steps.capacity() / 2)));
        }
        for (const wire::StepRecord& record : records)
          steps.push_back({reporter.rank, reporter.attempt, record});
        return absl::OkStatus();
      }));
  analysis::SortSteps(steps);
  return steps;
}

absl::StatusOr<analysis::CountedRecords> LoadCounted(const RunStore& store, std::string_view run) {
  ABSL_ASSIGN_OR_RETURN(const v1::Run found, store.Get(run));
  return CountedOf(store, found);
}

absl::StatusOr<analysis::LoadedRun> LoadRun(const RunStore& store, const v1::Run& run,
                                            const analysis::RunParts& parts, HoldMemory hold) {
  const std::string& name = run.run();
  analysis::LoadedRun loaded;
  loaded.record = run;
  ABSL_ASSIGN_OR_RETURN(loaded.counted, CountedOf(store, run));
  std::uint64_t held = 0;
  if (parts.steps) {
    const auto hold_steps = [&](std::uint64_t bytes) {
      held = bytes;
      return hold(bytes);
    };
    ABSL_ASSIGN_OR_RETURN(std::vector<analysis::RankStep> steps, LoadSteps(store, name, hold_steps));
    loaded.SetSteps(std::move(steps));
  }
  if (parts.evaluations) {
    const auto hold_more = [&](std::uint64_t bytes) { return hold(held + bytes); };
    ABSL_RETURN_IF_ERROR(ReadEvaluations(store, name, loaded, hold_more));
  }
  if (parts.samples) {
    ABSL_RETURN_IF_ERROR(ReadSamples(store, name, loaded));
  }
  if (parts.events) {
    ABSL_RETURN_IF_ERROR(ReadEvents(store, name, loaded));
  }
  if (parts.corrupt_graphs) {
    ABSL_RETURN_IF_ERROR(ReadCorruptGraphs(store, name, loaded));
  }
  return loaded;
}

absl::StatusOr<analysis::LoadedRun> LoadRun(const RunStore& store, std::string_view run,
                                            const analysis::RunParts& parts, HoldMemory hold) {
  ABSL_ASSIGN_OR_RETURN(const v1::Run found, store.Get(run));
  return LoadRun(store, found, parts, hold);
}

absl::StatusOr<std::vector<v1::Run>> SelectRuns(const RunStore& store,
                                                const google::protobuf::RepeatedPtrField<std::string>& names,
                                                std::string_view where, HoldMemory hold) {
  if (!names.empty() && !where.empty()) {
    return absl::InvalidArgumentError("give either names of runs or a filter, not both");
  }
  return names.empty() ? RunsWhere(store, where, hold) : NamedRuns(store, names, hold);
}

}  // namespace packtrain::runs
