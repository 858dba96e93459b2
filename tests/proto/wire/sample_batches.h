// Small batches for tests: encoded once, to be looked at from all sides.
#ifndef PACKTRAIN_TESTS_PROTO_WIRE_SAMPLE_BATCHES_H_
#define PACKTRAIN_TESTS_PROTO_WIRE_SAMPLE_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/wire/batch.h"
#include "proto/wire/batch_layout.h"

namespace packtrain::testing {

// A batch as a server has it: the header, and the body it describes.
struct PlainBatch {
  wire::BatchHeader header;
  wire::BatchTiming timing{1200, 34};
  std::vector<std::byte> body;

  // Appends a section, and keeps body_bytes and body_crc32c true.
  void AddSection(std::string_view field, wire::DType dtype, std::vector<std::uint64_t> dims,
                  std::span<const std::byte> bytes);
  template <typename T>
  void AddSection(std::string_view field, wire::DType dtype, std::vector<std::uint64_t> dims,
                  const std::vector<T>& values) {
    AddSection(field, dtype, std::move(dims), std::as_bytes(std::span(values)));
  }
  // Writes over the element at `row` of a section, and keeps the checksum true.
  template <typename T>
  void Set(std::string_view field, std::size_t row, T value) {
    Overwrite(field, row * sizeof(T), std::as_bytes(std::span(&value, 1)));
  }
  // The wire::Batch of it, without any check.
  wire::Batch Unchecked() const;

 private:
  void Overwrite(std::string_view field, std::size_t at, std::span<const std::byte> bytes);
  void Seal();
};

// Graph indices, counts and shapes; padded as PAD_MULTIPLE does it.
PlainBatch CountsOf(const std::vector<std::uint32_t>& n_node, const std::vector<std::uint32_t>& n_edge,
                    wire::EdgeRule rule);

// Graphs of these sizes, fully connected, with the node field `pos` [3] F32 and the graph field `y` [1] F64.
PlainBatch FullBatch(const std::vector<std::uint32_t>& n_node);

// Three graphs, of 4, 1 and 3 nodes, with stored edges, endpoints as `endpoints`, and the node field `z` U8.
PlainBatch StoredBatch(wire::DType endpoints);

// No graph, in a padded shape of (2, 64, 64).
PlainBatch EmptyBatch();

// The messages of a batch, as a client receives them.
std::vector<std::string> Messages(const PlainBatch& batch, std::uint32_t max_message_bytes);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_PROTO_WIRE_SAMPLE_BATCHES_H_
