// From a received batch to the padded arrays that a model reads.
#ifndef PACKTRAIN_CLIENT_PADDED_BATCH_H_
#define PACKTRAIN_CLIENT_PADDED_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "proto/wire/batch.h"

namespace packtrain::client {

// The caller's buffers for one padded batch of shape (graphs G, nodes N, edges E). All borrowed.
//
// Padding nodes belong to the last graph slot. Padding edges point from and to padding nodes, spread over
// them in turn (where a shape has no padding node, it has no padding edge). Everything else about padding
// is zero.
struct PaddedTopology {
  std::span<std::int32_t> senders;        // [E] global node indices, sorted by receiver among real edges
  std::span<std::int32_t> receivers;      // [E]
  std::span<std::int32_t> graph_of_node;  // [N]
  std::span<std::int32_t> n_node;         // [G] real nodes of each slot; 0 for padding
};

// Fills `out` in one pass. INVALID_ARGUMENT where a span is not of the batch's padded shape.
absl::Status ExpandTopology(const wire::Batch& batch, const PaddedTopology& out);

// Copies section `field` to the front of `out` and clears the rest. `out` holds the padded number of rows
// (nodes, edges or graphs, as the field has it) times the row's bytes; otherwise INVALID_ARGUMENT.
// NOT_FOUND: the batch has no such section.
absl::Status ExpandField(const wire::Batch& batch, std::string_view field, std::span<std::byte> out);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_PADDED_BATCH_H_
