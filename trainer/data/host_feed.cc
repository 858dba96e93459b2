#include "trainer/data/host_feed.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "client/padded_batch.h"
#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

template <typename T>
std::span<T> Elements(const at::Tensor& tensor) {
  return {tensor.data_ptr<T>(), static_cast<std::size_t>(tensor.numel())};
}

absl::Status ExpandTopology(const wire::Batch& batch, const GraphTensors& out) {
  return client::ExpandTopology(batch, {.senders = Elements<std::int32_t>(out.senders),
                                        .receivers = Elements<std::int32_t>(out.receivers),
                                        .graph_of_node = Elements<std::int32_t>(out.graph_of_node),
                                        .n_node = Elements<std::int32_t>(out.n_node)});
}

void CountInDegrees(std::uint32_t real_edges, const GraphTensors& out) {
  const std::span<float> degrees = Elements<float>(out.in_degree);
  std::ranges::fill(degrees, 0.0f);
  for (const std::int32_t receiver : Elements<std::int32_t>(out.receivers).first(real_edges))
    ++degrees[receiver];
  for (float& degree : degrees) degree = std::max(degree, 1.0f);
}

absl::Status ExpandClasses(const wire::Batch& batch, const ClassTable& table, const GraphTensors& out) {
  ABSL_ASSIGN_OR_RETURN(const std::span<const std::uint8_t> numbers,
                        batch.Elements<std::uint8_t>(kAtomicNumbers));
  const std::span<std::int32_t> classes = Elements<std::int32_t>(out.classes);
  const auto padding =
      std::ranges::transform(numbers, classes.begin(), [&](std::uint8_t z) { return table[z]; });
  std::fill(padding.out, classes.end(), 0);
  return absl::OkStatus();
}

}  // namespace

HostFeed::HostFeed(Target target, const ClassTable& classes) : target_(std::move(target)), classes_(classes) {}

absl::Status HostFeed::Expand(const wire::Batch& batch, const GraphTensors& out) {
  ABSL_RETURN_IF_ERROR(CheckExpandable(batch, target_, classes_));
  ABSL_RETURN_IF_ERROR(ExpandTopology(batch, out));
  CountInDegrees(batch.header().real.edges, out);
  ABSL_RETURN_IF_ERROR(ExpandClasses(batch, classes_, out));
  const std::span<std::byte> positions = std::as_writable_bytes(Elements<float>(out.positions));
  ABSL_RETURN_IF_ERROR(client::ExpandField(batch, kPositions, positions));
  return ExpandTarget(batch, out);
}

absl::Status HostFeed::ExpandTarget(const wire::Batch& batch, const GraphTensors& out) {
  const std::size_t graphs = batch.header().padded.graphs;
  targets_.resize(graphs * target_.columns);
  absl::Status status = client::ExpandField(batch, kTargets, std::as_writable_bytes(std::span(targets_)));
  ABSL_RETURN_IF_ERROR(status);
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
