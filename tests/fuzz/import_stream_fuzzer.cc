// An import is any messages: first a SealDatasetRequest, then the ImportGraphsRequests of one call. What the
// seal publishes can be planned, built, encoded and decoded.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "proto/wire/batch_assembler.h"
#include "proto/wire/batch_encoder.h"
#include "server/batches/batch_builder.h"
#include "server/storage/import_session.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/input.h"
#include "tests/testing/fake_graph_store.h"

namespace {

using packtrain::fuzz::Expect;
using packtrain::fuzz::Input;
using packtrain::storage::DatasetWriter;
namespace batches = packtrain::batches;
namespace batching = packtrain::batching;
namespace limits = packtrain::limits;
namespace storage = packtrain::storage;
namespace v1 = packtrain::v1;
namespace wire = packtrain::wire;

constexpr std::uint64_t kMaxBatchBytes = 1 << 20;
constexpr std::uint64_t kMaxRefusedBytes = 1 << 12;
constexpr std::uint64_t kMaxBatches = 8;

template <typename Message>
bool Parse(std::string_view bytes, Message* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Null where the import is refused.
std::unique_ptr<DatasetWriter> Import(storage::GraphStore& store, Input& input) {
  v1::ImportGraphsRequest message;
  if (!Parse(input.Message(), &message) || !message.has_header()) return nullptr;
  auto session = storage::ImportSession::Begin(store, message.header(), kMaxRefusedBytes);
  if (!session.ok()) return nullptr;
  while (Parse(input.Message(), &message) && (message.has_block() || message.has_records())) {
    const absl::Status added =
        message.has_block() ? (*session)->Add(message.block()) : (*session)->Add(message.records());
    if (!added.ok()) return nullptr;
  }
  const v1::ImportGraphsResponse& response = (*session)->response();
  std::uint64_t refused = 0;
  for (const auto& [reason, graphs] : response.refused_by_reason()) refused += graphs;
  Expect(response.received() == response.staged() + refused, "a graph is staged or refused");
  return (*session)->TakeWriter();
}

void ExpectDecodes(const batches::BuiltBatch& batch) {
  const auto parts = wire::EncodeBatch(wire::EncodeHeader(batch.header), {},
                                       {batch.body.get(), batch.header.body_bytes}, 1 << 16);
  if (!parts.ok()) return;  // a header of more than a message
  wire::BatchAssembler assembler(kMaxBatchBytes);
  for (const wire::EncodedPart& part : *parts) {
    const wire::Fragment message[] = {std::as_bytes(std::span(part.prefix)), part.body};
    const auto decoded = assembler.Add(message);
    Expect(decoded.ok(), "a stored graph is served as a sound batch: " + decoded.status().ToString());
    Expect(decoded->has_value() == (&part == &parts->back()), "the last part completes the batch");
  }
}

void ServeBatches(const std::shared_ptr<const storage::Dataset>& dataset) {
  const absl::StatusOr<std::span<const std::uint32_t>> all = dataset->Split("all");
  Expect(all.ok(), "every data set has split all");
  const wire::BatchSpec spec = {.policy = wire::Policy::kStatic, .graphs = 3};
  const auto plan = batching::Plan::Create(
      {.spec = spec, .sizes = {dataset->n_node(), dataset->n_edge()}, .split = *all, .epoch = 1});
  if (!plan.ok()) return;  // a shape of too many slots
  const auto builder = batches::BatchBuilder::Create(
      dataset, kMaxBatchBytes,
      {limits::MemoryBudget::Undivided(std::uint64_t{1} << 40), wire::BodyPool::Create(0)});
  Expect(builder.ok(), "a stored schema is one that can be served");
  for (std::uint64_t k = 0; k < std::min((*plan)->steps(), kMaxBatches); ++k) {
    const auto planned = (*plan)->BatchAt(k);
    Expect(planned.ok(), "every step has a batch");
    const auto built = builder->Build(
        *planned, {.epoch = 1, .epoch_steps = (*plan)->steps(), .world_size = 1, .fingerprint = {}});
    if (built.ok()) ExpectDecodes(*built);
    if (!built.ok()) Expect(absl::IsResourceExhausted(built.status()), built.status().ToString());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  v1::SealDatasetRequest seal;
  if (!Parse(input.Message(), &seal)) return 0;
  packtrain::testing::FakeGraphStore store;
  const std::unique_ptr<DatasetWriter> writer = Import(store, input);
  if (writer == nullptr) return 0;
  const std::uint64_t staged = writer->graphs();
  const auto sealed = writer->Seal(seal);
  const auto opened = store.Open(seal.name());
  Expect(sealed.ok() == opened.ok(), "what is sealed can be opened, and nothing else");
  if (!opened.ok()) return 0;
  Expect((*opened)->description().graphs() == staged, "every staged graph is published");
  ServeBatches(*opened);
  return 0;
}
