#include "trainer/data/host_feed.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

// Elements of T at `from` to 32-bit integers at `to`; what `to` has after them is cleared.
template <typename T, typename Convert>
void ConvertElements(std::span<const std::byte> from, std::span<std::int32_t> to, Convert convert) {
  const std::span<const T> elements(reinterpret_cast<const T*>(from.data()), from.size() / sizeof(T));
  const auto padding = std::ranges::transform(elements, to.begin(), convert);
  std::fill(padding.out, to.end(), 0);
}

// As ConvertElements, of elements that have 32 bits already.
void CopyWords(std::span<const std::byte> from, std::span<std::byte> to) {
  const auto padding = std::ranges::copy(from, to.begin());
  std::fill(padding.out, to.end(), std::byte{0});
}

}  // namespace

HostFeed::HostFeed(FeedOptions options)
    : options_(std::move(options)), fields_(FieldsOf(options_.layout.inputs)) {}

absl::Status HostFeed::Expand(const wire::Batch& batch, const GraphTensors& out) {
  ABSL_RETURN_IF_ERROR(CheckExpandable(batch, options_, out));
  ABSL_RETURN_IF_ERROR(ExpandTopology(batch, out));
  CountInDegrees(batch.header().real.edges, out);
  for (const InputField& field : fields_) ExpandInput(batch, field, out);
  return options_.layout.inputs.Has(Input::kTargets) ? ExpandTargets(batch, out) : absl::OkStatus();
}

void HostFeed::ExpandInput(const wire::Batch& batch, const InputField& field, const GraphTensors& out) const {
  const wire::Section& section = *batch.FindSection(field.name);
  const std::span<const std::byte> from = batch.body().subspan(section.offset_bytes, section.size_bytes);
  const at::Tensor& tensor = out.*field.tensor;
  const auto same = [](auto value) { return static_cast<std::int32_t>(value); };
  if (field.conversion == Conversion::kClass) {
    const auto class_of = [this](std::uint8_t number) { return options_.classes[number]; };
    ConvertElements<std::uint8_t>(from, Elements<std::int32_t>(tensor), class_of);
  } else if (section.dtype == wire::DType::kU8) {
    ConvertElements<std::uint8_t>(from, Elements<std::int32_t>(tensor), same);
  } else if (section.dtype == wire::DType::kU16) {
    ConvertElements<std::uint16_t>(from, Elements<std::int32_t>(tensor), same);
  } else {
    CopyWords(from, {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()});
  }
}

absl::Status HostFeed::ExpandTargets(const wire::Batch& batch, const GraphTensors& out) {
  const std::vector<Target>& chosen = options_.targets;
  const std::size_t graphs = batch.header().padded.graphs, columns = chosen.front().columns;
  y_.resize(graphs * columns);
  ABSL_RETURN_IF_ERROR(client::ExpandField(batch, kTargetField, std::as_writable_bytes(std::span(y_))));
  const std::span<float> targets = Elements<float>(out.targets), weights = Elements<float>(out.weights);
  for (std::size_t graph = 0, to = 0; graph < graphs; ++graph) {
    for (const Target& target : chosen) {
      const double value = y_[graph * columns + target.column];
      const bool known = graph < batch.header().real.graphs && !std::isnan(value);
      weights[to] = known ? 1 : 0;
      targets[to++] = known ? static_cast<float>(target.Normalise(value)) : 0;
    }
  }
  return absl::OkStatus();
}

}  // namespace packtrain::trainer
