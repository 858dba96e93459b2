// The table of models and what the command line says of them; what holds of models of positions beside what the
// conformance suite asks of every model.
#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "trainer/models/model.h"
#include "trainer/models/model_names.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::BatchOf;
using packtrain::testing::IsOk;
using packtrain::testing::Molecule;
using packtrain::testing::Molecules;
using packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class GeometricModel : public ::testing::TestWithParam<const char*> {
 protected:
  static at::Tensor PredictionsOf(const GraphTensors& graphs) {
    const at::NoGradGuard no_grad;
    return FindModel(GetParam())->create({.sizes = {.classes = 4}, .seed = 7})->Forward(graphs);
  }
  static at::Tensor PredictionsOf(std::span<const Molecule> molecules) {
    return PredictionsOf(testing::TensorsOf(BatchOf(molecules)));
  }
};

void ExpectClose(const at::Tensor& actual, const at::Tensor& expected) {
  ASSERT_GT(expected.abs().max().item<float>(), 1e-4) << "nothing to compare";
  EXPECT_LT(((actual - expected).abs().max() / expected.abs().max()).item<float>(), 2e-5);
}

// A rotation about (1, 2, 3), a reflection of it where `mirrored`, and a shift.
Molecule Moved(Molecule molecule, bool mirrored) {
  const double angle = 0.7, c = std::cos(angle), s = std::sin(angle), norm = std::sqrt(14.0);
  const std::array<double, 3> axis = {1 / norm, 2 / norm, 3 / norm};
  for (std::array<float, 3>& p : molecule.pos) {
    const double along = axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2];
    std::array<float, 3> moved;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
      const double cross = axis[j] * p[k] - axis[k] * p[j];
      const double turned = c * p[i] + s * cross + (1 - c) * along * axis[i];
      moved[i] = static_cast<float>((mirrored ? -turned : turned) + 1.5 * static_cast<double>(i));
    }
    p = moved;
  }
  return molecule;
}

// Four atoms around a fifth, all at different distances: it differs from its mirror image.
Molecule ChiralMolecule() {
  return {.z = {6, 1, 7, 8, 6},
          .pos = {{0, 0, 0},
                  {0.63f, 0.63f, 0.63f},
                  {0.8f, -0.85f, -0.8f},
                  {-0.75f, 0.8f, -0.8f},
                  {-0.9f, -0.9f, 0.85f}},
          .y = {0, 0}};
}

TEST_P(GeometricModel, EnergyDoesNotDependOnPlaceOrientationOrHand) {
  std::vector<Molecule> molecules = Molecules();
  molecules.push_back(ChiralMolecule());
  for (const bool mirrored : {false, true}) {
    std::vector<Molecule> moved;
    for (const Molecule& molecule : molecules) moved.push_back(Moved(molecule, mirrored));
    ExpectClose(PredictionsOf(moved), PredictionsOf(molecules));
  }
}

TEST_P(GeometricModel, TellsMoleculesApart) {
  const at::Tensor predictions = PredictionsOf(Molecules());
  const at::Tensor sorted = std::get<0>(predictions.sort(0));
  EXPECT_GT(sorted.diff(1, 0).min().item<float>(), 1e-4);
}

// Edges that begin in images of atoms in neighbouring cells are those of atoms that lie there.
TEST_P(GeometricModel, ImagesOfAtomsAreAtomsInTheirPlaces) {
  InputLayout layout = testing::MoleculesLayout();
  layout.inputs = layout.inputs | InputSet{Input::kCells};
  const GraphTensors whole = testing::TensorsOf(BatchOf(Molecules()), layout);
  GraphTensors wrapped = whole;
  wrapped.positions = whole.positions.clone();
  // Node 7 is a hydrogen of ammonia, in graph 3. It goes one cell on along b, and its edges the other way.
  wrapped.positions[7] += whole.cells[3][1];
  wrapped.shifts = whole.shifts.clone();
  wrapped.shifts.select(1, 1).sub_((whole.senders == 7).to(at::kInt)).add_((whole.receivers == 7).to(at::kInt));
  ExpectClose(PredictionsOf(wrapped), PredictionsOf(whole));
  GraphTensors open = whole;
  open.cells = at::Tensor();
  EXPECT_GT((PredictionsOf(whole) - PredictionsOf(open)).abs().max().item<float>(), 1e-4) << "cells are read";
}

INSTANTIATE_TEST_SUITE_P(Models, GeometricModel, ::testing::Values("schnet", "mpeu", "painn"),
                         [](const auto& test) { return std::string(test.param); });

// In f64, of SchNet with the initial weights of a seed: the predictions, and the gradient of their squares.
std::vector<at::Tensor> ResultsOfSchNet(std::string_view filter, std::uint32_t seed, double stretch) {
  const std::shared_ptr<Model> model = FindModel("schnet")->create(
      {.sizes = {.classes = 4}, .filter = filter, .seed = seed, .edge_type = at::kDouble});
  model->to(at::kDouble);
  GraphTensors graphs = InF64(testing::TensorsOf(BatchOf(Molecules())));
  graphs.positions *= stretch;
  const at::Tensor predictions = model->Forward(graphs);
  std::vector<at::Tensor> results = torch::autograd::grad({predictions.square().sum()}, model->parameters());
  results.push_back(predictions.detach());
  return results;
}

// The greatest difference of any result, over the greatest value of that result.
double ErrorOfTable(std::uint32_t seed) {
  const std::vector<at::Tensor> table = ResultsOfSchNet("table", seed, 1);
  const std::vector<at::Tensor> direct = ResultsOfSchNet("direct", seed, 1);
  double error = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const at::Tensor worst = (table[i] - direct[i]).abs().max() / direct[i].abs().max();
    error = std::max(error, worst.item<double>());
  }
  return error;
}

TEST(SchNetByTable, IsTheDirectFormButForTheErrorOfItsCubics) {
  for (const std::uint32_t seed : {1, 2, 3}) {
    const double error = ErrorOfTable(seed);
    EXPECT_LT(error, 4e-6) << seed;
    EXPECT_GT(error, 1e-8) << "the tables are read";
  }
}

TEST(SchNetByTable, SaysHowFarItsFiltersAreFromDirectOnes) {
  const auto error_of = [](std::string_view filter, double steeper) {
    const std::shared_ptr<Model> model = FindModel("schnet")->create(
        {.sizes = {.classes = 4}, .filter = filter, .seed = 1, .edge_type = at::kDouble});
    model->to(at::kDouble);
    const at::NoGradGuard no_grad;
    for (const at::Tensor& parameter : model->parameters()) parameter.mul_(steeper);
    return model->FilterError();
  };
  EXPECT_EQ(error_of("direct", 1), std::nullopt);
  EXPECT_GT(error_of("table", 1), 1e-8);
  EXPECT_LT(error_of("table", 1), 4e-6);
  EXPECT_GT(error_of("table", 10), error_of("table", 1)) << "steeper filters";
}

// Bonds of some 16 angstrom, some within the table and some not, and of 100: direct filters end, too.
TEST(SchNetByTable, EndsWhereDirectFiltersAreNearlyZero) {
  for (const double stretch : {16, 100}) {
    const at::Tensor direct = ResultsOfSchNet("direct", 1, stretch).back();
    EXPECT_TRUE(at::allclose(ResultsOfSchNet("table", 1, stretch).back(), direct, 1e-6, 0)) << stretch;
  }
}

TEST(Models, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_THAT(FindModel("mlp"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("schnet, mpeu, painn, pna, ggnn")));
}

TEST(Models, FlagsThatAModelDoesNotHaveAreRefusedByName) {
  const auto check = [](const char* model, const ModelFlags& flags) {
    return CheckFlags(flags, *FindModel(model));
  };
  EXPECT_THAT(check("schnet", {.readout = "mean", .hidden = 8, .layers = 2}), IsOk());
  EXPECT_THAT(check("schnet", {.readout = "max"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--readout max: schnet has mean")));
  EXPECT_THAT(check("pna", {.readout = "mean"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--readout mean: pna has max, linear")));
  EXPECT_THAT(check("pna", {.readout = ""}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(
      check("painn", {.adjacency = "sparse"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--adjacency: painn has nothing to choose")));
  EXPECT_THAT(check("schnet", {.filter = "table"}), IsOk());
  EXPECT_THAT(check("schnet", {.filter = "direct"}), IsOk());
  EXPECT_THAT(
      check("schnet", {.filter = "cubic"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--filter cubic: schnet has direct, table")));
  EXPECT_THAT(check("mpeu", {.filter = "table"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--filter: mpeu has nothing to choose")));
  EXPECT_THAT(check("ggnn", {.adjacency = "sparse", .edge_types = 20}), IsOk());
  EXPECT_THAT(check("ggnn", {.adjacency = "banded"}), IsOk());
  EXPECT_THAT(
      check("ggnn", {.adjacency = "dense"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--adjacency dense: ggnn has sparse, banded")));
  EXPECT_THAT(check("mpeu", {.edge_types = 20}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--edge-types: mpeu has no types")));
}

std::vector<std::string> ReadoutsLeftBy(const ModelFlags& flags, const char* model) {
  std::vector<std::string> readouts;
  for (const ModelForm& form : FormsFor(flags, *FindModel(model))) readouts.emplace_back(form.readout);
  return readouts;
}

TEST(Models, AReadoutLeavesOneForm) {
  EXPECT_THAT(ReadoutsLeftBy({}, "ggnn"), ElementsAre("choice", "mean"));
  EXPECT_THAT(ReadoutsLeftBy({.readout = "mean"}, "ggnn"), ElementsAre("mean"));
  EXPECT_THAT(ReadoutNames(), "max or linear of pna; choice or mean of ggnn");
}

TEST(Models, ARunIsDescribedByWhatIsNotUsual) {
  EXPECT_THAT(DescribeChoices(*FindModel("schnet"), {.sizes = {.classes = 5}, .hidden = 64}), IsEmpty());
  EXPECT_THAT(DescribeChoices(*FindModel("schnet"), {.filter = "direct"}), IsEmpty());
  EXPECT_THAT(DescribeChoices(*FindModel("schnet"), {.filter = "table"}),
              UnorderedElementsAre(Pair("filter", "table")));
  EXPECT_THAT(DescribeChoices(*FindModel("schnet"), {.hidden = 32, .layers = 4}),
              UnorderedElementsAre(Pair("hidden", "32"), Pair("layers", "4")));
  EXPECT_THAT(DescribeChoices(*FindModel("pna"), {.sizes = {.mean_log_degree = 1.0986122886681098}}),
              UnorderedElementsAre(Pair("readout", "max"), Pair("mean_log_degree", "1.09861228867")));
  EXPECT_THAT(
      DescribeChoices(*FindModel("ggnn"), {.sizes = {.edge_types = 10}, .readout = "mean"}),
      UnorderedElementsAre(Pair("readout", "mean"), Pair("adjacency", "sparse"), Pair("edge_types", "10")));
}

}  // namespace
}  // namespace packtrain::trainer
