#include "server/batches/batch_sequence.h"

#include <gmock/gmock.h>

#include <limits>
#include <memory>
#include <vector>

#include "tests/server/batches/held_dataset.h"
#include "tests/server/batches/scenario.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::batches {
namespace {

using ::packtrain::testing::BodyOf;
using ::packtrain::testing::HeldDataset;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::kPlenty;
using ::packtrain::testing::NextBuilt;
using ::packtrain::testing::Scenario;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class BatchSequenceTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<BatchSequence>> Open(SequenceRange range) {
    return BatchSequence::Open(scenario_.Resolved(4), std::move(range), scenario_.Builder(), plans_, shared_,
                               *background_);
  }

  std::vector<BuiltBatch> ReadAll(BatchSequence& sequence) {
    std::vector<BuiltBatch> batches;
    while (true) {
      auto next = NextBuilt(sequence);
      EXPECT_THAT(next, IsOk());
      if (!next.ok() || !next->has_value()) return batches;
      batches.push_back(**std::move(next));
    }
  }

  Scenario scenario_{20};
  PlanCache plans_{kPlenty, scenario_.memory()};
  SharedBatches shared_{kPlenty, *scenario_.memory()};
  std::unique_ptr<WorkerPool> background_ = std::make_unique<WorkerPool>(1);
};

TEST_F(BatchSequenceTest, EndsAfterItsEpochs) {
  auto sequence = Open({.epochs = 3});
  ASSERT_THAT(sequence, IsOk());
  const std::vector<BuiltBatch> batches = ReadAll(**sequence);
  ASSERT_THAT(batches, SizeIs(15));
  EXPECT_EQ(batches[14].header.epoch, 2);
  EXPECT_EQ(batches[14].header.step, 4);
  EXPECT_THAT(NextBuilt(**sequence), IsOk());  // and stays at its end
}

TEST_F(BatchSequenceTest, SequencesOfOnePlanShareTheirBodies) {
  auto one = Open({.epochs = 2}), other = Open({.epochs = 2});
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(other, IsOk());
  const std::vector<BuiltBatch> batches = ReadAll(**one), same = ReadAll(**other);
  ASSERT_THAT(batches, SizeIs(10));
  ASSERT_THAT(same, SizeIs(10));
  for (std::size_t k = 0; k < batches.size(); ++k) EXPECT_EQ(same[k].body, batches[k].body) << k;
}

TEST_F(BatchSequenceTest, SequencesOfOtherWorldsShareNone) {
  auto one = Open({.epochs = 1}), other = Open({.world = {.size = 2}, .epochs = 1}),
       third = Open({.epochs = 1});
  ASSERT_THAT(other, IsOk());
  auto batch = NextBuilt(**one), of_other = NextBuilt(**other);
  ASSERT_THAT(of_other, IsOk());
  EXPECT_NE((**of_other).body, (**batch).body);
  EXPECT_EQ((**of_other).header.world_size, 2);
}

TEST_F(BatchSequenceTest, TheNextEpochIsPlannedWhileThisOneIsRead) {
  auto sequence = Open({.epochs = 2});
  ASSERT_THAT(sequence, IsOk());
  background_ = nullptr;  // what was posted has run
  EXPECT_EQ(plans_.planned(), 2);
}

// However long the next epoch takes to plan: this one's batches come, and then its own, without another plan.
TEST_F(BatchSequenceTest, PlanningTheNextEpochHoldsUpNoBatchOfThisOne) {
  ResolvedSpec source = scenario_.Resolved(4);
  const auto held = std::make_shared<HeldDataset>(source.dataset, /*free=*/1);
  source.dataset = held;
  auto sequence =
      BatchSequence::Open(source, {.epochs = 2}, scenario_.Builder(), plans_, shared_, *background_);
  ASSERT_THAT(sequence, IsOk());
  held->AwaitAsked();
  for (int batch = 0; batch < 5; ++batch) {
    auto next = NextBuilt(**sequence);
    ASSERT_THAT(next, IsOk());
    EXPECT_EQ((**next).header.epoch, 0);
  }
  EXPECT_EQ(plans_.planned(), 1);
  held->Release();
  background_ = nullptr;  // what was posted has run
  EXPECT_EQ(plans_.planned(), 2);
  auto first = NextBuilt(**sequence);
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ((**first).header.epoch, 1);
  EXPECT_EQ(plans_.planned(), 2);
}

TEST_F(BatchSequenceTest, NothingIsPlannedBehindTheLastEpoch) {
  for (std::uint64_t start_epoch : {std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()}) {
    auto sequence = Open({.start_epoch = start_epoch, .epochs = start_epoch == 0 ? 1u : 0u});
    ASSERT_THAT(sequence, IsOk());
    EXPECT_THAT(ReadAll(**sequence), SizeIs(5));
  }
  background_ = nullptr;
  EXPECT_EQ(plans_.planned(), 2);
}

TEST_F(BatchSequenceTest, APlanAboveTheCacheIsMadeAheadAndOnceForAllStreamsHoweverLateTheyCome) {
  PlanCache plans(/*max_bytes=*/0, scenario_.memory());
  const auto open = [&](std::uint32_t rank) {
    return BatchSequence::Open(scenario_.Resolved(4), {.rank = rank, .world = {.size = 3}, .epochs = 2},
                               scenario_.Builder(), plans, shared_, *background_);
  };
  std::vector<std::unique_ptr<BatchSequence>> streams;
  for (std::uint32_t rank = 0; rank < 3; ++rank) streams.push_back(*open(rank));
  background_ = nullptr;  // both plans are made
  EXPECT_EQ(plans.planned(), 2);
  streams[0] = nullptr;  // the first, for which they were made
  background_ = std::make_unique<WorkerPool>(1);
  streams[0] = *open(0);
  for (const auto& stream : streams) EXPECT_THAT(ReadAll(*stream), SizeIs(4));
  EXPECT_EQ(plans.planned(), 2);
  streams.clear();
  background_ = nullptr;
  EXPECT_EQ(scenario_.memory()->used_bytes(limits::MemoryPart::kPlans), 0);
}

TEST_F(BatchSequenceTest, NothingIsPlannedAheadForWhichThereIsNoMemory) {
  const auto budget = limits::MemoryBudget::Undivided(kPlenty);
  PlanCache plans(kPlenty, budget);
  const ResolvedSpec spec = scenario_.Resolved(4);
  const auto first = plans.Get(spec, 0, {});
  ASSERT_THAT(first, IsOk());
  const auto rest = budget->TryReserve(limits::MemoryPart::kStreams, kPlenty - budget->used_bytes());
  ASSERT_TRUE(rest.has_value());
  auto sequence = BatchSequence::Open(spec, {.epochs = 2}, scenario_.Builder(), plans, shared_, *background_);
  ASSERT_THAT(sequence, IsOk());
  background_ = nullptr;
  EXPECT_EQ(plans.planned(), 1);
  EXPECT_LE(budget->used_bytes(), budget->cap_bytes());
}

TEST_F(BatchSequenceTest, AnEpochWithoutAStepIsRefused) {
  v1::BatchSpec spec;
  spec.set_policy(v1::POLICY_STATIC);
  spec.set_graphs(20);
  spec.set_drop_last(true);
  EXPECT_THAT(BatchSequence::Open(scenario_.Resolved(spec), {.world = {.size = 2}}, scenario_.Builder(), plans_,
                                  shared_, *background_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--drop-last leaves no step")));
}

TEST_F(BatchSequenceTest, TheEndOfAnEpochIsTheBeginningOfTheNext) {
  auto at_end = Open({.start_step = 5, .epochs = 2});
  auto at_beginning = Open({.start_epoch = 1, .epochs = 1});
  const std::vector<BuiltBatch> a = ReadAll(**at_end);
  const std::vector<BuiltBatch> b = ReadAll(**at_beginning);
  ASSERT_THAT(a, SizeIs(5));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(BodyOf(a[i]), BodyOf(b[i]));
  EXPECT_THAT(ReadAll(**Open({.start_step = 5, .epochs = 1})), SizeIs(0));
}

// Five batches: two steps of two ranks, then one of three, of which two are empty.
TEST_F(BatchSequenceTest, AfterTheSegmentsTheStepsGoOnWithTheBatchesLeft) {
  const std::vector<BuiltBatch> unbroken = ReadAll(**Open({.epochs = 1}));
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    auto sequence =
        Open({.rank = rank, .world = {.size = 3, .segments = {{2, 2}}}, .start_step = 2, .epochs = 1});
    ASSERT_THAT(sequence, IsOk());
    const std::vector<BuiltBatch> batches = ReadAll(**sequence);
    ASSERT_THAT(batches, SizeIs(1));
    EXPECT_EQ(batches[0].header.step, 2);
    EXPECT_EQ(batches[0].header.index, 4 + rank);
    EXPECT_EQ(batches[0].header.world_size, 3);
    EXPECT_EQ(batches[0].header.epoch_steps, 3);
    EXPECT_EQ(batches[0].header.empty, rank > 0);
    EXPECT_EQ(BodyOf(batches[0]) == BodyOf(unbroken[4]), rank == 0);
  }
}

TEST_F(BatchSequenceTest, LaterEpochsKnowNothingOfTheSegments) {
  for (const wire::World& world : {wire::World{2, {{1, 1}}}, wire::World{2, {{3, 2}}}}) {
    auto later = Open({.world = world, .start_step = 2, .epochs = 2});
    ASSERT_THAT(later, IsOk());
    const std::vector<BuiltBatch> batches = ReadAll(**later);
    const std::vector<BuiltBatch> epoch =
        ReadAll(**Open({.world = {.size = 2}, .start_epoch = 1, .epochs = 1}));
    ASSERT_THAT(epoch, SizeIs(3));
    ASSERT_THAT(batches, SizeIs(::testing::Ge(3)));
    for (std::size_t k = 0; k < 3; ++k) {
      const BuiltBatch& batch = batches[batches.size() - 3 + k];
      EXPECT_EQ(batch.header.epoch, 1);
      EXPECT_EQ(batch.header.index, epoch[k].header.index);
      EXPECT_EQ(batch.header.epoch_steps, 3);
      EXPECT_EQ(BodyOf(batch), BodyOf(epoch[k]));
    }
  }
}

TEST_F(BatchSequenceTest, APositionInsideTheSegmentsIsRefused) {
  EXPECT_THAT(Open({.world = {.segments = {{2, 1}, {1, 1}}}, .start_step = 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 steps")));
}

TEST_F(BatchSequenceTest, PositionsOutsideAreRefused) {
  EXPECT_THAT(Open({.start_step = 6}), StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("5 steps")));
  EXPECT_THAT(Open({.rank = 1}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 1")));
}

TEST_F(BatchSequenceTest, AFailedReadEndsInItsCode) {
  for (std::uint64_t n = 0; n < 5; ++n) {
    auto sequence = Open({.epochs = 1});
    ASSERT_THAT(sequence, IsOk());
    scenario_.store().FailRead(n, absl::DataLossError("damaged"));
    for (std::uint64_t i = 0; i < n; ++i) EXPECT_THAT(NextBuilt(**sequence), IsOk());
    EXPECT_THAT(NextBuilt(**sequence), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("damaged")));
  }
}

}  // namespace
}  // namespace packtrain::batches
