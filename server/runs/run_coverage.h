// Which steps of a run are stored, and how many of them count, as it is in memory while reports come.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_COVERAGE_H_
#define PACKTRAIN_SERVER_RUNS_RUN_COVERAGE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"
#include "proto/wire/step_columns.h"
#include "server/analysis/counted_records.h"
#include "server/runs/run_database.h"
#include "server/runs/run_store.h"
#include "server/runs/step_coverage.h"

namespace packtrain::runs {

// For one thread at a time: that which holds the run's `reports`. Memory grows with the gaps between stored
// steps, of which there are at most kMaxGaps (run_limits.h), and with the attempts that have reported steps.
class RunCoverage {
 public:
  // Reads what is stored. `attempts` are those of rank 0.
  static absl::StatusOr<std::shared_ptr<RunCoverage>> Load(const rocks::Database& database, const v1::Run& run,
                                                           std::vector<analysis::OpenedAttempt> attempts);
  // Of a run without steps.
  RunCoverage(const v1::Run& run, std::vector<analysis::OpenedAttempt> attempts);

  // Those of a block that are not stored.
  std::vector<wire::StepRecord> NotYetStored(const Reporter& reporter,
                                             const std::vector<wire::StepRecord>& steps) const;
  // FAILED_PRECONDITION: `fresh`, which are not stored, would make more gaps than kMaxGaps.
  absl::Status CheckGaps(const Reporter& reporter, std::span<const wire::StepRecord> fresh) const;
  // What Run.steps becomes once `fresh` is stored.
  std::uint64_t StepsWith(const Reporter& reporter, std::span<const wire::StepRecord> fresh) const;
  void Insert(const Reporter& reporter, std::span<const wire::StepRecord> steps);
  // The largest step of a reporter of whom steps are stored.
  std::uint64_t LastOf(const Reporter& reporter) const;

  const std::vector<analysis::OpenedAttempt>& attempts() const { return attempts_; }
  // The steps of rank 0 that count where `counted` says which do.
  StepCoverage CountedAs(const analysis::CountedRecords& counted) const;
  // The run is now `run`, with these attempts of rank 0.
  void Recount(const v1::Run& run, std::vector<analysis::OpenedAttempt> attempts);

  // An estimate from above.
  std::size_t bytes() const;

 private:
  const StepCoverage& Of(const Reporter& reporter) const;

  std::vector<analysis::OpenedAttempt> attempts_;  // of rank 0
  analysis::CountedRecords counted_;
  std::map<analysis::RankAttempt, StepCoverage> by_process_;  // none is empty
  StepCoverage counted_of_rank_0_;
  std::size_t intervals_ = 0;  // of by_process_
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_COVERAGE_H_
