// Requests for plans and batches are any bytes. The first byte says which; the rest is the message, asked of a
// small data set as its service asks.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "proto/wire/batch_spec_convert.h"
#include "server/batches/batch_sequence.h"
#include "server/batches/plan_cache.h"
#include "server/batches/resolved_spec.h"
#include "server/batches/source_ids.h"
#include "server/batches/worker_pool.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/input.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/sample_molecules.h"

namespace {

using packtrain::fuzz::Expect;
namespace batches = packtrain::batches;
namespace limits = packtrain::limits;
namespace storage = packtrain::storage;
namespace testing = packtrain::testing;
namespace v1 = packtrain::v1;
namespace wire = packtrain::wire;

constexpr std::uint64_t kMaxBatchBytes = 1 << 16;
constexpr std::uint64_t kMaxPlanBytes = 1 << 20;
constexpr int kBatches = 4;

// Data set "molecules", split by halves.
std::unique_ptr<storage::GraphStore> MakeStore() {
  auto store = std::make_unique<testing::FakeGraphStore>();
  const std::unique_ptr<storage::DatasetWriter> writer = *store->NewDataset(testing::MoleculeSchema());
  for (const testing::Molecule& molecule : testing::ManyMolecules(40)) {
    const std::string record = testing::RecordOf(molecule);
    Expect(writer->Append(std::as_bytes(std::span(record))).ok(), "a molecule is stored");
  }
  v1::SealDatasetRequest seal;
  seal.set_name("molecules");
  seal.mutable_fractions()->set_train_permille(500);
  seal.mutable_fractions()->set_val_permille(500);
  Expect(writer->Seal(seal).ok(), "molecules are sealed");
  return store;
}

// One server's plans and memory.
struct Server {
  const std::unique_ptr<storage::GraphStore> store = MakeStore();
  const std::shared_ptr<limits::MemoryBudget> memory = limits::MemoryBudget::Undivided(std::uint64_t{1} << 40);
  const std::shared_ptr<packtrain::wire::BodyPool> bodies = packtrain::wire::BodyPool::Create(0);
  batches::PlanCache plans{kMaxPlanBytes, memory};
};

template <typename Request>
absl::StatusOr<std::shared_ptr<const batches::EpochPlan>> PlanOf(Server& server, const Request& request) {
  const auto source = batches::ResolveSpec(*server.store, request.dataset(), request.spec());
  if (!source.ok()) return source.status();
  return server.plans.Get(*source, request.epoch(),
                          {.size = wire::WorldSizeOrDefault(request.world_size()), .segments = {}});
}

void Answer(Server& server, const v1::GetPlanRequest& request) {
  const auto plan = PlanOf(server, request);
  if (!plan.ok()) return;
  const wire::PlanSummary summary = (*plan)->plan->Summarize();
  Expect(summary.batches >= summary.bound_batches || summary.oversize > 0, "no plan is below the bound");
  Expect(batches::ReadSourceIds(*(*plan)->dataset, summary.oversize_graphs).ok(), "oversize graphs have ids");
}

void Answer(Server& server, const v1::GetPlannedBatchRequest& request) {
  const auto plan = PlanOf(server, request);
  if (!plan.ok()) return;
  const auto batch = (*plan)->plan->BatchAt(request.index());
  if (!batch.ok()) return;
  const auto builder =
      batches::BatchBuilder::Create((*plan)->dataset, kMaxBatchBytes, {server.memory, server.bodies});
  const auto built = builder->Build(*batch, {.epoch = request.epoch(),
                                             .epoch_steps = (*plan)->plan->steps(),
                                             .world_size = wire::WorldSizeOrDefault(request.world_size()),
                                             .fingerprint = {}});
  if (built.ok()) Expect(built->header.body_bytes <= kMaxBatchBytes, "no body is above the limit");
}

void Answer(Server& server, const v1::StreamBatchesRequest& request) {
  auto source = batches::ResolveSpec(*server.store, request.dataset(), request.spec());
  if (!source.ok()) return;
  auto builder = batches::BatchBuilder::Create(source->dataset, kMaxBatchBytes, {server.memory, server.bodies});
  batches::SharedBatches shared(0, *server.memory);
  batches::WorkerPool background(1);
  auto sequence = batches::BatchSequence::Open(*std::move(source),
                                               {.rank = request.rank(),
                                                .world = wire::WorldOf(request),
                                                .start_epoch = request.start_epoch(),
                                                .start_step = request.start_step(),
                                                .epochs = request.epochs()},
                                               *std::move(builder), server.plans, shared, background);
  for (int k = 0; sequence.ok() && k < kBatches; ++k) {
    const auto planned = (*sequence)->Next();
    if (!planned.ok() || !planned->has_value()) return;
    const auto built = (*sequence)->Build(**planned);
    if (!built.ok()) return;
    Expect(built->header.rank == request.rank(), "a stream holds the batches of its rank");
  }
}

template <typename Request>
void Ask(Server& server, std::string_view bytes) {
  Request request;
  if (request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) Answer(server, request);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server& server = *new Server;  // made once; requests leave nothing behind but plans
  packtrain::fuzz::Input input(data, size);
  switch (input.Byte() % 3) {
    case 0:
      Ask<v1::GetPlanRequest>(server, input.Rest());
      break;
    case 1:
      Ask<v1::GetPlannedBatchRequest>(server, input.Rest());
      break;
    default:
      Ask<v1::StreamBatchesRequest>(server, input.Rest());
  }
  return 0;
}
