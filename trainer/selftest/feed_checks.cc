#include "trainer/selftest/feed_checks.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/data/cuda_feed.h"
#include "trainer/data/host_feed.h"
#include "trainer/data/word_checksum.h"
#include "trainer/selftest/sample_batch.h"

namespace packtrain::trainer {
namespace {

// What no element of a batch is.
constexpr int kUnwritten = -7;
constexpr std::uint64_t kManyBatches = 100'000;

at::Device Card() { return {at::kCUDA, c10::cuda::current_device()}; }

CudaFeed NewCudaFeed(const CudaFeedOptions& options) { return CudaFeed(SampleFeed(), Card(), options); }

// i32 [nodes + 1]: how many of the edges with these ends come before those of each node.
at::Tensor StartsOf(const at::Tensor& ends, std::int64_t nodes) {
  const at::Tensor counts = at::bincount(ends, /*weights=*/{}, /*minlength=*/nodes);
  return at::cat({at::zeros({1}, at::kLong), counts.cumsum(0)}).to(at::kInt);
}

// What the host makes of `batch`, and the orders of its edges by sorting.
absl::StatusOr<GraphTensors> Expected(const wire::Batch& batch, const FeedOptions& options) {
  const wire::Shape& real = batch.header().real;
  GraphTensors expected = NewGraphTensors(batch.header().padded, options.layout, at::kCPU);
  ABSL_RETURN_IF_ERROR(HostFeed(options).Expand(batch, expected));
  const at::Tensor senders = expected.senders.narrow(0, 0, real.edges);
  const std::int64_t slots = batch.header().padded.nodes;
  expected.receiver_start = StartsOf(expected.receivers.narrow(0, 0, real.edges), slots);
  expected.by_sender = at::argsort(senders, /*stable=*/true).to(at::kInt);
  expected.sender_start = StartsOf(senders, slots);
  expected.real =
      at::tensor({std::int64_t{real.graphs}, std::int64_t{real.nodes}, std::int64_t{real.edges}}, at::kInt);
  return expected;
}

// Bit by bit, so that NaN is NaN and 0 is not -0.
absl::Status RequireEqual(std::string_view name, const at::Tensor& got, const at::Tensor& expected) {
  const at::Tensor differs = (got.view(at::kInt) != expected.view(at::kInt)).flatten();
  const std::int64_t number = differs.sum().item<std::int64_t>();
  if (number == 0) return absl::OkStatus();
  const std::int64_t first = differs.nonzero()[0].item<std::int64_t>();
  return absl::InternalError(absl::StrCat(
      number, " of ", differs.numel(), " elements of ", std::string(name), " differ; element ", first, " is ",
      got.flatten()[first].item<double>(), ", not ", expected.flatten()[first].item<double>()));
}

absl::Status RequireExpanded(const wire::Batch& batch, const GraphTensors& out, const FeedOptions& options) {
  ABSL_ASSIGN_OR_RETURN(const GraphTensors expected, Expected(batch, options));
  for (const GraphMember& member : GraphMembers()) {
    if ((out.*member.tensor).defined() != (expected.*member.tensor).defined()) {
      return absl::InternalError(absl::StrCat("only one of the feeds brings ", std::string(member.name)));
    }
    if (!(out.*member.tensor).defined()) continue;
    at::Tensor got = (out.*member.tensor).cpu();
    if (member.tensor == &GraphTensors::by_sender) got = got.narrow(0, 0, batch.header().real.edges);
    const absl::Status status = RequireEqual(member.name, got, expected.*member.tensor);
    ABSL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

std::string NameOf(const wire::Batch& batch) {
  const auto& [real, padded] = std::pair(batch.header().real, batch.header().padded);
  return absl::StrCat("(", real.graphs, ", ", real.nodes, ", ", real.edges, ") in (", padded.graphs, ", ",
                      padded.nodes, ", ", padded.edges, "): ");
}

GraphTensors NewOnCard(const wire::Shape& padded, const FeedOptions& options = SampleFeed()) {
  return NewGraphTensors(padded, options.layout, Card());
}

absl::Status CheckExpansion(const SampleBatch& sample, CudaFeed& feed, const FeedOptions& options) {
  ABSL_ASSIGN_OR_RETURN(const wire::Batch batch, MakeBatch(sample));
  const GraphTensors out = NewOnCard(batch.header().padded, options);
  for (const GraphMember& member : GraphMembers()) {
    if ((out.*member.tensor).defined()) (out.*member.tensor).fill_(kUnwritten);
  }
  absl::Status status = feed.Expand(batch, out);
  if (status.ok()) status = RequireExpanded(batch, out, options);
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(NameOf(batch), status.message()));
}

// Graphs of `min` to `max` nodes.
std::vector<std::uint32_t> Sizes(std::size_t graphs, std::uint32_t min, std::uint32_t max,
                                 std::mt19937& random) {
  std::vector<std::uint32_t> sizes(graphs);
  for (std::uint32_t& size : sizes) size = min + random() % (max - min + 1);
  return sizes;
}

// No graph, one node, no padding, one padding node for all padding edges, more graphs than a block has threads,
// graphs whose edges are sorted in shared memory and, where `largest` is above it, in global memory.
std::vector<SampleBatch> ManySamples(std::optional<wire::DType> endpoints, std::uint32_t largest) {
  std::mt19937 random(5);
  std::vector<SampleBatch> samples = {{.n_node = {}, .padding = {2, 64, 64}},
                                      {.n_node = {}, .padding = {1, 0, 0}},
                                      {.n_node = {1}},
                                      {.n_node = {1}, .padding = {1, 3, 10}},
                                      {.n_node = {1, 1, 1, 1}, .padding = {3, 1, 7}},
                                      {.n_node = {29, 3, 17}},
                                      {.n_node = {largest, 5, largest}, .padding = {1, 7, 50}},
                                      {.n_node = Sizes(127, 3, 29, random), .padding = {1, 60, 2000}},
                                      {.n_node = Sizes(2500, 1, 4, random), .padding = {4, 100, 999}}};
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::uint32_t nodes = random() % 80, edges = nodes == 0 ? 0 : random() % 5000;
    samples.push_back({.n_node = Sizes(1 + random() % 150, 1, 40, random), .padding = {1, nodes, edges}});
  }
  for (SampleBatch& sample : samples) sample.endpoints = endpoints;
  for (std::uint32_t i = 0; i < samples.size(); ++i) samples[i].seed = i;
  return samples;
}

absl::Status CheckExpansions(std::optional<wire::DType> endpoints, std::uint32_t largest,
                             const FeedOptions& options = SampleFeed()) {
  CudaFeed feed(options, Card(), {.slots = 2});
  for (const SampleBatch& sample : ManySamples(endpoints, largest)) {
    ABSL_RETURN_IF_ERROR(CheckExpansion(sample, feed, options));
  }
  return absl::OkStatus();
}

absl::Status FullEdges() { return CheckExpansions(std::nullopt, 1100); }
absl::Status EdgesOfU8() { return CheckExpansions(wire::DType::kU8, 256); }
absl::Status EdgesOfU16() { return CheckExpansions(wire::DType::kU16, 9000); }
absl::Status EdgesOfU32() { return CheckExpansions(wire::DType::kU32, 70'000); }

// No atoms, no positions and no targets; then nothing but the topology.
absl::Status FewerInputs() {
  FeedOptions options = SampleFeed();
  for (const InputSet inputs : {InputSet{Input::kNodeFeatures, Input::kCandidates}, InputSet{}}) {
    options.layout.inputs = inputs;
    ABSL_RETURN_IF_ERROR(CheckExpansions(wire::DType::kU8, 256, options));
  }
  return absl::OkStatus();
}

absl::Status RequireCode(absl::StatusCode wanted, const absl::Status& status) {
  if (status.code() == wanted) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("ended with ", status.ToString()));
}

absl::Status RefusesUnknownAtoms() {
  ABSL_ASSIGN_OR_RETURN(const wire::Batch batch, MakeBatch({.n_node = {5}}));
  FeedOptions options = SampleFeed();
  options.classes.fill(-1);
  CudaFeed feed(options, Card());
  return RequireCode(absl::StatusCode::kDataLoss, feed.Expand(batch, NewOnCard(batch.header().padded)));
}

absl::Status RefusesAnotherShape() {
  ABSL_ASSIGN_OR_RETURN(const wire::Batch batch, MakeBatch({.n_node = {5}}));
  CudaFeed feed = NewCudaFeed({});
  return RequireCode(absl::StatusCode::kInvalidArgument,
                     feed.Expand(batch, NewOnCard({.graphs = 1, .nodes = 4, .edges = 20})));
}

absl::Status FindsADifference() {
  std::mt19937_64 random(3);
  std::vector<std::int64_t> words(5000);
  for (std::int64_t& word : words) word = static_cast<std::int64_t>(random());
  const std::uint64_t checksum =
      WordChecksum({reinterpret_cast<const std::uint64_t*>(words.data()), words.size()});
  const at::Tensor on_card = at::tensor(words, at::kLong).to(Card());
  const at::Tensor tally = at::zeros({2}, at::kLong).to(Card());
  const auto check = [&] {
    C10_CUDA_CHECK(CheckWords(static_cast<const std::uint64_t*>(on_card.const_data_ptr()), words.size(),
                              checksum, static_cast<ChecksumTally*>(tally.mutable_data_ptr()),
                              c10::cuda::getCurrentCUDAStream()));
  };
  check();
  on_card[4321] += 1;
  check();
  return RequireEqual("the tally", tally.cpu(), at::tensor({2, 1}, at::kLong));
}

// Sends `samples` in turn, and keeps the card from time to time so busy that the host gets ahead of it.
absl::Status CheckManyBatches(const std::vector<SampleBatch>& samples, std::size_t slots) {
  CudaFeed feed = NewCudaFeed({.slots = slots, .with_checks = true});
  std::vector<wire::Batch> batches;
  std::vector<GraphTensors> outs;
  for (const SampleBatch& sample : samples) {
    ABSL_ASSIGN_OR_RETURN(wire::Batch batch, MakeBatch(sample));
    outs.push_back(NewOnCard(batch.header().padded));
    batches.push_back(std::move(batch));
  }
  const at::Tensor load = at::empty({1 << 26}, at::TensorOptions(Card()).dtype(at::kFloat));
  for (std::uint64_t i = 0; i < kManyBatches; ++i) {
    const std::size_t turn = i % batches.size();
    if (i % 100 == 0) load.fill_(0);
    ABSL_RETURN_IF_ERROR(feed.Expand(batches[turn], outs[turn]));
  }
  for (std::size_t turn = 0; turn < batches.size(); ++turn) {
    ABSL_RETURN_IF_ERROR(RequireExpanded(batches[turn], outs[turn], SampleFeed()));
  }
  const absl::StatusOr<std::uint64_t> verified = feed.VerifiedBatches();
  if (!verified.ok() || *verified == kManyBatches) return verified.status();
  return absl::InternalError(absl::StrCat(*verified, " batches verified of ", kManyBatches));
}

absl::Status TinyBatchesInOneSlot() {
  std::mt19937 random(11);
  std::vector<SampleBatch> samples;
  for (std::uint32_t seed = 0; seed < 37; ++seed) {
    samples.push_back({.n_node = Sizes(1 + seed % 3, 1, 5, random), .padding = {1, 8, 16}, .seed = seed});
  }
  return CheckManyBatches(samples, 1);
}

absl::Status ManySizesInFourSlots() {
  std::mt19937 random(12);
  std::vector<SampleBatch> samples;
  for (std::uint32_t seed = 0; seed < 37; ++seed) {
    samples.push_back(
        {.n_node = Sizes(1 + random() % 256, 1, 29, random), .padding = {1, 8, 16}, .seed = seed});
    if (seed % 2 == 1) samples.back().endpoints = wire::DType::kU8;
  }
  return CheckManyBatches(samples, 4);
}

constexpr Check kChecks[] = {
    {"feed: full edges expand on the card as on the host", FullEdges},
    {"feed: edges sent as u8 expand as on the host", EdgesOfU8},
    {"feed: edges sent as u16 expand as on the host", EdgesOfU16},
    {"feed: edges sent as u32 expand as on the host", EdgesOfU32},
    {"feed: the inputs that are declared expand as on the host, and no others", FewerInputs},
    {"feed: an atom that the class table lacks is refused", RefusesUnknownAtoms},
    {"feed: tensors of another shape are refused", RefusesAnotherShape},
    {"feed: one word that differs changes the checksum", FindsADifference},
    {"feed: 100,000 tiny batches arrive unchanged through one slot", TinyBatchesInOneSlot},
    {"feed: 100,000 batches of many sizes arrive unchanged through four slots", ManySizesInFourSlots},
};

}  // namespace

std::span<const Check> FeedChecks() { return kChecks; }

}  // namespace packtrain::trainer
