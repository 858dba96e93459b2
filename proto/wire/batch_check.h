// What must hold of a batch before anything reads it. Every violation is DATA_LOSS with a message that
// says what, unless stated otherwise. Nothing here reads outside what it was given, whatever that holds.
#ifndef PACKTRAIN_PROTO_WIRE_BATCH_CHECK_H_
#define PACKTRAIN_PROTO_WIRE_BATCH_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "proto/wire/batch.h"
#include "proto/wire/batch_layout.h"

namespace packtrain::wire {

// More sections than any schema has fields.
inline constexpr std::size_t kMaxSections = 256;
// Of one section.
inline constexpr std::size_t kMaxDims = 8;

// RESOURCE_EXHAUSTED: a receiver of this padded shape needs more than `max_bytes` for its indices alone: a
// 32-bit number for each slot, and two for an edge.
absl::Status CheckSlotBytes(const Shape& padded, std::uint64_t max_bytes);

// Position, shapes and sections agree with each other; each section lies inside the body, aligned, apart
// from the others, and is as large as its dimensions and type say; the sections that every batch has are
// there; the corrupt graphs ascend and fit into the slots that are not real. RESOURCE_EXHAUSTED: the body is
// larger than `max_body_bytes`, or the padded shape fails CheckSlotBytes.
absl::Status CheckHeader(const BatchHeader& header, std::uint64_t max_body_bytes);

// The counts of the graphs add up to `real`, every endpoint is a node of its graph, edges ascend by receiver,
// then sender, and join nodes at most `padded.block_nodes` apart where the slots are blocks; bytes between
// sections are 0, and no corrupt graph is in the batch.
// The header must have passed CheckHeader.
absl::Status CheckContent(const Batch& batch);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_BATCH_CHECK_H_
