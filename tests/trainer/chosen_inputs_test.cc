#include "trainer/data/chosen_inputs.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::MoleculesInfo;
using packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr InputSet kAtoms = {Input::kAtomicNumbers, Input::kPositions, Input::kTargets};
constexpr InputSet kPrograms = {Input::kTokens, Input::kEdgeTypes, Input::kCandidates};

// Molecules with these fields, all of one value but `x` of nine; `edge_type` has four words.
client::DatasetInfo InfoWith(const std::vector<std::string>& fields) {
  client::DatasetInfo info = MoleculesInfo();
  for (const std::string& name : fields) {
    info.fields.push_back({.name = name, .width = name == "x" ? 9u : 1u});
    if (name == "edge_type") info.fields.back().words = 4;
  }
  return info;
}

// Five tokens: in one graph, in two, in none that was stored, in seven, and in one.
client::DatasetInfo ProgramsInfo() {
  client::DatasetInfo info = InfoWith({"token", "edge_type", "is_slot", "is_candidate", "is_target"});
  info.fields[0].words = 5;
  info.fields[0].graphs_with_word = {1, 2, 0, 7, 1};
  return info;
}

absl::StatusOr<ChosenInputs> Choose(const client::DatasetInfo& info, InputRequest request) {
  return ChooseInputs(info, "train", request);
}
absl::StatusOr<ChosenInputs> Choose(const client::DatasetInfo& info, InputSet required,
                                    InputSet optional = {}) {
  return Choose(info, {.needs = {{.required = required, .optional = optional}}});
}

TEST(ChosenInputs, AreThoseRequiredAndOfTheOptionalWhatTheDataSetHas) {
  const auto inputs = [](const std::vector<std::string>& fields) {
    return Choose(InfoWith(fields), kAtoms, {Input::kCells})->feed.layout.inputs;
  };
  EXPECT_EQ(inputs({"z", "pos"}), kAtoms);
  EXPECT_EQ(inputs({"z", "pos", "cell"}), kAtoms) << "edges of images have a shift";
  EXPECT_EQ(inputs({"z", "pos", "cell", "shift"}), (kAtoms | InputSet{Input::kCells}));
}

TEST(ChosenInputs, AreOfTheFirstNeedThatIsMet) {
  const std::vector<InputNeeds> needs = {{.required = kPrograms}, {.required = kAtoms}};
  EXPECT_EQ(Choose(ProgramsInfo(), {.needs = needs})->need, 0u);
  const absl::StatusOr<ChosenInputs> atoms = Choose(InfoWith({"z", "pos"}), {.needs = needs});
  ASSERT_THAT(atoms, IsOk());
  EXPECT_EQ(atoms->need, 1u);
  EXPECT_EQ(atoms->feed.layout.inputs, kAtoms);
  EXPECT_EQ(atoms->feed.targets.front().name, "energy");
  EXPECT_THAT(
      Choose(InfoWith({"z"}), {.needs = needs}),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("molecules@1 has no field 'pos' and no field 'token', which the model reads one of")));
  EXPECT_THAT(
      Choose(InfoWith({"z"}), kAtoms),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("has no field 'pos', which the model reads")));
}

TEST(ChosenInputs, HaveAClassForEachAtomOrMore) {
  const client::DatasetInfo info = InfoWith({"z", "pos"});
  EXPECT_EQ(Choose(info, kAtoms)->feed.layout.sizes.classes, 4);
  const std::vector<InputNeeds> needs = {{.required = kAtoms}};
  EXPECT_EQ(Choose(info, {.needs = needs, .classes = 9})->feed.layout.sizes.classes, 9);
  EXPECT_THAT(
      Choose(info, {.needs = needs, .classes = 3}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--classes 3: molecules@1 has 4 atom classes")));
}

TEST(ChosenInputs, HaveAClassForEachTokenOfTwoGraphsAndOneForAllOthers) {
  const absl::StatusOr<ChosenInputs> chosen = Choose(ProgramsInfo(), kPrograms);
  ASSERT_THAT(chosen, IsOk());
  EXPECT_THAT(chosen->feed.token_classes.of_token, ElementsAre(2, 0, 2, 1, 2));
  EXPECT_EQ(chosen->feed.layout.sizes.classes, 3);
  EXPECT_THAT(Choose(ProgramsInfo(), {.needs = {{.required = kPrograms}}, .classes = 2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("3 token classes")));
}

TEST(ChosenInputs, HaveAClassForEachTokenWhereNobodyCountedThem) {
  client::DatasetInfo info = ProgramsInfo();
  info.fields[0].graphs_with_word.clear();
  const absl::StatusOr<ChosenInputs> chosen = Choose(info, kPrograms);
  ASSERT_THAT(chosen, IsOk());
  EXPECT_THAT(chosen->feed.token_classes.of_token, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(chosen->feed.layout.sizes.classes, 6);
  info.fields[0].words = 0;
  EXPECT_THAT(Choose(info, kPrograms), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                HasSubstr("numbers, and no words, in field 'token'")));
}

TEST(ChosenInputs, CountEachTypeOfEdgesAndItsReverse) {
  constexpr InputSet kTyped = {Input::kEdgeTypes};
  const client::DatasetInfo info = InfoWith({"edge_type"});
  EXPECT_EQ(Choose(info, kTyped)->feed.layout.sizes.edge_types, 8);
  const std::vector<InputNeeds> needs = {{.required = kTyped}};
  EXPECT_EQ(Choose(info, {.needs = needs, .edge_types = 10})->feed.layout.sizes.edge_types, 10);
  EXPECT_THAT(
      Choose(info, {.needs = needs, .edge_types = 7}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--edge-types 7: molecules@1 has 4 types")));
  client::DatasetInfo numbers = info;
  numbers.fields[0].words = 0;
  EXPECT_THAT(Choose(numbers, kTyped), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--edge-types")));
  EXPECT_EQ(Choose(numbers, {.needs = needs, .edge_types = 6})->feed.layout.sizes.edge_types, 6);
}

TEST(ChosenInputs, KnowTheDegreesOfTheTrainingSplit) {
  constexpr InputSet kFeatures = {Input::kNodeFeatures, Input::kDegrees};
  client::DatasetInfo info = InfoWith({"x"});
  EXPECT_THAT(Choose(info, kFeatures), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                HasSubstr("split 'train' of molecules@1 are not known")));
  info.splits[1].mean_log_degree = 1.25;
  const absl::StatusOr<ChosenInputs> chosen = Choose(info, kFeatures);
  ASSERT_THAT(chosen, IsOk());
  EXPECT_EQ(chosen->feed.layout.sizes.mean_log_degree, 1.25);
  EXPECT_EQ(chosen->feed.layout.sizes.node_features, 9);
}

TEST(ChosenInputs, ATargetThatNothingReadsIsRefused) {
  EXPECT_THAT(Choose(ProgramsInfo(), {.needs = {{.required = kPrograms}}, .targets = "energy"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--target energy")));
}

TEST(ChosenInputs, SeveralTargetsAreColumnsOfOneTensor) {
  const absl::StatusOr<ChosenInputs> chosen =
      Choose(InfoWith({"z", "pos"}), {.needs = {{.required = kAtoms}}, .targets = "dipole,energy"});
  ASSERT_THAT(chosen, IsOk());
  EXPECT_EQ(NamesOf(chosen->feed.targets), "dipole,energy");
  EXPECT_EQ(chosen->feed.layout.sizes.targets, 2);
}

// What `trained` brings of `other` to a model of atoms and positions, and of cells where there are some.
absl::StatusOr<FeedOptions> FeedFor(const client::DatasetInfo& other, const client::DatasetInfo& trained) {
  const FeedOptions feed = Choose(trained, kAtoms, {Input::kCells})->feed;
  return FeedForOthers(other,
                       {.required = {Input::kAtomicNumbers, Input::kPositions}, .optional = {Input::kCells}},
                       {.dataset = trained, .feed = feed});
}

TEST(FeedForOthers, HasTheClassesOfTheTrainingAndNoLabels) {
  client::DatasetInfo other = InfoWith({"z", "pos", "cell", "shift"});
  other.classes = {8};
  const absl::StatusOr<FeedOptions> feed = FeedFor(other, InfoWith({"z", "pos"}));
  ASSERT_THAT(feed, IsOk());
  EXPECT_EQ(feed->layout.inputs, (InputSet{Input::kAtomicNumbers, Input::kPositions, Input::kCells}));
  EXPECT_EQ(feed->layout.sizes.classes, 4);
  EXPECT_EQ(feed->classes[8], 3);
}

TEST(FeedForOthers, RefusesWhatTheModelWasNotTrainedWith) {
  client::DatasetInfo other = InfoWith({"z", "pos"});
  const client::DatasetInfo trained = other;
  other.reference = "others@2";
  other.classes = {1, 9};
  EXPECT_THAT(FeedFor(other, trained),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("others@2 has atomic number 9")));
  EXPECT_THAT(FeedFor(InfoWith({"z"}), trained),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no field 'pos'")));
  for (const bool words : {false, true}) {
    other = trained;
    if (words) {
      other.fields[0].words_hash = "of other words";
    } else {
      other.fields[0].width = 2;
    }
    EXPECT_THAT(FeedFor(other, trained),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("field 'z' in another width")));
  }
}

}  // namespace
}  // namespace packtrain::trainer
