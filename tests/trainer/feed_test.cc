#include <gmock/gmock.h>
#include <torch/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/proto/wire/sample_batches.h"
#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "trainer/data/host_feed.h"
#include "trainer/data/streamed_batches.h"
#include "trainer/data/synthetic_batches.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr wire::Shape kPadded = {.graphs = 6, .nodes = 64, .edges = 64};

// A hydrogen molecule, with a row too many in `field`.
wire::Batch Hydrogen(const std::string& field) {
  testing::PlainBatch batch = testing::CountsOf({2}, {2}, wire::EdgeRule::kFull);
  const auto rows = [&](const std::string& of, std::uint64_t number) {
    return of == field ? number + 1 : number;
  };
  const std::uint64_t z = rows("z", 2), pos = rows("pos", 2), y = rows("y", 1);
  batch.AddSection("z", wire::DType::kU8, {z}, std::vector<std::uint8_t>(z, 1));
  batch.AddSection("pos", wire::DType::kF32, {pos, 3}, std::vector<float>(3 * pos, 0.5f));
  batch.AddSection("y", wire::DType::kF64, {y, 2}, std::vector<double>(2 * y, -4.478));
  return batch.Unchecked();
}

absl::Status Expand(const wire::Batch& batch) {
  return HostFeed(testing::MoleculesFeed())
      .Expand(batch, NewGraphTensors(batch.header().padded, testing::MoleculesLayout(), at::kCPU));
}

TEST(HostFeed, RefusesAFieldOfAnotherShape) {
  EXPECT_THAT(Expand(Hydrogen("")), IsOk());
  for (const std::string field : {"z", "pos", "y"}) {
    EXPECT_THAT(Expand(Hydrogen(field)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("shape of field '" + field + "'")));
  }
}

// The members of `graphs` that are there, but for the topology.
std::vector<std::string> InputsOf(const GraphTensors& graphs) {
  const GraphTensors topology = NewGraphTensors({}, {}, at::kCPU);
  std::vector<std::string> names;
  for (const GraphMember& member : GraphMembers()) {
    if ((graphs.*member.tensor).defined() && !(topology.*member.tensor).defined())
      names.emplace_back(member.name);
  }
  return names;
}

GraphTensors BroughtFor(InputSet inputs) {
  return testing::TensorsOf(testing::BatchOf(testing::Molecules(), kPadded),
                            {.inputs = inputs, .sizes = testing::MoleculesSizes()});
}

TEST(HostFeed, BringsTheInputsThatAreDeclaredAndNoOthers) {
  EXPECT_THAT(InputsOf(BroughtFor({})), IsEmpty());
  EXPECT_THAT(InputsOf(BroughtFor({Input::kAtomicNumbers})), ElementsAre("classes"));
  EXPECT_THAT(InputsOf(BroughtFor({Input::kTokens})), ElementsAre("tokens"));
  EXPECT_THAT(InputsOf(BroughtFor({Input::kPositions})), ElementsAre("positions"));
  EXPECT_THAT(InputsOf(BroughtFor({Input::kCells})), ElementsAre("cells", "shifts"));
  EXPECT_THAT(InputsOf(BroughtFor({Input::kNodeFeatures, Input::kEdgeTypes})),
              ElementsAre("node_features", "edge_types"));
  EXPECT_THAT(InputsOf(BroughtFor({Input::kEdgeFeatures})), ElementsAre("edge_features"));
  EXPECT_THAT(InputsOf(BroughtFor({Input::kCandidates})), ElementsAre("is_slot", "is_candidate", "is_target"));
  EXPECT_THAT(InputsOf(BroughtFor({Input::kTargets})), ElementsAre("targets", "weights"));
  EXPECT_THAT(InputsOf(BroughtFor({Input::kDegrees})), IsEmpty());
}

// Water is the third molecule: nodes 3 to 5, edges 2 to 7, the oxygen first.
TEST(HostFeed, FillsEachInputAndClearsItsPadding) {
  const GraphTensors graphs =
      BroughtFor({Input::kAtomicNumbers, Input::kTokens, Input::kCells, Input::kNodeFeatures,
                  Input::kEdgeFeatures, Input::kEdgeTypes, Input::kCandidates});
  EXPECT_TRUE(graphs.classes.narrow(0, 3, 3).equal(at::tensor({3, 0, 0}, at::kInt)));
  EXPECT_TRUE(graphs.tokens.narrow(0, 3, 3).equal(at::tensor({8, 2, 1}, at::kInt)));
  EXPECT_TRUE(graphs.cells[2].diagonal().equal(at::tensor({6.0f, 7.0f, 8.0f})));
  EXPECT_TRUE(
      graphs.node_features.narrow(0, 3, 3).equal(at::tensor({8, 0, 1, 1, 1, -1}, at::kInt).view({3, 2})));
  EXPECT_TRUE(graphs.is_slot.narrow(0, 3, 3).equal(at::tensor({1, 0, 0}, at::kInt)));
  EXPECT_TRUE(graphs.is_candidate.narrow(0, 3, 3).equal(at::tensor({0, 1, 1}, at::kInt)));
  EXPECT_TRUE(graphs.is_target.narrow(0, 3, 3).equal(at::tensor({0, 1, 0}, at::kInt)));
  // From the first hydrogen to the oxygen: (1 + 2 * 8) % 4.
  EXPECT_EQ(graphs.edge_types[2].item<int>(), 1);
  EXPECT_TRUE(graphs.shifts[2].equal(at::tensor({0, 0, 1}, at::kInt)));
  EXPECT_TRUE(graphs.edge_features[2].equal(at::tensor({0.125f, 8 - 0.7572f})));
  for (const at::Tensor& of_nodes : {graphs.classes, graphs.tokens, graphs.node_features, graphs.is_slot,
                                     graphs.is_candidate, graphs.is_target}) {
    EXPECT_FALSE(of_nodes.narrow(0, 15, 64 - 15).any().item<bool>());
  }
  for (const at::Tensor& of_edges : {graphs.edge_types, graphs.edge_features, graphs.shifts}) {
    EXPECT_FALSE(of_edges.narrow(0, 40, 64 - 40).any().item<bool>());
  }
}

// A hydrogen molecule whose nodes have `x` of this type.
template <typename T>
wire::Batch HydrogenOf(wire::DType dtype, const std::vector<T>& x) {
  testing::PlainBatch batch = testing::CountsOf({2}, {2}, wire::EdgeRule::kFull);
  batch.AddSection("x", dtype, {2, 1}, x);
  return batch.Unchecked();
}

TEST(HostFeed, TakesIntegersOfEachWidth) {
  const InputLayout layout = {.inputs = {Input::kNodeFeatures}, .sizes = {.node_features = 1}};
  const auto features = [&](const wire::Batch& batch) {
    return testing::TensorsOf(batch, layout).node_features.narrow(0, 0, 2);
  };
  EXPECT_TRUE(features(HydrogenOf<std::uint8_t>(wire::DType::kU8, {200, 7}))
                  .equal(at::tensor({200, 7}, at::kInt).view({2, 1})));
  EXPECT_TRUE(features(HydrogenOf<std::uint16_t>(wire::DType::kU16, {60'000, 7}))
                  .equal(at::tensor({60'000, 7}, at::kInt).view({2, 1})));
  EXPECT_TRUE(features(HydrogenOf<std::int32_t>(wire::DType::kI32, {-70'000, 7}))
                  .equal(at::tensor({-70'000, 7}, at::kInt).view({2, 1})));
  const wire::Batch of_floats = HydrogenOf<float>(wire::DType::kF32, {1, 7});
  HostFeed feed({.layout = layout});
  EXPECT_THAT(feed.Expand(of_floats, NewGraphTensors(of_floats.header().padded, layout, at::kCPU)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("type or shape of field 'x'")));
}

TEST(HostFeed, RefusesTokensAndEdgeTypesBeyondThoseThatThereAre) {
  const wire::Batch batch = testing::BatchOf(testing::Molecules());
  const auto expand = [&](const FeedOptions& options) {
    HostFeed feed(options);
    return feed.Expand(batch, NewGraphTensors(batch.header().padded, options.layout, at::kCPU));
  };
  const std::vector<std::int32_t> eight(8), nine(9);
  const auto of_tokens = [](const std::vector<std::int32_t>& classes) {
    return FeedOptions{.layout = {.inputs = {Input::kTokens}},
                       .token_classes = {.of_token = classes, .count = 1}};
  };
  EXPECT_THAT(expand(of_tokens(nine)), IsOk());
  EXPECT_THAT(
      expand(of_tokens(eight)),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("holds 8 in field 'token', where 0 to 7 are known")));
  const auto of_types = [](std::int64_t types) {
    return FeedOptions{.layout = {.inputs = {Input::kEdgeTypes}, .sizes = {.edge_types = types}}};
  };
  EXPECT_THAT(expand(of_types(8)), IsOk());
  EXPECT_THAT(expand(of_types(7)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("holds 3 in field 'edge_type', where 0 to 2")));
}

TEST(HostFeed, RefusesTensorsOfAnotherShape) {
  HostFeed feed(testing::MoleculesFeed());
  EXPECT_THAT(feed.Expand(testing::BatchOf(testing::Molecules(), kPadded),
                          NewGraphTensors({.graphs = 6, .nodes = 63, .edges = 64}, testing::MoleculesLayout(),
                                          at::kCPU)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("another padded shape")));
}

// Counts batches up, and says in each one's targets which it is; fails instead of batch `end`.
class CountingSource final : public TrainingBatches {
 public:
  CountingSource(std::uint64_t epoch_steps, std::uint64_t end) : end_(end) {
    header_.epoch_steps = epoch_steps;
  }

  absl::Status Next() override {
    if (cancelled_) return absl::CancelledError("cancelled");
    if (batches_ == end_) return absl::UnavailableError("the server is gone");
    header_.epoch = batches_ / header_.epoch_steps;
    header_.step = batches_ % header_.epoch_steps;
    header_.index = 2 * header_.step;
    header_.real.graphs = static_cast<std::uint32_t>(batches_);
    header_.padded = ShapeOf(batches_++);
    return absl::OkStatus();
  }
  const wire::BatchHeader& header() const override { return header_; }
  const wire::BatchTiming& timing() const override { return timing_; }
  absl::Status Expand(const GraphTensors& out) override {
    out.targets.fill_(static_cast<double>(batches_ - 1));
    return absl::OkStatus();
  }
  void Cancel() override { cancelled_ = true; }

  // Shapes a, b, a, b, ...
  static wire::Shape ShapeOf(std::uint64_t batch) {
    wire::Shape shape = kPadded;
    shape.edges += batch % 2 == 0 ? 0 : 64;
    return shape;
  }

  std::uint64_t batches() const { return batches_; }
  bool cancelled() const { return cancelled_; }

 private:
  const std::uint64_t end_;
  const wire::BatchTiming timing_{1, 1};
  wire::BatchHeader header_;
  std::uint64_t batches_ = 0;
  bool cancelled_ = false;
};

struct Synthetic {
  explicit Synthetic(std::uint64_t epoch_steps, std::uint64_t end = 1000,
                     std::size_t max_batches = SyntheticBatches::kMaxBatches) {
    auto owned = std::make_unique<CountingSource>(epoch_steps, end);
    source = owned.get();
    batches =
        std::make_unique<SyntheticBatches>(std::move(owned), testing::MoleculesLayout(), at::kCPU, max_batches);
  }

  // In new tensors.
  GraphTensors NewTensors() const {
    return NewGraphTensors(batches->header().padded, testing::MoleculesLayout(), at::kCPU);
  }
  float Target() const {
    const GraphTensors out = NewTensors();
    EXPECT_THAT(batches->Expand(out), IsOk());
    return out.targets[5].item<float>();
  }

  CountingSource* source;
  std::unique_ptr<SyntheticBatches> batches;
};

TEST(SyntheticBatches, ServesTheFirstBatchesRoundByRound) {
  Synthetic synthetic(3);
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_THAT(synthetic.batches->Next(), IsOk());
    const wire::BatchHeader& header = synthetic.batches->header();
    EXPECT_EQ(header.epoch, i / 3);
    EXPECT_EQ(header.step, i % 3);
    EXPECT_EQ(header.index, 2 * (i % 3));
    EXPECT_EQ(header.padded, CountingSource::ShapeOf(i % 3));
    EXPECT_EQ(header.real.graphs, i % 3);
    EXPECT_EQ(synthetic.batches->timing().build_ns, 0);
    EXPECT_EQ(synthetic.Target(), static_cast<float>(i % 3));
  }
  EXPECT_EQ(synthetic.source->batches(), 3);
  EXPECT_TRUE(synthetic.source->cancelled());
}

TEST(SyntheticBatches, AStepThatReadsInPlaceFindsEachBatchWhereItWas) {
  Synthetic synthetic(4);
  std::vector<const GraphTensors*> first;
  for (std::size_t step = 0; step < 12; ++step) {
    ASSERT_THAT(synthetic.batches->Next(), IsOk());
    const GraphTensors* resident = synthetic.batches->resident();
    ASSERT_NE(resident, nullptr);
    if (step < 4) {
      EXPECT_THAT(first, Not(Contains(resident)));
      first.push_back(resident);
    }
    EXPECT_EQ(resident, first[step % 4]);
    EXPECT_EQ(resident->senders.size(0), synthetic.batches->header().padded.edges);
    EXPECT_EQ(resident->targets[5].item<float>(), static_cast<float>(step % 4));
  }
}

TEST(SyntheticBatches, KeepsAsManyAsItIsTold) {
  Synthetic synthetic(100, 1000, /*max_batches=*/2);
  for (std::uint64_t i = 0; i < 5; ++i) {
    ASSERT_THAT(synthetic.batches->Next(), IsOk());
    EXPECT_EQ(synthetic.batches->header().step, i % 2);
  }
  EXPECT_EQ(synthetic.source->batches(), 2);
}

TEST(SyntheticBatches, KeepsTheFirstOfALongEpoch) {
  Synthetic synthetic(100);
  for (std::uint64_t i = 0; i <= SyntheticBatches::kMaxBatches; ++i)
    ASSERT_THAT(synthetic.batches->Next(), IsOk());
  EXPECT_EQ(synthetic.batches->header().step, 0);
  EXPECT_EQ(synthetic.batches->header().epoch, 1);
  EXPECT_EQ(synthetic.source->batches(), SyntheticBatches::kMaxBatches);
}

TEST(SyntheticBatches, FailsWithItsSource) {
  Synthetic synthetic(3, /*end=*/2);
  EXPECT_THAT(synthetic.batches->Next(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is gone")));
  EXPECT_THAT(synthetic.batches->Next(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is gone")));
}

TEST(StreamedBatches, ExpandsWhatIsStreamed) {
  HostFeed feed(testing::MoleculesFeed());
  StreamedBatches batches(testing::ReaderOf({testing::Molecules()}, absl::OkStatus()), feed);
  ASSERT_THAT(batches.Next(), IsOk());
  const GraphTensors out = NewGraphTensors(batches.header().padded, testing::MoleculesLayout(), at::kCPU);
  ASSERT_THAT(batches.Expand(out), IsOk());
  EXPECT_TRUE(out.weights.equal(at::tensor({1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0f}).unsqueeze(1)));
  EXPECT_THAT(batches.Next(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("has ended")));
}

}  // namespace
}  // namespace packtrain::trainer
