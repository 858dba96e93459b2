#include "server/runs/run_coverage.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_limits.h"
#include "server/runs/run_records.h"

namespace packtrain::runs {
namespace {

// Of the nodes of the maps, with what the allocator adds.
constexpr std::size_t kIntervalBytes = 64;
constexpr std::size_t kProcessBytes = 128 + sizeof(StepCoverage);
constexpr std::size_t kAttemptBytes = 96 + sizeof(analysis::OpenedAttempt);

analysis::RankAttempt ProcessOf(const Reporter& reporter) { return {reporter.rank, reporter.attempt}; }

// How many more intervals there are once steps that are not there, ascending, have been inserted.
std::int64_t AddedIntervals(const StepCoverage& stored, std::span<const wire::StepRecord> fresh) {
  const auto contains_after = [&stored](std::uint64_t step) {
    return step < std::numeric_limits<std::uint64_t>::max() && stored.Contains(step + 1);
  };
  std::int64_t added = 0;
  for (std::size_t k = 0; k < fresh.size(); ++k) {
    const std::uint64_t step = fresh[k].step;
    const bool joins_before =
        step > 0 && ((k > 0 && fresh[k - 1].step == step - 1) || stored.Contains(step - 1));
    added += joins_before ? 0 : 1;
    if (contains_after(step)) --added;
  }
  return added;
}

}  // namespace

RunCoverage::RunCoverage(const v1::Run& run, std::vector<analysis::OpenedAttempt> attempts)
    : attempts_(std::move(attempts)), counted_(run, attempts_) {}

absl::StatusOr<std::shared_ptr<RunCoverage>> RunCoverage::Load(const rocks::Database& database,
                                                               const v1::Run& run,
                                                               std::vector<analysis::OpenedAttempt> attempts) {
  auto loaded = std::make_shared<RunCoverage>(run, std::move(attempts));
  ABSL_RETURN_IF_ERROR(database.Scan(
      Family::kSteps, StepPrefix(run.run()), [&loaded](std::string_view key, std::string_view value) {
        ABSL_ASSIGN_OR_RETURN(const Reporter reporter, ReporterOfStepBlockKey(key));
        ABSL_ASSIGN_OR_RETURN(const std::vector<wire::StepRecord> steps, ParseSteps(value));
        loaded->Insert(reporter, steps);
        return absl::OkStatus();
      }));
  return loaded;
}

const StepCoverage& RunCoverage::Of(const Reporter& reporter) const {
  static const StepCoverage& none = *new StepCoverage();
  const auto found = by_process_.find(ProcessOf(reporter));
  return found == by_process_.end() ? none : found->second;
}

std::vector<wire::StepRecord> RunCoverage::NotYetStored(const Reporter& reporter,
                                                        const std::vector<wire::StepRecord>& steps) const {
  const StepCoverage& stored = Of(reporter);
  std::vector<wire::StepRecord> fresh;
  fresh.reserve(steps.size());
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(fresh),
               [&stored](const wire::StepRecord& record) { return !stored.Contains(record.step); });
  return fresh;
}

absl::Status RunCoverage::CheckGaps(const Reporter& reporter, std::span<const wire::StepRecord> fresh) const {
  const StepCoverage& stored = Of(reporter);
  // The first interval of a process leaves no gap.
  const std::int64_t added = AddedIntervals(stored, fresh) - (stored.count() == 0 ? 1 : 0);
  const auto gaps = static_cast<std::int64_t>(intervals_ - by_process_.size()) + added;
  if (added <= 0 || gaps <= kMaxGaps) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the report leaves ", gaps, " gaps between the stored steps of run ", reporter.run, ", at most ",
      kMaxGaps, " are taken: report the steps that are missing, or every step of another run"));
}

std::uint64_t RunCoverage::StepsWith(const Reporter& reporter, std::span<const wire::StepRecord> fresh) const {
  if (reporter.rank != 0) return counted_of_rank_0_.count();
  const std::uint64_t end = counted_.EndOf(ProcessOf(reporter));
  return counted_of_rank_0_.count() +
         static_cast<std::uint64_t>(std::count_if(fresh.begin(), fresh.end(), [&](const auto& record) {
           return record.step < end && !counted_of_rank_0_.Contains(record.step);
         }));
}

void RunCoverage::Insert(const Reporter& reporter, std::span<const wire::StepRecord> steps) {
  if (steps.empty()) return;
  StepCoverage& own = by_process_[ProcessOf(reporter)];
  intervals_ -= own.intervals();
  const std::uint64_t end = reporter.rank == 0 ? counted_.EndOf(ProcessOf(reporter)) : 0;
  for (const wire::StepRecord& record : steps) {
    own.Insert(record.step);
    if (record.step < end) counted_of_rank_0_.Insert(record.step);
  }
  intervals_ += own.intervals();
}

std::uint64_t RunCoverage::LastOf(const Reporter& reporter) const { return Of(reporter).last().value_or(0); }

StepCoverage RunCoverage::CountedAs(const analysis::CountedRecords& counted) const {
  StepCoverage of_rank_0;
  for (const auto& [process, steps] : by_process_) {
    if (process.rank > 0) break;
    of_rank_0.InsertBelow(counted.EndOf(process), steps);
  }
  return of_rank_0;
}

void RunCoverage::Recount(const v1::Run& run, std::vector<analysis::OpenedAttempt> attempts) {
  attempts_ = std::move(attempts);
  counted_ = analysis::CountedRecords(run, attempts_);
  counted_of_rank_0_ = CountedAs(counted_);
}

std::size_t RunCoverage::bytes() const {
  return sizeof(RunCoverage) + attempts_.size() * kAttemptBytes + by_process_.size() * kProcessBytes +
         (intervals_ + counted_of_rank_0_.intervals()) * kIntervalBytes;
}

}  // namespace packtrain::runs
