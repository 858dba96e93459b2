#include "trainer/data/device_feed.h"

#include <torch/types.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/padded_batch.h"

namespace packtrain::trainer {
namespace {

constexpr std::string_view kAtomicNumbers = "z";
constexpr std::string_view kPositions = "pos";
constexpr std::string_view kTargets = "y";

template <typename T>
std::span<T> Elements(at::Tensor& tensor) {
  return {tensor.data_ptr<T>(), static_cast<std::size_t>(tensor.numel())};
}

// Uninitialised tensors on the host for a batch of shape `padded`, page-locked where a GPU will copy them.
GraphTensors HostTensors(const wire::Shape& padded, bool pinned) {
  const std::int64_t graphs = padded.graphs, nodes = padded.nodes, edges = padded.edges;
  const at::TensorOptions floats = at::TensorOptions(at::kFloat).pinned_memory(pinned);
  const at::TensorOptions integers = floats.dtype(at::kInt);
  return {.classes = at::empty({nodes}, integers),
          .positions = at::empty({nodes, 3}, floats),
          .senders = at::empty({edges}, integers),
          .receivers = at::empty({edges}, integers),
          .graph_of_node = at::empty({nodes}, integers),
          .n_node = at::empty({graphs}, integers),
          .target = at::empty({graphs}, floats),
          .weight = at::empty({graphs}, floats)};
}

GraphTensors CopyTo(const GraphTensors& host, at::Device device) {
  const auto copy = [device](const at::Tensor& tensor) { return tensor.to(device, /*non_blocking=*/true); };
  return {.classes = copy(host.classes),
          .positions = copy(host.positions),
          .senders = copy(host.senders),
          .receivers = copy(host.receivers),
          .graph_of_node = copy(host.graph_of_node),
          .n_node = copy(host.n_node),
          .target = copy(host.target),
          .weight = copy(host.weight)};
}

absl::Status RequireField(const wire::Batch& batch, std::string_view field, wire::DType dtype) {
  const wire::Section* section = batch.FindSection(field);
  if (section != nullptr && section->dtype == dtype) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("batch ", batch.header().index, " of epoch ", batch.header().epoch,
                                          section ? " has another type of" : " lacks", " field '",
                                          std::string(field), "'"));
}

absl::Status RequireFields(const wire::Batch& batch) {
  if (absl::Status status = RequireField(batch, kAtomicNumbers, wire::DType::kU8); !status.ok()) return status;
  if (absl::Status status = RequireField(batch, kPositions, wire::DType::kF32); !status.ok()) return status;
  return RequireField(batch, kTargets, wire::DType::kF64);
}

absl::Status ExpandTopology(const wire::Batch& batch, GraphTensors& out) {
  return client::ExpandTopology(batch, {.senders = Elements<std::int32_t>(out.senders),
                                        .receivers = Elements<std::int32_t>(out.receivers),
                                        .graph_of_node = Elements<std::int32_t>(out.graph_of_node),
                                        .n_node = Elements<std::int32_t>(out.n_node)});
}

}  // namespace

DeviceFeed::DeviceFeed(Target target, ClassTable classes, at::Device device)
    : target_(std::move(target)), classes_(classes), device_(device) {}

absl::StatusOr<GraphTensors> DeviceFeed::Expand(const wire::Batch& batch) {
  if (absl::Status status = RequireFields(batch); !status.ok()) return status;
  GraphTensors host = HostTensors(batch.header().padded, device_.is_cuda());
  if (absl::Status status = ExpandTopology(batch, host); !status.ok()) return status;
  if (absl::Status status = ExpandClasses(batch, host.classes); !status.ok()) return status;
  const std::span<std::byte> positions = std::as_writable_bytes(Elements<float>(host.positions));
  if (absl::Status status = client::ExpandField(batch, kPositions, positions); !status.ok()) return status;
  if (absl::Status status = ExpandTarget(batch, host); !status.ok()) return status;
  return device_.is_cpu() ? host : CopyTo(host, device_);
}

absl::Status DeviceFeed::ExpandClasses(const wire::Batch& batch, at::Tensor& classes) const {
  const absl::StatusOr<std::span<const std::uint8_t>> numbers = batch.Elements<std::uint8_t>(kAtomicNumbers);
  if (!numbers.ok()) return numbers.status();
  classes.zero_();
  std::int32_t* out = classes.data_ptr<std::int32_t>();
  for (const std::uint8_t number : *numbers) {
    if (classes_[number] < 0) {
      return absl::DataLossError(absl::StrCat("batch ", batch.header().index, " of epoch ",
                                              batch.header().epoch, " holds atomic number ", int{number},
                                              ", which the data set's class table does not"));
    }
    *out++ = classes_[number];
  }
  return absl::OkStatus();
}

absl::Status DeviceFeed::ExpandTarget(const wire::Batch& batch, GraphTensors& out) {
  const std::size_t graphs = batch.header().padded.graphs;
  targets_.resize(graphs * target_.columns);
  absl::Status status = client::ExpandField(batch, kTargets, std::as_writable_bytes(std::span(targets_)));
  if (!status.ok()) return status;
  const std::span<float> target = Elements<float>(out.target), weight = Elements<float>(out.weight);
  for (std::size_t graph = 0; graph < graphs; ++graph) {
    const double value = targets_[graph * target_.columns + target_.column];
    const bool known = graph < batch.header().real.graphs && !std::isnan(value);
    weight[graph] = known ? 1 : 0;
    target[graph] = known ? static_cast<float>(target_.Normalise(value)) : 0;
  }
  return absl::OkStatus();
}

}  // namespace packtrain::trainer
