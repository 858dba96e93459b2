#include "client/cli/bench/padded_tensors.h"

#include <span>

#include "client/padded_batch.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

// The first `size` elements of a buffer that is made larger where it must be.
template <typename T>
std::span<T> First(std::vector<T>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
  return std::span(buffer).first(size);
}

std::uint64_t RowBytes(const v1::Field& field) {
  std::uint64_t bytes = wire::SizeOf(static_cast<wire::DType>(field.data_type()));
  for (const std::uint32_t dim : field.dims()) bytes *= dim;
  return bytes;
}

std::uint32_t Rows(v1::FieldScope scope, const wire::Shape& shape) {
  if (scope == v1::FIELD_SCOPE_NODE) return shape.nodes;
  return scope == v1::FIELD_SCOPE_EDGE ? shape.edges : shape.graphs;
}

}  // namespace

PaddedTensors::PaddedTensors(const v1::Schema& schema) {
  for (const v1::Field& field : schema.fields()) {
    fields_.push_back({field.name(), field.scope(), RowBytes(field), {}});
  }
}

absl::Status PaddedTensors::Expand(const wire::Batch& batch) {
  const wire::Shape& padded = batch.header().padded;
  absl::Status topology = client::ExpandTopology(batch, {.senders = First(senders_, padded.edges),
                                                         .receivers = First(receivers_, padded.edges),
                                                         .graph_of_node = First(graph_of_node_, padded.nodes),
                                                         .n_node = First(n_node_, padded.graphs)});
  ABSL_RETURN_IF_ERROR(topology);
  for (Field& field : fields_) {
    const std::span<std::byte> rows = First(field.rows, Rows(field.scope, padded) * field.row_bytes);
    ABSL_RETURN_IF_ERROR(client::ExpandField(batch, field.name, rows));
  }
  return absl::OkStatus();
}

}  // namespace packtrain::cli
