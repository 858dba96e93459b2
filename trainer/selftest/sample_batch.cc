#include "trainer/selftest/sample_batch.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/wire/batch_check.h"
#include "trainer/data/input_fields.h"

namespace packtrain::trainer {
namespace {

constexpr std::uint32_t kMaxIncoming = 8;
constexpr std::size_t kColumns = 3;
constexpr std::size_t kFeatures = 2;
constexpr std::size_t kTokens = 1 << 16;
constexpr std::uint64_t kMaxBodyBytes = std::uint64_t{1} << 32;

using Random = std::mt19937;

// Edges local to their graphs, by receiver, then sender.
struct Edges {
  std::vector<std::uint32_t> n_edge;
  std::vector<std::uint32_t> senders;
  std::vector<std::uint32_t> receivers;
};

void AddIncoming(std::uint32_t receiver, std::uint32_t n_node, Random& random, Edges& edges) {
  const auto row = static_cast<std::ptrdiff_t>(edges.senders.size());
  for (std::uint32_t left = random() % (kMaxIncoming + 1); left > 0; --left) {
    edges.senders.push_back(random() % n_node);
    edges.receivers.push_back(receiver);
  }
  std::sort(edges.senders.begin() + row, edges.senders.end());
}

Edges StoredEdges(const std::vector<std::uint32_t>& n_node, Random& random) {
  Edges edges;
  for (const std::uint32_t n : n_node) {
    const std::size_t before = edges.senders.size();
    for (std::uint32_t receiver = 0; receiver < n; ++receiver) AddIncoming(receiver, n, random, edges);
    edges.n_edge.push_back(static_cast<std::uint32_t>(edges.senders.size() - before));
  }
  return edges;
}

Edges FullEdges(const std::vector<std::uint32_t>& n_node) {
  Edges edges;
  for (const std::uint32_t n : n_node) edges.n_edge.push_back(n * (n - 1));
  return edges;
}

template <typename T, typename Draw>
std::vector<T> Values(std::size_t size, Draw draw) {
  std::vector<T> values(size);
  std::generate(values.begin(), values.end(), draw);
  return values;
}

std::uint32_t Sum(const std::vector<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0u);
}

wire::Shape PaddedBy(const wire::Shape& real, const wire::Shape& padding) {
  return {real.graphs + padding.graphs, real.nodes + padding.nodes, real.edges + padding.edges};
}

// Grows section by section.
class Builder {
 public:
  Builder(const SampleBatch& sample, const Edges& edges) {
    header_.epoch_steps = 1;
    header_.empty = sample.n_node.empty();
    header_.real = {static_cast<std::uint32_t>(sample.n_node.size()), Sum(sample.n_node), Sum(edges.n_edge)};
    header_.padded = PaddedBy(header_.real, sample.padding);
    header_.edge_rule = sample.endpoints.has_value() ? wire::EdgeRule::kStored : wire::EdgeRule::kFull;
  }

  const wire::Shape& real() const { return header_.real; }

  template <typename T>
  void Add(std::string_view field, wire::DType dtype, std::uint64_t width, const std::vector<T>& values) {
    constexpr std::size_t kUnit = wire::kSectionAlignment;
    body_.resize((body_.size() + kUnit - 1) / kUnit * kUnit);
    std::vector<std::uint64_t> dims = {values.size() / width};
    if (width > 1) dims.push_back(width);
    header_.sections.push_back(
        {std::string(field), dtype, std::move(dims), body_.size(), values.size() * sizeof(T)});
    const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    body_.insert(body_.end(), bytes.begin(), bytes.end());
  }

  void AddEndpoints(std::string_view field, wire::DType dtype, const std::vector<std::uint32_t>& values) {
    if (dtype == wire::DType::kU8) {
      Add(field, dtype, 1, std::vector<std::uint8_t>(values.begin(), values.end()));
    } else if (dtype == wire::DType::kU16) {
      Add(field, dtype, 1, std::vector<std::uint16_t>(values.begin(), values.end()));
    } else {
      Add(field, dtype, 1, values);
    }
  }

  absl::StatusOr<wire::Batch> Build() {
    header_.body_bytes = body_.size();
    ABSL_RETURN_IF_ERROR(wire::CheckHeader(header_, kMaxBodyBytes));
    wire::AlignedBytes body = wire::AllocateAligned(body_.size());
    std::copy(body_.begin(), body_.end(), body.get());
    wire::Batch batch(std::move(header_), {}, std::move(body));
    ABSL_RETURN_IF_ERROR(wire::CheckContent(batch));
    return batch;
  }

 private:
  wire::BatchHeader header_;
  std::vector<std::byte> body_;
};

void AddFields(Builder& builder, Random& random) {
  const auto number = [&] { return static_cast<std::uint8_t>(random()); };
  const auto place = [&] { return static_cast<float>(random() % 20'000) / 1000 - 10; };
  const auto shift = [&] { return static_cast<std::int32_t>(random() % 5) - 2; };
  const auto token = [&] { return static_cast<std::uint16_t>(random()); };
  const auto flag = [&] { return static_cast<std::uint8_t>(random() % 2); };
  const auto target = [&] {
    return random() % 4 == 0 ? std::numeric_limits<double>::quiet_NaN() : random() % 100'000 / 7.0 - 5000;
  };
  const std::size_t graphs = builder.real().graphs, nodes = builder.real().nodes, edges = builder.real().edges;
  builder.Add("z", wire::DType::kU8, 1, Values<std::uint8_t>(nodes, number));
  builder.Add("pos", wire::DType::kF32, 3, Values<float>(3 * nodes, place));
  builder.Add(kTargetField, wire::DType::kF64, kColumns, Values<double>(kColumns * graphs, target));
  builder.Add("cell", wire::DType::kF32, 9, Values<float>(9 * graphs, place));
  builder.Add("shift", wire::DType::kI32, 3, Values<std::int32_t>(3 * edges, shift));
  builder.Add("token", wire::DType::kU16, 1, Values<std::uint16_t>(nodes, token));
  builder.Add("x", wire::DType::kU16, kFeatures, Values<std::uint16_t>(kFeatures * nodes, token));
  builder.Add("edge_attr", wire::DType::kF32, kFeatures, Values<float>(kFeatures * edges, place));
  builder.Add("edge_type", wire::DType::kU8, 1, Values<std::uint8_t>(edges, number));
  for (const std::string_view field : {"is_slot", "is_candidate", "is_target"}) {
    builder.Add(field, wire::DType::kU8, 1, Values<std::uint8_t>(nodes, flag));
  }
}

}  // namespace

absl::StatusOr<wire::Batch> MakeBatch(const SampleBatch& sample) {
  Random random(sample.seed);
  const Edges edges = sample.endpoints ? StoredEdges(sample.n_node, random) : FullEdges(sample.n_node);
  Builder builder(sample, edges);
  builder.Add(wire::kGraphIndexSection, wire::DType::kU64, 1, std::vector<std::uint64_t>(sample.n_node.size()));
  builder.Add(wire::kNodeCountSection, wire::DType::kU32, 1, sample.n_node);
  builder.Add(wire::kEdgeCountSection, wire::DType::kU32, 1, edges.n_edge);
  if (sample.endpoints.has_value()) {
    builder.AddEndpoints(wire::kSendersSection, *sample.endpoints, edges.senders);
    builder.AddEndpoints(wire::kReceiversSection, *sample.endpoints, edges.receivers);
  }
  AddFields(builder, random);
  return builder.Build();
}

FeedOptions SampleFeed() {
  FeedOptions feed = {
      .layout = {.inputs = {Input::kAtomicNumbers, Input::kTokens, Input::kPositions, Input::kCells,
                            Input::kNodeFeatures, Input::kEdgeFeatures, Input::kEdgeTypes, Input::kCandidates,
                            Input::kTargets},
                 .sizes = {.classes = 256,
                           .node_features = kFeatures,
                           .edge_features = kFeatures,
                           .edge_types = 2 * 256,
                           .targets = 2}},
      .targets =
          {{.name = "second", .unit = "eV", .column = 1, .columns = kColumns, .mean = 1.25, .scale = 3.7},
           {.name = "first", .unit = "D", .column = 0, .columns = kColumns, .mean = -2, .scale = 0.3}},
      .token_classes = {.of_token = std::vector<std::int32_t>(kTokens)}};
  std::iota(feed.classes.rbegin(), feed.classes.rend(), 0);
  return feed;
}

}  // namespace packtrain::trainer
