#include <gmock/gmock.h>

#include <map>
#include <string>

#include "tests/testing/status_matchers.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;

absl::StatusOr<World> WorldOf(const std::map<std::string, std::string>& variables) {
  return WorldFromEnvironment([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(World, IsOneProcessWithoutAnEnvironment) {
  const absl::StatusOr<World> world = WorldOf({{"MASTER_ADDR", "elsewhere"}});
  ASSERT_THAT(world, IsOk());
  EXPECT_EQ(world->rank, 0);
  EXPECT_EQ(world->size, 1);
}

TEST(World, IsThatOfTorchrun) {
  const absl::StatusOr<World> world = WorldOf({{"RANK", "5"},
                                               {"WORLD_SIZE", "8"},
                                               {"LOCAL_RANK", "1"},
                                               {"LOCAL_WORLD_SIZE", "4"},
                                               {"MASTER_ADDR", "node0"},
                                               {"MASTER_PORT", "4711"}});
  ASSERT_THAT(world, IsOk());
  EXPECT_EQ(world->rank, 5);
  EXPECT_EQ(world->size, 8);
  EXPECT_EQ(world->local_rank, 1);
  EXPECT_EQ(world->local_size, 4);
  EXPECT_EQ(world->master_address, "node0");
  EXPECT_EQ(world->master_port, 4711);
}

TEST(World, RefusesHalfOrImpossibleEnvironments) {
  EXPECT_THAT(WorldOf({{"RANK", "0"}}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("WORLD_SIZE")));
  EXPECT_THAT(WorldOf({{"WORLD_SIZE", "2"}}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("RANK")));
  for (const auto& [rank, size] :
       std::map<std::string, std::string>{{"2", "2"}, {"-1", "2"}, {"x", "2"}, {"0", "0"}}) {
    EXPECT_THAT(WorldOf({{"RANK", rank}, {"WORLD_SIZE", size}}), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(WorldOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "70000"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("MASTER_PORT")));
}

TEST(World, RanksOfSeveralHostsNeedAnAddressToMeetAt) {
  EXPECT_THAT(WorldOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "1"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("MASTER_ADDR")));
  EXPECT_THAT(WorldOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}}), IsOk());
}

TEST(World, SharesTheCoresOfItsHost) {
  EXPECT_EQ(ThreadsPerProcess({.size = 8, .local_size = 4}, 16), 4);
  EXPECT_EQ(ThreadsPerProcess({.size = 8, .local_size = 4}, 2), 1);
}

TEST(World, AProcessTakesTheCardOfItsLocalRankOrTheOnlyOne) {
  EXPECT_EQ(CardOf(2, 4).value(), 2u);
  EXPECT_EQ(CardOf(3, 1).value(), 0u);
  EXPECT_THAT(CardOf(4, 2),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("LOCAL_RANK is 4 and 2 GPUs are visible (CUDA_VISIBLE_DEVICES)")));
  EXPECT_THAT(CardOf(0, 0), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("0 GPUs are visible")));
}

}  // namespace
}  // namespace packtrain::trainer
