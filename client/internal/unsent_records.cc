#include "client/internal/unsent_records.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace packtrain::client {

template <typename Record>
UnsentCollector::Part<Record> UnsentCollector::InMemory(const Outboxes& outboxes, std::size_t most) {
  const Outbox<Record>& outbox = outboxes.Of<Record>();
  const std::deque<Record>& records = outbox.in_memory();
  const auto waiting = records.begin() + static_cast<std::ptrdiff_t>(outbox.in_flight());
  const std::size_t there = outbox.outstanding();
  return {.skip = there > most ? there - most : 0,
          .spilled_end = outbox.spilled_end(),
          .in_flight = {records.begin(), waiting},
          .waiting = {waiting, records.end()}};
}

UnsentCollector::UnsentCollector(const Outboxes& outboxes, std::size_t most)
    : steps_(InMemory<AddressedStep>(outboxes, most)), evaluations_(InMemory<Evaluation>(outboxes, most)) {}

// Each element of the steps is of one rank and attempt, and ascends.
void UnsentCollector::Take(const AddressedStep& step) {
  std::vector<AttemptSteps>& all = unsent_.steps;
  const bool fits = !all.empty() && all.back().rank == step.rank && all.back().attempt == step.attempt &&
                    all.back().steps.back().step < step.record.step;
  if (!fits) all.push_back({step.rank, step.attempt, {}});
  all.back().steps.push_back(step.record);
}

template <typename Record>
void UnsentCollector::TakeAll(const std::vector<Record>& records, Part<Record>& part) {
  const std::size_t skipped = std::min(part.skip, records.size());
  part.skip -= skipped;
  left_out_ += skipped;
  for (std::size_t i = skipped; i < records.size(); ++i) Take(records[i]);
}

template <typename Kind>
void UnsentCollector::TakeSpooled(const SpooledBlock& block, Part<typename Kind::Record>& part) {
  if (block.kind != IndexOf<Kind>() || block.end > part.spilled_end) return;
  decltype(Kind::ToRequest({}, {})) request;
  if (request.ParseFromString(block.request)) TakeAll(Kind::FromRequest(request), part);
}

UnsentRecords UnsentCollector::Finish(const RecordSpool& spool) {
  TakeAll(std::exchange(steps_.in_flight, {}), steps_);
  TakeAll(std::exchange(evaluations_.in_flight, {}), evaluations_);
  // The sender meets the damage as well, and counts what is lost by it.
  spool
      .ForEach([this](const SpooledBlock& block) {
        TakeSpooled<StepKind>(block, steps_);
        TakeSpooled<EvaluationKind>(block, evaluations_);
      })
      .IgnoreError();
  TakeAll(std::exchange(steps_.waiting, {}), steps_);
  TakeAll(std::exchange(evaluations_.waiting, {}), evaluations_);
  return std::move(unsent_);
}

}  // namespace packtrain::client
