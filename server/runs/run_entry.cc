#include "server/runs/run_entry.h"

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

analysis::RankAttempt ProcessOf(const Reporter& reporter) { return {reporter.rank, reporter.attempt}; }

}  // namespace

void CompleteRun(v1::Run& run) {
  const std::uint64_t planned = run.description().planned_steps();
  if (run.state() == v1::RUN_STATE_DONE && !run.has_end_step() && planned > 0) run.set_end_step(planned);
  if (run.has_end_step()) run.set_steps(std::min(run.steps(), run.end_step()));
}

void RunCoverage::Insert(const Reporter& reporter, std::span<const wire::StepRecord> steps,
                         const analysis::CountedRecords& counted) {
  StepCoverage& own = by_process[ProcessOf(reporter)];
  const std::uint64_t end = reporter.rank == 0 ? counted.EndOf(ProcessOf(reporter)) : 0;
  for (const wire::StepRecord& record : steps) {
    own.Insert(record.step);
    if (record.step < end) counted_of_rank_0.Insert(record.step);
  }
}

StepCoverage RunCoverage::CountedAs(const analysis::CountedRecords& counted) const {
  StepCoverage of_rank_0;
  for (const auto& [process, steps] : by_process) {
    if (process.rank > 0) break;
    of_rank_0.InsertBelow(counted.EndOf(process), steps);
  }
  return of_rank_0;
}

RunEntry::RunEntry(v1::Run initial, std::uint64_t its_place, RunDates its_dates)
    : name(initial.run()),
      place(its_place),
      dates(its_dates),
      run(std::move(initial)),
      heard_steady_ms(its_dates.steady_ms) {}

std::uint32_t RunEntry::AttemptsOf(std::uint32_t rank) const {
  const auto behind = attempts.upper_bound({rank, std::numeric_limits<std::uint32_t>::max()});
  if (behind == attempts.begin() || std::prev(behind)->first.rank != rank) return 0;
  return std::prev(behind)->first.attempt + 1;
}

std::optional<std::uint32_t> RunEntry::FindProcess(std::uint32_t rank, std::string_view process_key) const {
  if (process_key.empty()) return std::nullopt;
  for (auto it = attempts.lower_bound({rank, 0}); it != attempts.end() && it->first.rank == rank; ++it) {
    if (it->second.process_key == process_key) return it->first.attempt;
  }
  return std::nullopt;
}

void RunEntry::AddAttempt(const Reporter& reporter, std::uint64_t first_step, std::string process_key) {
  attempts[ProcessOf(reporter)] = {.first_step = first_step, .process_key = std::move(process_key)};
  run.set_attempts(std::max(run.attempts(), reporter.attempt + 1));
}

void RunEntry::SetLost(const analysis::RankAttempt& process, std::uint64_t records) {
  std::uint64_t& lost = attempts[process].lost_records;
  if (records <= lost) return;
  run.set_lost_records(run.lost_records() + (records - lost));
  lost = records;
}

absl::Status RunEntry::CheckTakesReports() const {
  if (!IsFinished(run)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("run ", name, " is finished and takes no more reports"));
}

absl::StatusOr<const RunEntry::Attempt*> RunEntry::FindReporter(const Reporter& reporter) const {
  ABSL_RETURN_IF_ERROR(ValidateRank(reporter.rank, run.description().world_size()));
  const auto found = attempts.find(ProcessOf(reporter));
  if (found != attempts.end()) return &found->second;
  return absl::FailedPreconditionError(absl::StrCat("rank ", reporter.rank, " of run ", name,
                                                    " has no attempt ", reporter.attempt,
                                                    ": StartRun opens attempts"));
}

std::vector<analysis::OpenedAttempt> RunEntry::AllAttempts() const {
  std::vector<analysis::OpenedAttempt> all;
  all.reserve(attempts.size());
  for (const auto& [process, attempt] : attempts) all.push_back({process, attempt.first_step});
  return all;
}

std::vector<analysis::OpenedAttempt> RunEntry::AttemptsOfRank0() const {
  std::vector<analysis::OpenedAttempt> of_rank_0;
  for (auto it = attempts.begin(); it != attempts.end() && it->first.rank == 0; ++it) {
    of_rank_0.push_back({it->first, it->second.first_step});
  }
  return of_rank_0;
}

absl::Status RunEntry::EnsureCoverage(const rocks::Database& database,
                                      const analysis::CountedRecords& counted) {
  if (coverage.has_value()) return absl::OkStatus();
  RunCoverage loaded;
  absl::Status status =
      database.Scan(Family::kSteps, StepPrefix(name), [&](std::string_view key, std::string_view value) {
        ABSL_ASSIGN_OR_RETURN(const Reporter reporter, ReporterOfStepBlockKey(key));
        const absl::StatusOr<std::vector<wire::StepRecord>> steps = ParseSteps(value);
        if (steps.ok()) loaded.Insert(reporter, *steps, counted);
        return steps.status();
      });
  if (status.ok()) coverage = std::move(loaded);
  return status;
}

std::vector<wire::StepRecord> RunEntry::NotYetStored(const Reporter& reporter,
                                                     const std::vector<wire::StepRecord>& steps) {
  const StepCoverage& own = coverage->by_process[ProcessOf(reporter)];
  std::vector<wire::StepRecord> fresh;
  fresh.reserve(steps.size());
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(fresh),
               [&own](const wire::StepRecord& record) { return !own.Contains(record.step); });
  return fresh;
}

std::uint64_t RunEntry::StepsWith(const Reporter& reporter, const std::vector<wire::StepRecord>& fresh,
                                  const analysis::CountedRecords& counted) const {
  const StepCoverage& stored = coverage->counted_of_rank_0;
  if (reporter.rank != 0) return stored.count();
  const std::uint64_t end = counted.EndOf(ProcessOf(reporter));
  return stored.count() +
         static_cast<std::uint64_t>(std::count_if(fresh.begin(), fresh.end(), [&](const auto& record) {
           return record.step < end && !stored.Contains(record.step);
         }));
}

}  // namespace packtrain::runs
