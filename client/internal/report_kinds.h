// The kinds of records that a run reports, and how each is sent.
//
// RunReporter keeps an outbox of each kind of ReportKinds and sends what they hold in blocks, in their order. A
// new kind is its record in client/run_reporter.h, which ReportedRecord lists and a function adds, its rpc
// (server/runs/README.md), and a trait here, listed in ReportKinds:
//
//   struct EventKind {
//     using Record = Event;                                                    // what its outbox holds
//     static constexpr auto kMethod = &v1::RunService::Stub::ReportEvents;     // what takes a block
//     static std::size_t MaxRecords(const ReporterOptions&) { return 1'024; }  // of a block
//     static bool Alike(const Event&, const Event&) { return true; }           // two may stand in one block
//     static v1::ReportEventsRequest ToRequest(const Sender& sender, const std::vector<Event>& block);
//   };
//
// A kind whose unsent records go into a checkpoint also has FromRequest, as StepKind does, its place in
// UnsentRecords, and its lines in unsent_records.cc, which reads the blocks that are in the spool.
#ifndef PACKTRAIN_CLIENT_INTERNAL_REPORT_KINDS_H_
#define PACKTRAIN_CLIENT_INTERNAL_REPORT_KINDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "client/internal/outbox.h"
#include "client/run_reporter.h"
#include "packtrain/v1/run.grpc.pb.h"
#include "proto/wire/step_columns.h"

namespace packtrain::client {

// Under whom a process reports its own records.
struct Sender {
  std::string run;
  std::uint32_t rank = 0;
  std::uint32_t attempt = 0;
};

// A step and under whom it is reported: a process may also pass on the steps of others.
struct AddressedStep {
  std::uint32_t rank = 0;
  std::uint32_t attempt = 0;
  wire::StepRecord record;
};

struct StepKind {
  using Record = AddressedStep;
  static constexpr auto kMethod = &v1::RunService::Stub::ReportSteps;
  static std::size_t MaxRecords(const ReporterOptions& options) { return options.block_steps; }
  static bool Alike(const AddressedStep& a, const AddressedStep& b) {
    return a.rank == b.rank && a.attempt == b.attempt;
  }
  static v1::ReportStepsRequest ToRequest(const Sender& sender, const std::vector<AddressedStep>& block);
  // What ToRequest was given, of such a request.
  static std::vector<AddressedStep> FromRequest(const v1::ReportStepsRequest& request);
};

struct EvaluationKind {
  using Record = Evaluation;
  static constexpr auto kMethod = &v1::RunService::Stub::ReportEvaluation;
  static std::size_t MaxRecords(const ReporterOptions&) { return 1; }
  static bool Alike(const Evaluation&, const Evaluation&) { return true; }
  static v1::ReportEvaluationRequest ToRequest(const Sender& sender, const std::vector<Evaluation>& block);
  static std::vector<Evaluation> FromRequest(const v1::ReportEvaluationRequest& request);
};

struct SampleKind {
  using Record = Sample;
  static constexpr auto kMethod = &v1::RunService::Stub::ReportSamples;
  static std::size_t MaxRecords(const ReporterOptions&) { return 1'024; }
  static bool Alike(const Sample&, const Sample&) { return true; }
  static v1::ReportSamplesRequest ToRequest(const Sender& sender, const std::vector<Sample>& block);
};

struct EventKind {
  using Record = Event;
  static constexpr auto kMethod = &v1::RunService::Stub::ReportEvents;
  static std::size_t MaxRecords(const ReporterOptions&) { return 1'024; }
  static bool Alike(const Event&, const Event&) { return true; }
  static v1::ReportEventsRequest ToRequest(const Sender& sender, const std::vector<Event>& block);
};

struct CorruptGraphsKind {
  using Record = CorruptGraphs;
  static constexpr auto kMethod = &v1::RunService::Stub::ReportCorruptGraphs;
  // Each of them may list many graphs.
  static std::size_t MaxRecords(const ReporterOptions&) { return 64; }
  static bool Alike(const CorruptGraphs&, const CorruptGraphs&) { return true; }
  static v1::ReportCorruptGraphsRequest ToRequest(const Sender& sender,
                                                  const std::vector<CorruptGraphs>& block);
};

// In the order in which they are sent.
using ReportKinds = std::tuple<StepKind, EvaluationKind, SampleKind, EventKind, CorruptGraphsKind>;

// The place of a kind in ReportKinds.
template <typename Kind>
constexpr std::uint32_t IndexOf() {
  return []<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    return static_cast<std::uint32_t>(
        (... + (std::is_same_v<Kind, std::tuple_element_t<kIndex, ReportKinds>> ? kIndex : 0)));
  }
  (std::make_index_sequence<std::tuple_size_v<ReportKinds>>());
}

// Calls `visit(Kind())` with the kind of this place.
template <typename Visit>
void VisitKind(std::uint32_t index, Visit visit) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    ((kIndex == index ? visit(std::tuple_element_t<kIndex, ReportKinds>()) : void()), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<ReportKinds>>());
}

template <typename Kinds>
class OutboxesOf;

// An outbox of each kind, each of its own capacity. Not thread-safe.
template <typename... Kinds>
class OutboxesOf<std::tuple<Kinds...>> {
 public:
  // How many records of each kind were added.
  using Position = std::array<std::uint64_t, sizeof...(Kinds)>;

  explicit OutboxesOf(std::size_t capacity) : outboxes_(Outbox<typename Kinds::Record>(capacity)...) {}

  template <typename Record>
  Outbox<Record>& Of() {
    return std::get<Outbox<Record>>(outboxes_);
  }
  template <typename Record>
  const Outbox<Record>& Of() const {
    return std::get<Outbox<Record>>(outboxes_);
  }

  Position added() const { return {Of<typename Kinds::Record>().added()...}; }
  // Whether all that were there at `position` are settled or dropped.
  bool IsSettled(const Position& position) const {
    auto added = position.begin();
    return (... && (Of<typename Kinds::Record>().settled_up_to() >= *added++));
  }
  std::size_t outstanding() const { return (... + Of<typename Kinds::Record>().outstanding()); }
  bool has_next() const { return (... || Of<typename Kinds::Record>().has_next()); }
  // Whether so many records of some kind wait.
  bool HasWaiting(std::size_t records) const {
    return (... || (Of<typename Kinds::Record>().waiting() >= records));
  }
  std::uint64_t lost() const { return (... + Of<typename Kinds::Record>().lost()); }
  void LoseSpilled() { (Of<typename Kinds::Record>().LoseSpilled(), ...); }

 private:
  std::tuple<Outbox<typename Kinds::Record>...> outboxes_;
};
using Outboxes = OutboxesOf<ReportKinds>;

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_REPORT_KINDS_H_
