// The columns of step records: the one list of what is reported of a training step. Free of protobuf.
//
// For whatever takes all columns of a step, as a block on the wire, CSV, JSON and a checkpoint do, or all of
// its phases, as summaries and metrics do. A new column is a field of StepBlock in packtrain/v1/run.proto (and
// one of PhaseTimes, where it is a phase), a member and a row here, and the code that measures it.
//
//   ForEachStepColumn([&](const auto& column) { out << column.name << ": " << column.Of(record) << '\n'; });
//   for (const StepPhase& phase : kStepPhases) out << phase.name << ": " << phase.nanoseconds(record) << '\n';
#ifndef PACKTRAIN_PROTO_WIRE_STEP_COLUMNS_H_
#define PACKTRAIN_PROTO_WIRE_STEP_COLUMNS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "proto/wire/batch_layout.h"

namespace packtrain::wire {

// Bits of StepRecord::flags. Values equal packtrain.v1.StepFlag.
enum StepFlag : std::uint32_t {
  kWarmUp = 1,
  kCapture = 2,
  kFirstOfEpoch = 4,
  kShortBatch = 8,
  kCheckpoint = 16,
  kEvaluation = 32,
};

// Steps at the beginning of an attempt that are its warm-up.
inline constexpr std::uint64_t kWarmUpSteps = 10;

// Any of these takes a step out of the steady state.
inline constexpr std::uint32_t kNotSteady = kWarmUp | kCapture | kCheckpoint | kEvaluation;

// One training step as one rank reports it; what the members mean is said at StepBlock in
// packtrain/v1/run.proto. Times are nanoseconds; a phase that did not happen is 0.
struct StepRecord {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t batch_index = 0;
  Shape real;
  Shape padded;
  std::uint64_t wait_ns = 0;
  std::uint64_t copy_ns = 0;
  std::uint64_t forward_ns = 0;
  std::uint64_t backward_ns = 0;
  std::uint64_t optimizer_ns = 0;
  std::uint64_t comm_ns = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t server_build_ns = 0;
  std::uint64_t server_queue_ns = 0;
  std::uint64_t capture_ns = 0;
  std::uint32_t flags = 0;
  double loss = 0;
};

enum class StepUnit { kNone, kCount, kNanoseconds };

// Whose phase a column of times is.
enum class PhaseOf { kNobody, kTrainer, kServer };

// A column: a name, and the member of StepRecord at the end of `kPath`, such as &StepRecord::real,
// &Shape::nodes.
template <auto... kPath>
struct StepColumn {
  // The member of `record`, which may be const.
  template <typename Record>
  static constexpr auto& Of(Record& record) {
    return (record.*....*kPath);
  }
  using Value = std::remove_cvref_t<decltype(Of(std::declval<StepRecord&>()))>;

  // Whether `values` values of this column may stand in a block of `rows` rows.
  constexpr bool Takes(int values, int rows) const { return values == rows || (may_be_absent && values == 0); }

  std::string_view name;  // as in StepBlock, in CSV and in JSON
  StepUnit unit = StepUnit::kNone;
  PhaseOf phase_of = PhaseOf::kNobody;  // whose times are named "PHASE_ns"
  // Blocks that were written before there was this column have no values: all are 0.
  bool may_be_absent = false;
};

// In the order of StepBlock's fields, in which CSV lists columns and a checkpoint stores them.
inline constexpr std::tuple kStepColumns = {
    StepColumn<&StepRecord::step>{"step"},
    StepColumn<&StepRecord::epoch>{"epoch"},
    StepColumn<&StepRecord::batch_index>{"batch_index"},
    StepColumn<&StepRecord::real, &Shape::graphs>{"real_graphs", StepUnit::kCount},
    StepColumn<&StepRecord::real, &Shape::nodes>{"real_nodes", StepUnit::kCount},
    StepColumn<&StepRecord::real, &Shape::edges>{"real_edges", StepUnit::kCount},
    StepColumn<&StepRecord::padded, &Shape::graphs>{"padded_graphs", StepUnit::kCount},
    StepColumn<&StepRecord::padded, &Shape::nodes>{"padded_nodes", StepUnit::kCount},
    StepColumn<&StepRecord::padded, &Shape::edges>{"padded_edges", StepUnit::kCount},
    StepColumn<&StepRecord::wait_ns>{"wait_ns", StepUnit::kNanoseconds, PhaseOf::kTrainer},
    StepColumn<&StepRecord::copy_ns>{"copy_ns", StepUnit::kNanoseconds, PhaseOf::kTrainer},
    StepColumn<&StepRecord::forward_ns>{"forward_ns", StepUnit::kNanoseconds, PhaseOf::kTrainer},
    StepColumn<&StepRecord::backward_ns>{"backward_ns", StepUnit::kNanoseconds, PhaseOf::kTrainer},
    StepColumn<&StepRecord::optimizer_ns>{"optimizer_ns", StepUnit::kNanoseconds, PhaseOf::kTrainer},
    StepColumn<&StepRecord::comm_ns>{"comm_ns", StepUnit::kNanoseconds, PhaseOf::kTrainer},
    StepColumn<&StepRecord::total_ns>{"total_ns", StepUnit::kNanoseconds, PhaseOf::kTrainer},
    StepColumn<&StepRecord::server_build_ns>{"server_build_ns", StepUnit::kNanoseconds, PhaseOf::kServer},
    StepColumn<&StepRecord::server_queue_ns>{"server_queue_ns", StepUnit::kNanoseconds, PhaseOf::kServer},
    StepColumn<&StepRecord::capture_ns>{"capture_ns", StepUnit::kNanoseconds},
    StepColumn<&StepRecord::flags>{"flags"},
    StepColumn<&StepRecord::loss>{"loss"},
};
inline constexpr std::size_t kStepColumnCount = std::tuple_size_v<decltype(kStepColumns)>;

// Calls `visit` with each column, in order.
template <typename Visit>
constexpr void ForEachStepColumn(Visit visit) {
  std::apply([&visit](const auto&... columns) { (visit(columns), ...); }, kStepColumns);
}

// A column of times that is a phase.
struct StepPhase {
  std::string_view name;  // such as "wait": that of PhaseTimes in packtrain/v1/run.proto
  PhaseOf phase_of = PhaseOf::kNobody;
  std::uint64_t (*nanoseconds)(const StepRecord& record) = nullptr;
};

template <std::size_t kCount>
consteval std::array<StepPhase, kCount> ListStepPhases(auto selects) {
  std::array<StepPhase, kCount> phases;
  std::size_t count = 0;
  ForEachStepColumn([&](const auto& column) {
    using Column = std::remove_cvref_t<decltype(column)>;
    if constexpr (std::is_same_v<typename Column::Value, std::uint64_t>) {
      if (!selects(column.phase_of)) return;
      constexpr std::string_view kUnit = "_ns";
      phases[count++] = {column.name.substr(0, column.name.size() - kUnit.size()), column.phase_of,
                         [](const StepRecord& record) { return Column::Of(record); }};
    }
  });
  return phases;
}

// How many columns are a phase of anybody that `selects` takes.
consteval std::size_t CountStepPhases(auto selects) {
  std::size_t count = 0;
  ForEachStepColumn([&](const auto& column) { count += selects(column.phase_of) ? 1 : 0; });
  return count;
}

// All phases, in order, and those of the trainer alone.
inline constexpr auto kIsPhase = [](PhaseOf of) { return of != PhaseOf::kNobody; };
inline constexpr auto kIsTrainerPhase = [](PhaseOf of) { return of == PhaseOf::kTrainer; };
inline constexpr auto kStepPhases = ListStepPhases<CountStepPhases(kIsPhase)>(kIsPhase);
inline constexpr auto kTrainerPhases = ListStepPhases<CountStepPhases(kIsTrainerPhase)>(kIsTrainerPhase);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_STEP_COLUMNS_H_
