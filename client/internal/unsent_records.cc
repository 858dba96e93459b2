#include "client/internal/unsent_records.h"

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace packtrain::client {
namespace {

// Each element of `steps` is of one rank and attempt, and ascends.
void Append(const AddressedStep& step, std::vector<AttemptSteps>& steps) {
  const bool fits = !steps.empty() && steps.back().rank == step.rank && steps.back().attempt == step.attempt &&
                    steps.back().steps.back().step < step.record.step;
  if (!fits) steps.push_back({step.rank, step.attempt, {}});
  steps.back().steps.push_back(step.record);
}

// Adds what is left to send of the steps and evaluations in `block`.
void Append(const SpooledBlock& block, UnsentRecords& unsent) {
  if (block.kind == IndexOf<StepKind>()) {
    v1::ReportStepsRequest request;
    if (!request.ParseFromString(block.request)) return;
    for (const AddressedStep& step : StepKind::FromRequest(request)) Append(step, unsent.steps);
  } else if (block.kind == IndexOf<EvaluationKind>()) {
    v1::ReportEvaluationRequest request;
    if (!request.ParseFromString(block.request)) return;
    for (Evaluation& evaluation : EvaluationKind::FromRequest(request)) {
      unsent.evaluations.push_back(std::move(evaluation));
    }
  }
}

// The records [from, to) of an outbox.
template <typename Record, typename Take>
void ForEachOf(const Outbox<Record>& outbox, std::size_t from, std::size_t to, Take take) {
  const std::deque<Record>& records = outbox.in_memory();
  for (std::size_t i = from; i < to; ++i) take(records[i]);
}

}  // namespace

UnsentRecords CollectUnsent(const Outboxes& outboxes, const RecordSpool& spool) {
  UnsentRecords unsent;
  const auto add_step = [&unsent](const AddressedStep& step) { Append(step, unsent.steps); };
  const auto add_evaluation = [&unsent](const Evaluation& evaluation) {
    unsent.evaluations.push_back(evaluation);
  };
  const Outbox<AddressedStep>& steps = outboxes.Of<AddressedStep>();
  const Outbox<Evaluation>& evaluations = outboxes.Of<Evaluation>();
  ForEachOf(steps, 0, steps.in_flight(), add_step);
  ForEachOf(evaluations, 0, evaluations.in_flight(), add_evaluation);
  // The sender meets the damage as well, and counts what is lost by it.
  spool.ForEach([&unsent](const SpooledBlock& block) { Append(block, unsent); }).IgnoreError();
  ForEachOf(steps, steps.in_flight(), steps.in_memory().size(), add_step);
  ForEachOf(evaluations, evaluations.in_flight(), evaluations.in_memory().size(), add_evaluation);
  return unsent;
}

}  // namespace packtrain::client
