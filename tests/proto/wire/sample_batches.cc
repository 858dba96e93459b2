#include "tests/proto/wire/sample_batches.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "proto/base/crc32c.h"
#include "proto/wire/batch_encoder.h"

namespace packtrain::testing {
namespace {

using wire::DType;
using wire::EdgeRule;

std::size_t AlignUp(std::size_t size) {
  return (size + wire::kSectionAlignment - 1) / wire::kSectionAlignment * wire::kSectionAlignment;
}

std::uint32_t UpTo64(std::uint32_t count) { return (count + 63) / 64 * 64; }

std::uint32_t Sum(const std::vector<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0u);
}

template <typename T>
std::vector<T> Narrow(const std::vector<std::uint32_t>& values) {
  return {values.begin(), values.end()};
}

void AddEndpoints(std::string_view field, DType dtype, const std::vector<std::uint32_t>& values,
                  PlainBatch* batch) {
  const std::vector<std::uint64_t> dims{values.size()};
  if (dtype == DType::kU8) batch->AddSection(field, dtype, dims, Narrow<std::uint8_t>(values));
  if (dtype == DType::kU16) batch->AddSection(field, dtype, dims, Narrow<std::uint16_t>(values));
  if (dtype == DType::kU32) batch->AddSection(field, dtype, dims, values);
}

}  // namespace

void PlainBatch::AddSection(std::string_view field, DType dtype, std::vector<std::uint64_t> dims,
                            std::span<const std::byte> bytes) {
  body.resize(AlignUp(body.size()));
  header.sections.push_back({std::string(field), dtype, std::move(dims), body.size(), bytes.size()});
  body.insert(body.end(), bytes.begin(), bytes.end());
  Seal();
}

void PlainBatch::Overwrite(std::string_view field, std::size_t at, std::span<const std::byte> bytes) {
  const auto section = std::find_if(header.sections.begin(), header.sections.end(),
                                    [&](const wire::Section& s) { return s.field == field; });
  std::memcpy(body.data() + section->offset_bytes + at, bytes.data(), bytes.size());
  Seal();
}

void PlainBatch::Seal() {
  header.body_bytes = body.size();
  header.body_crc32c = base::Crc32c(body);
}

wire::Batch PlainBatch::Unchecked() const {
  wire::AlignedBytes copy = wire::AllocateAligned(body.size());
  std::copy(body.begin(), body.end(), copy.get());
  return wire::Batch(header, timing, std::move(copy));
}

PlainBatch CountsOf(const std::vector<std::uint32_t>& n_node, const std::vector<std::uint32_t>& n_edge,
                    EdgeRule rule) {
  PlainBatch batch;
  const auto graphs = static_cast<std::uint32_t>(n_node.size());
  batch.header.index = 7;
  batch.header.step = 3;
  batch.header.epoch = 2;
  batch.header.rank = 1;
  batch.header.world_size = 2;
  batch.header.epoch_steps = 40;
  batch.header.empty = graphs == 0;
  batch.header.real = {graphs, Sum(n_node), Sum(n_edge)};
  batch.header.padded = {graphs + 1, UpTo64(Sum(n_node) + 1), UpTo64(Sum(n_edge))};
  batch.header.fingerprint = "0123456789abcdef";
  batch.header.edge_rule = rule;
  std::vector<std::uint64_t> index(graphs);
  std::iota(index.begin(), index.end(), 1000);
  batch.AddSection(wire::kGraphIndexSection, DType::kU64, {graphs}, index);
  batch.AddSection(wire::kNodeCountSection, DType::kU32, {graphs}, n_node);
  batch.AddSection(wire::kEdgeCountSection, DType::kU32, {graphs}, n_edge);
  return batch;
}

PlainBatch FullBatch(const std::vector<std::uint32_t>& n_node) {
  std::vector<std::uint32_t> n_edge;
  for (std::uint32_t n : n_node) n_edge.push_back(n * (n - 1));
  PlainBatch batch = CountsOf(n_node, n_edge, EdgeRule::kFull);
  std::vector<float> pos(3 * batch.header.real.nodes);
  std::iota(pos.begin(), pos.end(), 0.5f);
  batch.AddSection("pos", DType::kF32, {batch.header.real.nodes, 3}, pos);
  std::vector<double> y(n_node.size());
  std::iota(y.begin(), y.end(), -76.25);
  batch.AddSection("y", DType::kF64, {n_node.size(), 1}, y);
  return batch;
}

PlainBatch StoredBatch(DType endpoints) {
  PlainBatch batch = CountsOf({4, 1, 3}, {5, 0, 2}, EdgeRule::kStored);
  AddEndpoints(wire::kSendersSection, endpoints, {1, 0, 2, 3, 2, 2, 0}, &batch);
  AddEndpoints(wire::kReceiversSection, endpoints, {0, 1, 1, 2, 3, 0, 2}, &batch);
  batch.AddSection("z", DType::kU8, {8}, std::vector<std::uint8_t>{6, 1, 1, 8, 2, 7, 1, 1});
  return batch;
}

PlainBatch EmptyBatch() {
  PlainBatch batch = FullBatch({});
  batch.header.padded = {2, 64, 64};
  return batch;
}

std::vector<std::string> Messages(const PlainBatch& batch, std::uint32_t max_message_bytes) {
  std::vector<std::string> messages;
  const auto parts =
      wire::EncodeBatch(wire::EncodeHeader(batch.header), batch.timing, batch.body, max_message_bytes);
  for (const wire::EncodedPart& part : parts.value()) {
    messages.push_back(part.prefix);
    messages.back().append(reinterpret_cast<const char*>(part.body.data()), part.body.size());
  }
  return messages;
}

}  // namespace packtrain::testing
