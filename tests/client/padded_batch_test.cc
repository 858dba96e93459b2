#include "client/padded_batch.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "tests/proto/wire/sample_batches.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using packtrain::testing::EmptyBatch;
using packtrain::testing::FullBatch;
using packtrain::testing::IsOk;
using packtrain::testing::PlainBatch;
using packtrain::testing::StatusIs;
using packtrain::testing::StoredBatch;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using wire::DType;

constexpr std::int32_t kNotWritten = -77;

// Buffers of a padded shape, nothing in them written yet.
struct Buffers {
  explicit Buffers(const wire::Shape& shape)
      : senders(shape.edges, kNotWritten),
        receivers(shape.edges, kNotWritten),
        graph_of_node(shape.nodes, kNotWritten),
        n_node(shape.graphs, kNotWritten) {}
  PaddedTopology topology() { return {senders, receivers, graph_of_node, n_node}; }

  std::vector<std::int32_t> senders;
  std::vector<std::int32_t> receivers;
  std::vector<std::int32_t> graph_of_node;
  std::vector<std::int32_t> n_node;
};

Buffers Expanded(const PlainBatch& batch) {
  Buffers buffers(batch.header.padded);
  EXPECT_THAT(ExpandTopology(batch.Unchecked(), buffers.topology()), IsOk());
  return buffers;
}

std::vector<std::int32_t> First(const std::vector<std::int32_t>& values, std::size_t count) {
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::vector<std::int32_t> From(const std::vector<std::int32_t>& values, std::size_t start) {
  return {values.begin() + static_cast<std::ptrdiff_t>(start), values.end()};
}

TEST(ExpandTopology, MakesAllPairsByReceiverThenSender) {
  const Buffers out = Expanded(FullBatch({3, 1, 2}));
  EXPECT_THAT(First(out.receivers, 8), ElementsAre(0, 0, 1, 1, 2, 2, 4, 5));
  EXPECT_THAT(First(out.senders, 8), ElementsAre(1, 2, 0, 2, 0, 1, 5, 4));
}

// The plain form of full edges.
void AppendAllPairs(std::int32_t first, std::int32_t n, Buffers* out) {
  for (std::int32_t receiver = first; receiver < first + n; ++receiver) {
    for (std::int32_t sender = first; sender < first + n; ++sender) {
      if (sender == receiver) continue;
      out->senders.push_back(sender);
      out->receivers.push_back(receiver);
    }
  }
}

TEST(ExpandTopology, EqualsThePlainFormForGraphsOfEverySize) {
  std::vector<std::uint32_t> n_node;
  Buffers expected({});
  std::int32_t first = 0;
  for (std::int32_t n = 1; n <= 40; ++n) {
    n_node.push_back(static_cast<std::uint32_t>(n));
    AppendAllPairs(first, n, &expected);
    first += n;
  }
  PlainBatch batch = FullBatch(n_node);
  batch.header.padded = batch.header.real;
  const Buffers out = Expanded(batch);
  EXPECT_EQ(out.senders, expected.senders);
  EXPECT_EQ(out.receivers, expected.receivers);
}

TEST(ExpandTopology, WritesNothingBehindAShapeWithoutPadding) {
  PlainBatch batch = FullBatch({5});
  batch.header.padded = batch.header.real;
  Buffers larger({1, 5, 40});
  PaddedTopology out = larger.topology();
  out.senders = out.senders.first(20);
  out.receivers = out.receivers.first(20);
  ASSERT_THAT(ExpandTopology(batch.Unchecked(), out), IsOk());
  EXPECT_THAT(From(larger.senders, 20), Each(kNotWritten));
  EXPECT_THAT(From(larger.receivers, 20), Each(kNotWritten));
}

TEST(ExpandTopology, AddsTheNodeOffsetsToStoredEdgesOfEveryType) {
  for (DType endpoints : {DType::kU8, DType::kU16, DType::kU32}) {
    const Buffers out = Expanded(StoredBatch(endpoints));
    EXPECT_THAT(First(out.senders, 7), ElementsAre(1, 0, 2, 3, 2, 7, 5));
    EXPECT_THAT(First(out.receivers, 7), ElementsAre(0, 1, 1, 2, 3, 5, 7));
  }
}

TEST(ExpandTopology, GivesPaddingNodesToTheLastGraphSlot) {
  PlainBatch batch = FullBatch({3, 1, 2});
  batch.header.padded = {6, 10, 10};
  const Buffers out = Expanded(batch);
  EXPECT_THAT(out.graph_of_node, ElementsAre(0, 0, 0, 1, 2, 2, 5, 5, 5, 5));
  EXPECT_THAT(out.n_node, ElementsAre(3, 1, 2, 0, 0, 0));
}

TEST(ExpandTopology, SpreadsPaddingEdgesOverThePaddingNodesInTurn) {
  PlainBatch batch = FullBatch({3, 1, 2});
  batch.header.padded = {4, 9, 15};
  const Buffers out = Expanded(batch);
  EXPECT_THAT(From(out.senders, 8), ElementsAre(6, 7, 8, 6, 7, 8, 6));
  EXPECT_THAT(From(out.receivers, 8), ElementsAre(6, 7, 8, 6, 7, 8, 6));
}

TEST(ExpandTopology, TakesABatchOfGraphsWithoutEdges) {
  const Buffers out = Expanded(FullBatch({1, 1}));
  EXPECT_THAT(First(out.graph_of_node, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(out.n_node, ElementsAre(1, 1, 0));
}

TEST(ExpandTopology, MakesPaddingAloneOfAnEmptyBatch) {
  const Buffers out = Expanded(EmptyBatch());
  EXPECT_THAT(out.n_node, ElementsAre(0, 0));
  EXPECT_THAT(out.graph_of_node, Each(1));
  EXPECT_EQ(std::set<std::int32_t>(out.senders.begin(), out.senders.end()).size(), 64u);
}

TEST(ExpandTopology, TakesAnEmptyBatchWithoutPadding) {
  PlainBatch batch = EmptyBatch();
  batch.header.padded = {};
  EXPECT_THAT(Expanded(batch).senders, ElementsAre());
}

TEST(ExpandTopology, RefusesBuffersOfAnotherShape) {
  const PlainBatch batch = FullBatch({3, 1, 2});
  const wire::Shape good = batch.header.padded;
  const auto expand_into = [&](const wire::Shape& shape) {
    Buffers buffers(shape);
    return ExpandTopology(batch.Unchecked(), buffers.topology());
  };
  EXPECT_THAT(expand_into(good), IsOk());
  EXPECT_THAT(expand_into({good.graphs + 1, good.nodes, good.edges}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a buffer of 5 for n_node")));
  EXPECT_THAT(expand_into({good.graphs, good.nodes - 1, good.edges}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a buffer of 63 for graph_of_node")));
  EXPECT_THAT(expand_into({good.graphs, good.nodes, good.edges - 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a buffer of 63 for senders")));
}

TEST(ExpandField, CopiesRealRowsAndClearsPadding) {
  const PlainBatch batch = StoredBatch(DType::kU8);
  std::vector<std::uint8_t> z(batch.header.padded.nodes, 0xff);
  ASSERT_THAT(ExpandField(batch.Unchecked(), "z", std::as_writable_bytes(std::span(z))), IsOk());
  std::vector<std::uint8_t> expected{6, 1, 1, 8, 2, 7, 1, 1};
  expected.resize(64);
  EXPECT_THAT(z, ElementsAreArray(expected));
}

TEST(ExpandField, TakesRowsOfSeveralElements) {
  const PlainBatch batch = FullBatch({1, 1});
  std::vector<float> pos(batch.header.padded.nodes * 3, -1.0f);
  ASSERT_THAT(ExpandField(batch.Unchecked(), "pos", std::as_writable_bytes(std::span(pos))), IsOk());
  EXPECT_THAT(std::vector<float>(pos.begin(), pos.begin() + 8),
              ElementsAre(0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 0, 0));
}

TEST(ExpandField, KnowsAGraphFieldByItsBufferWhereEachGraphIsOneNode) {
  const PlainBatch batch = FullBatch({1, 1});
  std::vector<double> y(batch.header.padded.graphs, 9.0);
  ASSERT_THAT(ExpandField(batch.Unchecked(), "y", std::as_writable_bytes(std::span(y))), IsOk());
  EXPECT_THAT(y, ElementsAre(-76.25, -75.25, 0));
}

TEST(ExpandField, ClearsEverythingForAnEmptyBatch) {
  std::vector<float> pos(64 * 3, 1.0f);
  ASSERT_THAT(ExpandField(EmptyBatch().Unchecked(), "pos", std::as_writable_bytes(std::span(pos))), IsOk());
  EXPECT_THAT(pos, Each(0.0f));
}

TEST(ExpandField, RefusesUnknownFieldsAndOtherSizes) {
  const wire::Batch batch = FullBatch({3, 1}).Unchecked();
  std::vector<std::byte> bytes(3 * 8 - 1);
  EXPECT_THAT(ExpandField(batch, "charge", bytes), StatusIs(absl::StatusCode::kNotFound, HasSubstr("charge")));
  EXPECT_THAT(ExpandField(batch, "y", bytes), StatusIs(absl::StatusCode::kInvalidArgument,
                                                       HasSubstr("a buffer of 23 bytes for section \"y\"")));
}

}  // namespace
}  // namespace packtrain::client
