#include "server/batches/corrupt_graphs.h"

#include <gmock/gmock.h>

#include <cstring>
#include <memory>
#include <vector>

#include "proto/wire/batch_check.h"
#include "server/batches/batch_sequence.h"
#include "tests/server/batches/scenario.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::batches {
namespace {

using ::packtrain::testing::BodyOf;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::kPlenty;
using ::packtrain::testing::NextBuilt;
using ::packtrain::testing::Scenario;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Five batches an epoch, of graphs 0 to 3, 4 to 7, ..., which have 1 to 5 nodes over and over.
class CorruptGraphsTest : public ::testing::Test {
 protected:
  std::unique_ptr<BatchSequence> Open(bool skip_corrupt) {
    auto sequence = BatchSequence::Open(scenario_.Resolved(4), {.epochs = 1, .skip_corrupt = skip_corrupt},
                                        scenario_.Builder(), plans_, shared_, background_);
    EXPECT_THAT(sequence, IsOk());
    return *std::move(sequence);
  }

  std::vector<BuiltBatch> ReadAll(bool skip_corrupt = true) {
    const auto sequence = Open(skip_corrupt);
    std::vector<BuiltBatch> batches;
    for (auto next = NextBuilt(*sequence); next.ok() && next->has_value(); next = NextBuilt(*sequence)) {
      batches.push_back(**std::move(next));
    }
    return batches;
  }

  static std::vector<std::uint64_t> GraphsOf(const BuiltBatch& batch) {
    std::vector<std::uint64_t> graphs(batch.header.real.graphs);
    if (!graphs.empty()) std::memcpy(graphs.data(), batch.body.get(), graphs.size() * sizeof(graphs[0]));
    return graphs;
  }

  Scenario scenario_{20};
  PlanCache plans_{kPlenty, scenario_.memory()};
  SharedBatches shared_{kPlenty, *scenario_.memory()};
  WorkerPool background_{1};
};

TEST_F(CorruptGraphsTest, EachIsFoundByItself) {
  scenario_.store().Damage({5, 12});
  const auto dataset = *scenario_.store().Open("molecules");
  EXPECT_THAT(*FindCorrupt(*dataset, std::vector<std::uint32_t>{12, 3, 5, 6}), ElementsAre(5, 12));
  EXPECT_THAT(*FindCorrupt(*dataset, std::vector<std::uint32_t>{1, 2}), IsEmpty());
}

TEST_F(CorruptGraphsTest, ABatchComesWithoutThemInItsPlace) {
  const std::vector<BuiltBatch> whole = ReadAll();
  scenario_.store().Damage({5, 6});
  const std::vector<BuiltBatch> batches = ReadAll();
  ASSERT_THAT(batches, SizeIs(5));
  const wire::BatchHeader& header = batches[1].header;
  EXPECT_THAT(header.corrupt_graphs, ElementsAre(5, 6));
  EXPECT_THAT(GraphsOf(batches[1]), ElementsAre(4, 7));
  EXPECT_EQ(header.real, (wire::Shape{2, 5 + 3, 20 + 6}));
  EXPECT_EQ(header.padded, whole[1].header.padded);
  EXPECT_EQ(header.index, 1u);
  EXPECT_EQ(header.step, 1u);
  EXPECT_EQ(header.epoch_steps, 5u);
  EXPECT_EQ(header.fingerprint, whole[1].header.fingerprint);
  EXPECT_FALSE(header.empty);
  EXPECT_THAT(wire::CheckHeader(header, kPlenty), IsOk());
}

TEST_F(CorruptGraphsTest, BatchesThatHoldNoneAreThoseOfAWholeStore) {
  const std::vector<BuiltBatch> whole = ReadAll();
  scenario_.store().Damage({5, 6});
  const std::vector<BuiltBatch> batches = ReadAll();
  ASSERT_THAT(batches, SizeIs(5));
  for (const std::size_t k : {0, 2, 3, 4}) {
    EXPECT_THAT(batches[k].header.corrupt_graphs, IsEmpty());
    EXPECT_EQ(BodyOf(batches[k]), BodyOf(whole[k])) << k;
  }
}

TEST_F(CorruptGraphsTest, ABatchOfWhichNothingIsLeftIsEmpty) {
  scenario_.store().Damage({4, 5, 6, 7});
  const std::vector<BuiltBatch> batches = ReadAll();
  ASSERT_THAT(batches, SizeIs(5));
  EXPECT_TRUE(batches[1].header.empty);
  EXPECT_EQ(batches[1].header.real, wire::Shape());
  EXPECT_EQ(batches[1].header.body_bytes, 0u);
  EXPECT_THAT(batches[1].header.corrupt_graphs, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(wire::CheckHeader(batches[1].header, kPlenty), IsOk());
}

TEST_F(CorruptGraphsTest, WithoutASkipTheMessageNamesTheGraphAndTheFlag) {
  scenario_.store().Damage({5});
  const auto sequence = Open(/*skip_corrupt=*/false);
  EXPECT_THAT(NextBuilt(*sequence), IsOk());
  EXPECT_THAT(NextBuilt(*sequence),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("data set molecules, graph 5"), HasSubstr("--on-corrupt skip"))));
}

// The first read is that of the whole batch, those behind it look at its graphs one by one.
TEST_F(CorruptGraphsTest, ADiskThatDoesNotAnswerStillEndsTheStream) {
  scenario_.store().Damage({2});
  for (std::uint64_t read = 0; read < 5; ++read) {
    const auto sequence = Open(/*skip_corrupt=*/true);
    scenario_.store().FailRead(read, absl::UnavailableError("input/output error"));
    EXPECT_THAT(NextBuilt(*sequence), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("input/output error")))
        << read;
  }
}

TEST_F(CorruptGraphsTest, AStreamThatStopsSharesNothingWithOneThatSkips) {
  scenario_.store().Damage({1});
  const auto skips = Open(/*skip_corrupt=*/true), skips_too = Open(/*skip_corrupt=*/true);
  const auto stops = Open(/*skip_corrupt=*/false), stops_too = Open(/*skip_corrupt=*/false);
  const auto skipped = NextBuilt(*skips);
  ASSERT_THAT(skipped, IsOk());
  EXPECT_THAT((*skipped)->header.corrupt_graphs, ElementsAre(1));
  EXPECT_THAT(NextBuilt(*stops), StatusIs(absl::StatusCode::kDataLoss));
  const auto again = NextBuilt(*skips_too);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ((*again)->body, (*skipped)->body);
  EXPECT_THAT((*again)->header.corrupt_graphs, ElementsAre(1));
}

}  // namespace
}  // namespace packtrain::batches
