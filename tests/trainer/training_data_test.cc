#include <gmock/gmock.h>

#include <limits>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "trainer/data/target.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::MoleculesInfo;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;

TEST(Target, IsTheFirstOneUnlessNamed) {
  EXPECT_EQ(NamesOf(*ChooseTargets(MoleculesInfo(), "train", "")), "energy");
  const absl::StatusOr<std::vector<Target>> dipole = ChooseTargets(MoleculesInfo(), "train", "dipole");
  ASSERT_THAT(dipole, IsOk());
  ASSERT_EQ(dipole->size(), 1);
  EXPECT_EQ(dipole->front().column, 1);
  EXPECT_EQ(dipole->front().columns, 2);
}

TEST(Target, SeveralAreChosenInTheOrderOfTheirNames) {
  const absl::StatusOr<std::vector<Target>> both = ChooseTargets(MoleculesInfo(), "train", "dipole,energy");
  ASSERT_THAT(both, IsOk());
  EXPECT_EQ(NamesOf(*both), "dipole,energy");
  EXPECT_EQ(both->front().unit, "D");
  EXPECT_NE(both->front().scale, both->back().scale) << "each is normalised by itself";
  EXPECT_THAT(ChooseTargets(MoleculesInfo(), "train", "dipole,gap"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no target 'gap'")));
  EXPECT_THAT(ChooseTargets(MoleculesInfo(), "train", "dipole,"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no target ''")));
  EXPECT_THAT(ChooseTargets(MoleculesInfo(), "train", "dipole,dipole"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'dipole' twice")));
}

TEST(Target, MayHaveCommasInItsName) {
  client::DatasetInfo info = MoleculesInfo();
  info.splits[1].targets[1].target = "energy,dipole";
  EXPECT_EQ(ChooseTargets(info, "train", "energy,dipole")->size(), 1);
}

TEST(Target, AnUnknownOneIsAnsweredWithTheKnownOnes) {
  EXPECT_THAT(ChooseTargets(MoleculesInfo(), "train", "gap"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("energy, dipole")));
}

TEST(Target, ThatNoGraphHasIsRefused) {
  client::DatasetInfo info = MoleculesInfo();
  info.splits[1].targets[0].count = 0;
  EXPECT_THAT(ChooseTargets(info, "train", "energy"), StatusIs(absl::StatusCode::kFailedPrecondition));
  info.splits[1].targets.clear();
  EXPECT_THAT(ChooseTargets(info, "train", ""), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(Target, OfAnEmptySplitIsRefused) {
  client::DatasetInfo info = MoleculesInfo();
  info.splits[1].graphs = 0;
  EXPECT_THAT(
      ChooseTargets(info, "train", "energy"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("split 'train' of molecules@1 is empty")));
}

TEST(Target, WhoseValuesAreTooGreatToBeNormalisedIsRefused) {
  for (double client::TargetStatistics::*figure :
       {&client::TargetStatistics::mean, &client::TargetStatistics::stddev}) {
    client::DatasetInfo info = MoleculesInfo();
    info.splits[1].targets[0].*figure = std::numeric_limits<double>::infinity();
    EXPECT_THAT(ChooseTargets(info, "train", "energy"),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("target 'energy' of molecules@1")));
  }
}

TEST(Target, ThatIsConstantIsNotScaled) {
  client::DatasetInfo info = MoleculesInfo();
  info.splits[1].targets[0].stddev = 0;
  EXPECT_EQ(ChooseTargets(info, "train", "energy")->front().scale, 1);
}

TEST(Target, HasTheMeanForItsMedianWhereThatIsNotKnown) {
  client::DatasetInfo info = MoleculesInfo();
  info.splits[1].targets[0].median = 2.5;
  EXPECT_EQ(ChooseTargets(info, "train", "energy")->front().median, 2.5);
  info.splits[1].targets[0].median = std::nullopt;
  EXPECT_EQ(ChooseTargets(info, "train", "energy")->front().median, info.splits[1].targets[0].mean);
}

TEST(Split, IsTrainWhereThereIsOne) {
  client::DatasetInfo info = MoleculesInfo();
  EXPECT_EQ(*ResolveSplit(info, ""), "train");
  EXPECT_THAT(ResolveSplit(info, "test"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("all, train")));
  info.splits.pop_back();
  EXPECT_EQ(*ResolveSplit(info, ""), "all");
}

TEST(ClassTable, FollowsTheAtomicNumbers) {
  const ClassTable table = testing::MoleculesClasses();
  EXPECT_EQ(table[1], 0);
  EXPECT_EQ(table[6], 1);
  EXPECT_EQ(table[8], 3);
  EXPECT_EQ(table[9], -1);
}

TEST(ClassTable, RefusesNumbersThatNoAtomHas) {
  client::DatasetInfo info = MoleculesInfo();
  info.classes.push_back(300);
  EXPECT_THAT(MakeClassTable(info), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("300")));
}

}  // namespace
}  // namespace packtrain::trainer
