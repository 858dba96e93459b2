// The decoder of batches takes any messages, in fragments of any size, and ends in a batch or an error; a batch
// expands to arrays in which every index is in range. The first byte says how long fragments are, and whether
// the checksums are mended, without which little gets past them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/padded_batch.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/base/crc32c.h"
#include "proto/wire/batch_assembler.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/input.h"

namespace {

using packtrain::fuzz::Expect;
using packtrain::wire::Batch;
using Parts = std::vector<packtrain::v1::StreamBatchesResponse>;

constexpr std::uint64_t kMaxBodyBytes = 1 << 20;
constexpr std::uint8_t kMend = 0x80;
constexpr std::uint8_t kFragmentMask = 0x3f;

std::vector<packtrain::wire::Fragment> Cut(const std::string& message, std::size_t fragment_bytes) {
  std::vector<packtrain::wire::Fragment> fragments;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(message));
  for (std::size_t at = 0; at < bytes.size(); at += fragment_bytes) {
    fragments.push_back(bytes.subspan(at, std::min(fragment_bytes, bytes.size() - at)));
  }
  return fragments;
}

// Makes the checksums of the batch that begins with `part` true.
void MendBatch(Parts::iterator part, Parts::iterator end) {
  std::uint32_t crc = 0;
  for (auto next = part; next != end && (next == part || !next->has_header()); ++next) {
    crc = packtrain::base::ExtendCrc32c(crc, std::as_bytes(std::span(next->body())));
  }
  part->mutable_header()->set_body_crc32c(crc);
  const std::string header = part->header().SerializeAsString();
  part->set_header_crc32c(packtrain::base::Crc32c(std::as_bytes(std::span(header))));
}

std::vector<std::string> Mended(const std::vector<std::string>& messages) {
  Parts parts(messages.size());
  for (std::size_t k = 0; k < messages.size(); ++k) parts[k].ParsePartialFromString(messages[k]);
  std::vector<std::string> mended;
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    if (part->has_header()) MendBatch(part, parts.end());
    mended.push_back(part->SerializePartialAsString());
  }
  return mended;
}

void ExpectInRange(std::span<const std::int32_t> numbers, std::uint32_t end, const char* what) {
  for (const std::int32_t number : numbers) {
    Expect(number >= 0 && static_cast<std::uint32_t>(number) < end, std::string(what) + " are in range");
  }
}

void Expand(const Batch& batch) {
  const packtrain::wire::Shape& padded = batch.header().padded;
  std::vector<std::int32_t> senders(padded.edges), receivers(padded.edges);
  std::vector<std::int32_t> graph_of_node(padded.nodes), n_node(padded.graphs);
  const packtrain::client::PaddedTopology topology{senders, receivers, graph_of_node, n_node};
  if (!packtrain::client::ExpandTopology(batch, topology).ok()) return;
  ExpectInRange(senders, padded.nodes, "senders");
  ExpectInRange(receivers, padded.nodes, "receivers");
  ExpectInRange(graph_of_node, padded.graphs, "graphs of nodes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  packtrain::fuzz::Input input(data, size);
  const std::uint8_t how = input.Byte();
  std::vector<std::string> messages;
  while (!input.empty()) messages.emplace_back(input.Message());
  if ((how & kMend) != 0) messages = Mended(messages);
  packtrain::wire::BatchAssembler assembler(kMaxBodyBytes);
  for (const std::string& message : messages) {
    const absl::StatusOr<std::optional<Batch>> batch = assembler.Add(Cut(message, 1 + (how & kFragmentMask)));
    if (batch.ok() && batch->has_value()) Expand(**batch);
  }
  return 0;
}
