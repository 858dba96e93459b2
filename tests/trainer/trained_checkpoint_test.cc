// Checkpoints of models that train.
#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/trainer/molecules.h"
#include "tests/trainer/trainee.h"
#include "tests/trainer/two_ranks.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/run/rank_checkpoints.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::Molecules;
using packtrain::testing::StatusIs;
using packtrain::testing::WithTwoRanks;
using ::testing::HasSubstr;

// After `steps` steps, with one unsent record of `rank`, whose number is the rank.
Checkpoint CheckpointOf(std::uint32_t rank, std::uint64_t steps) {
  wire::StepRecord record;
  record.step = rank;
  Checkpoint checkpoint;
  checkpoint.position.steps = steps;
  checkpoint.totals.graphs = 10 + rank;
  checkpoint.unsent.steps = {{.rank = rank, .attempt = 7, .steps = {record}}};
  return checkpoint;
}

TEST(Checkpoint, ARestoredModelGoesOnBitByBit) {
  const wire::Batch graphs = PaddedBatch(Molecules());
  Trainee unbroken(Alone()), resumed(Alone());
  for (int step = 0; step < 3; ++step) ASSERT_THAT(unbroken.Step(graphs), IsOk());
  const testing::TempFolder temporary;
  const std::optional<CheckpointFolder> folder = CheckpointFolder::Open(temporary.PathOf("")).value();
  ASSERT_THAT(
      SaveCheckpoint(CheckpointOf(0, 3), unbroken.parameters(), unbroken.adam(), folder, unbroken.sync()),
      IsOk());
  const absl::StatusOr<std::optional<Checkpoint>> checkpoint = LoadCheckpoint(folder, resumed.sync());
  ASSERT_THAT(checkpoint, IsOk());
  ASSERT_THAT(RestoreModel(**checkpoint, resumed.parameters(), resumed.adam()), IsOk());
  for (int step = 0; step < 3; ++step) ASSERT_THAT(unbroken.Step(graphs), IsOk());
  for (int step = 0; step < 3; ++step) ASSERT_THAT(resumed.Step(graphs), IsOk());
  EXPECT_EQ(resumed.parameters().Checksum(), unbroken.parameters().Checksum());
}

TEST(Checkpoint, OfAnotherModelIsRefused) {
  Trainee trainee(Alone());
  Checkpoint checkpoint;
  checkpoint.parameters = {1, 2};
  EXPECT_THAT(RestoreModel(checkpoint, trainee.parameters(), trainee.adam()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("has 2 parameters")));
}

TEST(TwoRanks, KeepOneCheckpointOfBoth) {
  const testing::TempFolder temporary;
  WithTwoRanks(
      [&](std::unique_ptr<GradientSync> sync) {
        Trainee trainee(std::move(sync));
        const std::optional<CheckpointFolder> folder = CheckpointFolder::Open(temporary.PathOf("")).value();
        ASSERT_THAT(
            SaveCheckpoint(CheckpointOf(0, 1), trainee.parameters(), trainee.adam(), folder, trainee.sync()),
            IsOk());
        const absl::StatusOr<std::optional<Checkpoint>> read = LoadCheckpoint(folder, trainee.sync());
        ASSERT_THAT(read, IsOk());
        ASSERT_TRUE(read->has_value());
        ASSERT_EQ((*read)->unsent.steps.size(), 2);
        EXPECT_EQ((*read)->unsent.steps[1].rank, 1);
        EXPECT_EQ((*read)->unsent.steps[1].steps.front().step, 1);
      },
      [&](std::unique_ptr<GradientSync> sync) {
        Trainee trainee(std::move(sync));
        ASSERT_THAT(SaveCheckpoint(CheckpointOf(1, 1), trainee.parameters(), trainee.adam(), std::nullopt,
                                   trainee.sync()),
                    IsOk());
        const absl::StatusOr<std::optional<Checkpoint>> read = LoadCheckpoint(std::nullopt, trainee.sync());
        ASSERT_THAT(read, IsOk());
        ASSERT_TRUE(read->has_value());
        EXPECT_EQ((*read)->totals.graphs, 21);
        EXPECT_TRUE((*read)->unsent.steps.empty());  // rank 0 passes them on
      });
}

}  // namespace
}  // namespace packtrain::trainer
