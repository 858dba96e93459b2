#include "proto/wire/step_convert.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::wire {
namespace {

using google::protobuf::RepeatedField;

template <typename T>
struct Column {
  const char* name;
  const RepeatedField<T>& (v1::StepBlock::*values)() const;
  RepeatedField<T>* (v1::StepBlock::*mutable_values)();
};
using Count = Column<std::uint32_t>;
using Number = Column<std::uint64_t>;
using Real = Column<double>;

// Calls visit(column of a block, member of a record) for each of the columns.
template <typename Visit>
void ForEachColumn(Visit visit) {
  using B = v1::StepBlock;
  visit(
      Number{"step", &B::step, &B::mutable_step}, [](auto& r) -> auto& { return r.step; });
  visit(
      Number{"epoch", &B::epoch, &B::mutable_epoch}, [](auto& r) -> auto& { return r.epoch; });
  visit(
      Number{"batch_index", &B::batch_index, &B::mutable_batch_index},
      [](auto& r) -> auto& { return r.batch_index; });
  visit(
      Count{"real_graphs", &B::real_graphs, &B::mutable_real_graphs},
      [](auto& r) -> auto& { return r.real.graphs; });
  visit(
      Count{"real_nodes", &B::real_nodes, &B::mutable_real_nodes},
      [](auto& r) -> auto& { return r.real.nodes; });
  visit(
      Count{"real_edges", &B::real_edges, &B::mutable_real_edges},
      [](auto& r) -> auto& { return r.real.edges; });
  visit(
      Count{"padded_graphs", &B::padded_graphs, &B::mutable_padded_graphs},
      [](auto& r) -> auto& { return r.padded.graphs; });
  visit(
      Count{"padded_nodes", &B::padded_nodes, &B::mutable_padded_nodes},
      [](auto& r) -> auto& { return r.padded.nodes; });
  visit(
      Count{"padded_edges", &B::padded_edges, &B::mutable_padded_edges},
      [](auto& r) -> auto& { return r.padded.edges; });
  visit(
      Number{"wait_ns", &B::wait_ns, &B::mutable_wait_ns}, [](auto& r) -> auto& { return r.wait_ns; });
  visit(
      Number{"copy_ns", &B::copy_ns, &B::mutable_copy_ns}, [](auto& r) -> auto& { return r.copy_ns; });
  visit(
      Number{"forward_ns", &B::forward_ns, &B::mutable_forward_ns},
      [](auto& r) -> auto& { return r.forward_ns; });
  visit(
      Number{"backward_ns", &B::backward_ns, &B::mutable_backward_ns},
      [](auto& r) -> auto& { return r.backward_ns; });
  visit(
      Number{"optimizer_ns", &B::optimizer_ns, &B::mutable_optimizer_ns},
      [](auto& r) -> auto& { return r.optimizer_ns; });
  visit(
      Number{"comm_ns", &B::comm_ns, &B::mutable_comm_ns}, [](auto& r) -> auto& { return r.comm_ns; });
  visit(
      Number{"total_ns", &B::total_ns, &B::mutable_total_ns}, [](auto& r) -> auto& { return r.total_ns; });
  visit(
      Number{"server_build_ns", &B::server_build_ns, &B::mutable_server_build_ns},
      [](auto& r) -> auto& { return r.server_build_ns; });
  visit(
      Number{"server_queue_ns", &B::server_queue_ns, &B::mutable_server_queue_ns},
      [](auto& r) -> auto& { return r.server_queue_ns; });
  visit(
      Number{"capture_ns", &B::capture_ns, &B::mutable_capture_ns},
      [](auto& r) -> auto& { return r.capture_ns; });
  visit(
      Count{"flags", &B::flags, &B::mutable_flags}, [](auto& r) -> auto& { return r.flags; });
  visit(
      Real{"loss", &B::loss, &B::mutable_loss}, [](auto& r) -> auto& { return r.loss; });
}

absl::Status CheckColumns(const v1::StepBlock& block) {
  absl::Status status;
  ForEachColumn([&](const auto& column, auto) {
    const int size = (block.*column.values)().size();
    if (!status.ok() || size == block.step_size()) return;
    status = absl::InvalidArgumentError(absl::StrCat("step block: column ", column.name, " has ", size,
                                                     " values, column step has ", block.step_size()));
  });
  return status;
}

absl::Status CheckStepsAscend(const v1::StepBlock& block) {
  for (int i = 1; i < block.step_size(); ++i) {
    if (block.step(i - 1) < block.step(i)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("step block: step ", block.step(i), " comes after step ", block.step(i - 1)));
  }
  return absl::OkStatus();
}

}  // namespace

v1::StepBlock ToStepBlock(std::span<const StepRecord> records) {
  v1::StepBlock block;
  ForEachColumn([&](const auto& column, auto member) {
    auto* values = (block.*column.mutable_values)();
    values->Reserve(static_cast<int>(records.size()));
    for (const StepRecord& record : records) values->AddAlreadyReserved(member(record));
  });
  return block;
}

absl::StatusOr<std::vector<StepRecord>> FromStepBlock(const v1::StepBlock& block) {
  ABSL_RETURN_IF_ERROR(CheckColumns(block));
  ABSL_RETURN_IF_ERROR(CheckStepsAscend(block));
  std::vector<StepRecord> records(block.step_size());
  ForEachColumn([&](const auto& column, auto member) {
    auto value = (block.*column.values)().begin();
    for (StepRecord& record : records) member(record) = *value++;
  });
  return records;
}

}  // namespace packtrain::wire
