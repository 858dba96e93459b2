#include "server/runs/run_entry.h"

#include <algorithm>
#include <iterator>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_limits.h"
#include "server/runs/run_records.h"

namespace packtrain::runs {

void RunCoverage::Insert(const Reporter& reporter, std::span<const wire::StepRecord> steps) {
  StepCoverage& own = by_reporter[{reporter.rank, reporter.attempt}];
  for (const wire::StepRecord& record : steps) {
    own.Insert(record.step);
    if (reporter.rank == 0) of_rank_0.Insert(record.step);
  }
}

RunEntry::RunEntry(v1::Run initial) : name(initial.run()), run(std::move(initial)) {}

std::uint32_t RunEntry::AttemptsOf(std::uint32_t rank) const {
  const auto found = attempts_by_rank.find(rank);
  return found == attempts_by_rank.end() ? 0 : found->second;
}

const RunEntry::Attempt* RunEntry::FindProcess(std::uint32_t rank, std::string_view process_key) const {
  if (process_key.empty()) return nullptr;
  for (const Attempt& attempt : attempts) {
    if (attempt.rank == rank && attempt.process_key == process_key) return &attempt;
  }
  return nullptr;
}

void RunEntry::AddAttempt(const Reporter& reporter, std::string process_key) {
  attempts.push_back({reporter.rank, reporter.attempt, std::move(process_key)});
  std::uint32_t& count = attempts_by_rank[reporter.rank];
  count = std::max(count, reporter.attempt + 1);
  run.set_attempts(std::max(run.attempts(), count));
}

absl::Status RunEntry::CheckTakesReports() const {
  if (!IsFinished(run)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("run ", name, " is finished and takes no more reports"));
}

absl::Status RunEntry::CheckReporter(const Reporter& reporter) const {
  absl::Status status = ValidateRank(reporter.rank, run.description().world_size());
  if (!status.ok() || reporter.attempt < AttemptsOf(reporter.rank)) return status;
  return absl::FailedPreconditionError(absl::StrCat("rank ", reporter.rank, " of run ", name,
                                                    " has no attempt ", reporter.attempt,
                                                    ": StartRun opens attempts"));
}

absl::Status RunEntry::EnsureCoverage(const rocks::Database& database) {
  if (coverage.has_value()) return absl::OkStatus();
  RunCoverage loaded;
  absl::Status status =
      database.Scan(Family::kSteps, StepPrefix(name), [&](std::string_view key, std::string_view value) {
        ABSL_ASSIGN_OR_RETURN(const Reporter reporter, ReporterOfStepBlockKey(key));
        const absl::StatusOr<std::vector<wire::StepRecord>> steps = ParseSteps(value);
        if (steps.ok()) loaded.Insert(reporter, *steps);
        return steps.status();
      });
  if (status.ok()) coverage = std::move(loaded);
  return status;
}

std::vector<wire::StepRecord> RunEntry::NotYetStored(const Reporter& reporter,
                                                     const std::vector<wire::StepRecord>& steps) {
  const StepCoverage& own = coverage->by_reporter[{reporter.rank, reporter.attempt}];
  std::vector<wire::StepRecord> fresh;
  fresh.reserve(steps.size());
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(fresh),
               [&own](const wire::StepRecord& record) { return !own.Contains(record.step); });
  return fresh;
}

std::uint64_t RunEntry::StepsWith(const Reporter& reporter, const std::vector<wire::StepRecord>& fresh) const {
  if (reporter.rank != 0) return run.steps();
  const StepCoverage& stored = coverage->of_rank_0;
  return stored.count() +
         static_cast<std::uint64_t>(std::count_if(fresh.begin(), fresh.end(), [&stored](const auto& record) {
           return !stored.Contains(record.step);
         }));
}

}  // namespace packtrain::runs
