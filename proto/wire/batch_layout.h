// Plain types of a batch on the wire, free of protobuf and gRPC. FORMAT.md describes the bytes.
#ifndef PACKTRAIN_PROTO_WIRE_BATCH_LAYOUT_H_
#define PACKTRAIN_PROTO_WIRE_BATCH_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/wire/shape.h"

namespace packtrain::wire {

// Every section starts at a multiple of this, counted from the start of the body.
inline constexpr std::size_t kSectionAlignment = 64;

// Storage type of one element, little-endian. Values equal packtrain.v1.DataType.
enum class DType : std::uint8_t {
  kU8 = 1,
  kU16 = 2,
  kI32 = 3,
  kI64 = 4,
  kF32 = 5,
  kF64 = 6,
  kU32 = 7,
  kU64 = 8
};

// Bytes of one element; 0 for a value that is none of DType.
std::size_t SizeOf(DType dtype);

// Type of edge endpoints, local to their graph, in a data set whose largest graph has `max_n_node` nodes:
// the smallest of kU8, kU16 and kU32 that fits.
DType EndpointType(std::uint32_t max_n_node);

// Where a graph's edges come from. Values equal packtrain.v1.EdgeRule.
enum class EdgeRule : std::uint8_t { kFull = 1, kStored = 2 };

// Names of the sections that are not schema fields. Endpoints come with EdgeRule::kStored only; the other
// three always.
inline constexpr std::string_view kGraphIndexSection = "graph_index";  // u64 [graphs]
inline constexpr std::string_view kNodeCountSection = "n_node";        // u32 [graphs]
inline constexpr std::string_view kEdgeCountSection = "n_edge";        // u32 [graphs]
inline constexpr std::string_view kSendersSection = "senders";         // u8|u16|u32 [edges], local
inline constexpr std::string_view kReceiversSection = "receivers";     // u8|u16|u32 [edges], local

// One array of a batch's body: rows first, then the dimensions of one row.
struct Section {
  std::string field;
  DType dtype = DType::kU8;
  std::vector<std::uint64_t> dims;
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
};

// What stands before a batch's body; see BatchHeader in packtrain/v1/batch.proto for each field.
struct BatchHeader {
  std::uint64_t index = 0;
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::uint64_t epoch_steps = 0;
  bool empty = false;
  bool oversize = false;
  Shape real;
  Shape padded;
  std::string fingerprint;
  EdgeRule edge_rule = EdgeRule::kFull;
  std::vector<Section> sections;
  std::uint64_t body_bytes = 0;
  std::uint32_t body_crc32c = 0;
  std::vector<std::uint64_t> corrupt_graphs = {};
};

// Times of the server, in nanoseconds; outside checksum and purity.
struct BatchTiming {
  std::uint64_t build_ns = 0;
  std::uint64_t queue_ns = 0;
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_BATCH_LAYOUT_H_
