#include "server/analysis/counted_records.h"

#include <algorithm>
#include <utility>

namespace packtrain::analysis {

CountedRecords::CountedRecords(const v1::Run& run, std::span<const OpenedAttempt> attempts)
    : training_split_(run.description().spec().split()) {
  if (run.has_end_step()) end_of_run_ = run.end_step();
  if (run.has_followed_at_step()) end_of_run_ = std::min(end_of_run_, run.followed_at_step());
  for (const OpenedAttempt& attempt : attempts) {
    extents_[attempt.process] = {.first_step = attempt.first_step, .end = end_of_run_};
  }
  // From the last attempt of each rank to its first.
  const Extent* later = nullptr;
  std::uint32_t rank = 0;
  for (auto it = extents_.rbegin(); it != extents_.rend(); ++it) {
    if (later != nullptr && it->first.rank == rank) it->second.end = std::min(later->first_step, later->end);
    later = &it->second;
    rank = it->first.rank;
  }
}

std::uint64_t CountedRecords::EndOf(const RankAttempt& process) const {
  const auto found = extents_.find(process);
  return found == extents_.end() ? end_of_run_ : found->second.end;
}

bool CountedRecords::Counts(const RankAttempt& process, const wire::StepRecord& step) const {
  return step.step < EndOf(process);
}

template <typename Record>
bool CountedRecords::CountsBehindStep(const RankAttempt& process, const Record& record) const {
  if (record.has_step()) return record.step() < EndOf(process);
  const auto found = extents_.find(process);
  return found == extents_.end() || found->second.first_step < found->second.end;
}

bool CountedRecords::Counts(const RankAttempt& process, const v1::Sample& sample) const {
  return CountsBehindStep(process, sample);
}

bool CountedRecords::Counts(const RankAttempt& process, const v1::Event& event) const {
  return CountsBehindStep(process, event);
}

bool CountedRecords::Counts(const v1::Evaluation& evaluation) const {
  const std::uint64_t end = evaluation.has_attempt() ? EndOf({0, evaluation.attempt()}) : end_of_run_;
  return evaluation.step() <= end;
}

bool CountedRecords::Counts(const v1::CorruptGraphs& batch) const {
  const std::uint64_t end = batch.has_attempt() ? EndOf({batch.rank(), batch.attempt()}) : end_of_run_;
  const bool trained = training_split_.empty() ? batch.split() == "train" || batch.split() == "all"
                                               : batch.split() == training_split_;
  return trained ? batch.step() < end : batch.step() <= end;
}

std::vector<RankStep> CountedRecords::Keep(std::vector<RankStep> steps) const {
  std::erase_if(steps, [this](const RankStep& step) {
    return !Counts({step.rank, step.attempt}, step.record);
  });
  return KeepLastAttempts(std::move(steps));
}

std::vector<v1::Evaluation> CountedRecords::Keep(std::vector<v1::Evaluation> evaluations) const {
  std::vector<v1::Evaluation> kept;
  for (v1::Evaluation& evaluation : evaluations) {
    if (!Counts(evaluation)) continue;
    const bool replaces =
        !kept.empty() && kept.back().step() == evaluation.step() && kept.back().split() == evaluation.split();
    if (replaces) kept.pop_back();
    kept.push_back(std::move(evaluation));
  }
  return kept;
}

}  // namespace packtrain::analysis
