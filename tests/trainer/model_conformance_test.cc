// What must hold of every model; see trainer/README.md. A model is covered by a row of kFacts.
#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/trainer/molecules.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/models/model.h"
#include "trainer/selftest/precision_errors.h"
#include "trainer/tasks/task.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::BatchOf;
using packtrain::testing::Molecule;
using packtrain::testing::Molecules;

constexpr std::uint32_t kSeed = 7;

// What is known of a model beforehand.
struct ModelFacts {
  std::string_view name;
  std::string_view readout;
  std::string_view adjacency = {};
  std::string_view filter = {};
  bool with_optional = false;              // inputs, where the model reads such
  std::array<std::int64_t, 2> parameters;  // with 5 and with 74 classes, 9 node features and 20 edge types
  // In the tests of all else; 0: those of the model. A model with kinks is to be so small that none lies near.
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  // How often a value is rounded to bf16 on its way from the inputs to an output, and how many such values add
  // up in one of those sums; 0 roundings: the model has no edge-sized data.
  double bf16_roundings;
  double bf16_terms;
};

void PrintTo(const ModelFacts& row, std::ostream* out) { *out << row.name; }

constexpr std::array kFacts = {
    // Gaussians, their product with W1, its softplus, the product with W2, its softplus; 64 channels.
    ModelFacts{.name = "schnet",
               .readout = "mean",
               .parameters = {80'352, 84'768},
               .bf16_roundings = 5,
               .bf16_terms = 64},
    ModelFacts{.name = "schnet",
               .readout = "mean",
               .with_optional = true,
               .parameters = {80'352, 84'768},
               .bf16_roundings = 5,
               .bf16_terms = 64},
    // A table is no data of edges.
    ModelFacts{.name = "schnet",
               .readout = "mean",
               .filter = kTable,
               .parameters = {80'352, 84'768},
               .bf16_roundings = 0,
               .bf16_terms = 1},
    ModelFacts{.name = "schnet",
               .readout = "mean",
               .filter = kTable,
               .with_optional = true,
               .parameters = {80'352, 84'768},
               .bf16_roundings = 0,
               .bf16_terms = 1},
    // Gaussians; in each layer their product with W8, two sums with those of the ends, the softplus, the
    // product with W9; behind them those of a filter. 64 channels.
    ModelFacts{.name = "mpeu",
               .readout = "mean",
               .parameters = {173'152, 177'568},
               .bf16_roundings = 1 + 3 * 5 + 4,
               .bf16_terms = 64},
    ModelFacts{.name = "mpeu",
               .readout = "mean",
               .with_optional = true,
               .parameters = {173'152, 177'568},
               .bf16_roundings = 1 + 3 * 5 + 4,
               .bf16_terms = 64},
    // Radial functions, their product, that with a direction; in three layers. 20 radial functions.
    ModelFacts{.name = "painn",
               .readout = "mean",
               .parameters = {2'284'545, 2'302'209},
               .bf16_roundings = 3 * 3,
               .bf16_terms = 20},
    ModelFacts{.name = "painn",
               .readout = "mean",
               .with_optional = true,
               .parameters = {2'284'545, 2'302'209},
               .bf16_roundings = 3 * 3,
               .bf16_terms = 20},
    ModelFacts{.name = "pna",
               .readout = "max",
               .parameters = {4'096'110, 4'096'110},
               .hidden = 8,
               .layers = 3,
               .bf16_roundings = 0,
               .bf16_terms = 1},
    ModelFacts{.name = "pna",
               .readout = "linear",
               .parameters = {4'152'812, 4'152'812},
               .hidden = 8,
               .layers = 3,
               .bf16_roundings = 0,
               .bf16_terms = 1},
    ModelFacts{.name = "ggnn",
               .readout = "choice",
               .parameters = {427'776, 436'608},
               .hidden = 16,
               .layers = 4,
               .bf16_roundings = 0,
               .bf16_terms = 1},
    ModelFacts{.name = "ggnn",
               .readout = "choice",
               .adjacency = kBanded,
               .parameters = {427'776, 436'608},
               .hidden = 16,
               .layers = 4,
               .bf16_roundings = 0,
               .bf16_terms = 1},
    ModelFacts{.name = "ggnn",
               .readout = "mean",
               .parameters = {444'033, 452'865},
               .hidden = 16,
               .layers = 4,
               .bf16_roundings = 0,
               .bf16_terms = 1},
    ModelFacts{.name = "ggnn",
               .readout = "mean",
               .adjacency = kBanded,
               .parameters = {444'033, 452'865},
               .hidden = 16,
               .layers = 4,
               .bf16_roundings = 0,
               .bf16_terms = 1},
};

double Bf16Bound(const ModelFacts& facts) {
  return ErrorBound({.unit = kBf16Roundoff, .chain = facts.bf16_roundings, .terms = facts.bf16_terms});
}

// Outputs for the real graphs or nodes, and the gradient of the sum of their squares by all parameters.
struct Outcome {
  at::Tensor outputs;
  at::Tensor gradient;
};

class ModelConformance : public ::testing::TestWithParam<ModelFacts> {
 protected:
  std::shared_ptr<Model> MakeModel(at::ScalarType edge_type = at::kFloat, std::int64_t classes = 4,
                                   std::uint32_t seed = kSeed, std::int64_t targets = 1) const {
    InputSizes sizes = testing::MoleculesSizes();
    sizes.classes = classes;
    sizes.targets = targets;
    return entry_.create({.sizes = sizes,
                          .token_classes = testing::MoleculesTokens().of_token,
                          .readout = GetParam().readout,
                          .adjacency = GetParam().adjacency,
                          .filter = GetParam().filter,
                          .hidden = GetParam().hidden,
                          .layers = GetParam().layers,
                          .seed = seed,
                          .edge_type = edge_type});
  }

  // In the model's own sizes.
  std::int64_t ParametersWith(std::int64_t classes) const {
    return CountParameters(*entry_.create(
        {.sizes = {.classes = classes, .node_features = 9, .edge_types = 20}, .readout = GetParam().readout}));
  }

  // The inputs that the model declares and the labels of its task, and no others.
  GraphTensors TensorsOf(const wire::Batch& batch) const {
    return testing::TensorsOf(batch,
                              {.inputs = Inputs() | form_.task.labels, .sizes = testing::MoleculesSizes()});
  }
  // Without padding; where a model needs blocks, as one of them.
  GraphTensors TensorsOf(std::span<const Molecule> molecules) const {
    GraphTensors graphs = TensorsOf(BatchOf(molecules));
    if (IsBanded()) graphs.block_nodes = graphs.graph_of_node.size(0);
    return graphs;
  }

  // Molecules() with padding of each kind.
  GraphTensors Padded() const {
    return TensorsOf(BatchOf(
        Molecules(), {.graphs = kGraphs + 2, .nodes = 64, .edges = 128, .block_nodes = IsBanded() ? 4u : 0u}));
  }

  GraphTensors Empty() const {
    const wire::Shape blocks = {.graphs = 4, .nodes = 8, .block_nodes = 4};
    return TensorsOf(BatchOf({}, IsBanded() ? blocks : wire::Shape{.graphs = 4}));
  }

  // The same with anything in the inputs of the padding; the labels stay as a feed brings them.
  GraphTensors PaddedWithGarbage() const {
    GraphTensors graphs = Padded();
    for (const GraphMember& member : GraphMembers()) {
      if (!IsInput(member)) continue;
      const at::Tensor& tensor = graphs.*member.tensor;
      const std::int64_t real = RealRows(member.rows);
      at::Tensor padding = tensor.narrow(0, real, tensor.size(0) - real);
      if (tensor.is_floating_point()) {
        padding.normal_(3, 100);
      } else {
        padding.random_(0, 2);
      }
    }
    return graphs;
  }

  std::int64_t RealRows(Rows rows) const {
    return rows == Rows::kGraphs ? kGraphs : rows == Rows::kNodes ? kNodes : kEdges;
  }

  Outcome OutcomeOf(const GraphTensors& graphs, std::int64_t real_rows,
                    at::ScalarType edge_type = at::kFloat) const {
    const std::shared_ptr<Model> model = MakeModel(edge_type);
    const at::Tensor outputs = model->Forward(graphs).narrow(0, 0, real_rows);
    return {outputs.detach(), GradientOf(outputs.square().sum(), *model)};
  }

  // Of all molecules.
  Outcome OutcomeOf(const GraphTensors& graphs, at::ScalarType edge_type = at::kFloat) const {
    return OutcomeOf(graphs, RealRows(task_->outputs()), edge_type);
  }

  Outcome OutcomeOf(const Molecule& molecule) const {
    const std::size_t rows = task_->outputs() == Rows::kGraphs ? 1 : molecule.z.size();
    return OutcomeOf(TensorsOf(std::span(&molecule, 1)), static_cast<std::int64_t>(rows));
  }

  static at::Tensor GradientOf(const at::Tensor& loss, const Model& model) {
    std::vector<at::Tensor> parts = torch::autograd::grad({loss}, model.parameters());
    for (at::Tensor& part : parts) part = part.flatten();
    return at::cat(parts);
  }

  // Of Molecules().
  static constexpr std::int64_t kGraphs = 5, kNodes = 15, kEdges = 40;

  const ModelEntry entry_ = *FindModel(GetParam().name);
  const ModelForm form_ = *entry_.FindForm(GetParam().readout);
  const std::unique_ptr<Task> task_ =
      form_.task.create(testing::MoleculesTargets("energy"), KernelForm::kPlain);

 private:
  InputSet Inputs() const { return GetParam().with_optional ? form_.inputs | form_.optional : form_.inputs; }

  bool IsBanded() const { return GetParam().adjacency == kBanded; }

  bool IsInput(const GraphMember& member) const {
    const GraphTensors inputs =
        NewGraphTensors({}, {.inputs = Inputs(), .sizes = testing::MoleculesSizes()}, at::kCPU);
    const GraphTensors topology = NewGraphTensors({}, {}, at::kCPU);
    return (inputs.*member.tensor).defined() && !(topology.*member.tensor).defined();
  }
};

void ExpectClose(const at::Tensor& actual, const at::Tensor& expected) {
  ASSERT_GT(expected.abs().max().item<float>(), 1e-4) << "nothing to compare";
  EXPECT_LT(((actual - expected).abs().max() / expected.abs().max()).item<float>(), 2e-5);
}

double RelativeError(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual - expected).norm() / expected.norm()).item<double>();
}

TEST_P(ModelConformance, HasTheParametersOfItsPaper) {
  EXPECT_EQ(ParametersWith(5), GetParam().parameters[0]);
  EXPECT_EQ(ParametersWith(74), GetParam().parameters[1]);
}

TEST_P(ModelConformance, StartsFromItsSeedAlone) {
  const auto checksum = [this](std::uint32_t seed) {
    return FlatParameters(*MakeModel(at::kFloat, 4, seed)).Checksum();
  };
  EXPECT_EQ(checksum(1), checksum(1));
  EXPECT_NE(checksum(1), checksum(2));
}

TEST_P(ModelConformance, PackedGraphsAreWorthTheSameAsEachAlone) {
  const Outcome packed = OutcomeOf(TensorsOf(Molecules()));
  std::vector<at::Tensor> outputs;
  at::Tensor gradient = at::zeros_like(packed.gradient);
  for (const Molecule& molecule : Molecules()) {
    const Outcome alone = OutcomeOf(molecule);
    outputs.push_back(alone.outputs);
    gradient += alone.gradient;
  }
  ExpectClose(packed.outputs, at::cat(outputs));
  ExpectClose(packed.gradient, gradient);
}

TEST_P(ModelConformance, PaddingChangesNothing) {
  const Outcome padded = OutcomeOf(Padded()), real = OutcomeOf(TensorsOf(Molecules()));
  ExpectClose(padded.outputs, real.outputs);
  ExpectClose(padded.gradient, real.gradient);
}

TEST_P(ModelConformance, GarbageInThePaddingChangesNoBit) {
  const Outcome garbage = OutcomeOf(PaddedWithGarbage()), zeros = OutcomeOf(Padded());
  EXPECT_TRUE(garbage.outputs.equal(zeros.outputs));
  EXPECT_TRUE(garbage.gradient.equal(zeros.gradient));
}

TEST_P(ModelConformance, AnEmptyBatchHasNoGradient) {
  const at::Tensor outputs_of_none = OutcomeOf(Empty(), 0).gradient;
  EXPECT_EQ(outputs_of_none.abs().max().item<float>(), 0);
}

// The same molecules the other way round, and the atoms of each.
std::vector<Molecule> Reversed(std::vector<Molecule> molecules) {
  std::ranges::reverse(molecules);
  for (Molecule& molecule : molecules) {
    std::ranges::reverse(molecule.z);
    std::ranges::reverse(molecule.pos);
  }
  return molecules;
}

TEST_P(ModelConformance, TheOrderOfGraphsAndNodesIsIrrelevant) {
  const Outcome forward = OutcomeOf(TensorsOf(Molecules())),
                backward = OutcomeOf(TensorsOf(Reversed(Molecules())));
  ExpectClose(backward.outputs.flip(0), forward.outputs);
  ExpectClose(backward.gradient, forward.gradient);
}

// Moves all parameters by `step` times `direction`.
void Move(const Model& model, const at::Tensor& direction, double step) {
  const at::NoGradGuard no_grad;
  std::int64_t offset = 0;
  for (at::Tensor& parameter : model.parameters()) {
    parameter.add_(direction.narrow(0, offset, parameter.numel()).view(parameter.sizes()), step);
    offset += parameter.numel();
  }
}

// Or, without targets, a number for each node.
TEST_P(ModelConformance, GivesANumberForEachTarget) {
  const std::shared_ptr<Model> model = MakeModel(at::kFloat, 4, kSeed, /*targets=*/3);
  const at::Tensor outputs = model->Forward(Padded());
  if (task_->outputs() == Rows::kNodes) {
    EXPECT_EQ(outputs.sizes(), at::IntArrayRef({64}));
    return;
  }
  ASSERT_EQ(outputs.sizes(), at::IntArrayRef({kGraphs + 2, 3}));
  const at::Tensor real = outputs.narrow(0, 0, kGraphs);
  EXPECT_FALSE(real.select(1, 0).equal(real.select(1, 1)));
  EXPECT_TRUE(GradientOf(real.square().sum(), *model).isfinite().all().item<bool>());
}

TEST_P(ModelConformance, TheGradientOfTheLossIsThatOfItsDifferencesInF64) {
  constexpr double kStep = 1e-6;
  const std::shared_ptr<Model> model = MakeModel(at::kDouble);
  model->to(at::kDouble);
  const GraphTensors graphs = InF64(Padded());
  const auto loss = [&] { return task_->LossOf(model->Forward(graphs), graphs).sum; };
  const at::Tensor gradient = GradientOf(loss(), *model);
  at::manual_seed(1);
  for (int trial = 0; trial < 5; ++trial) {
    // The gradient itself, then any direction.
    const at::Tensor wanted = trial == 0 ? gradient : at::randn_like(gradient);
    const at::Tensor direction = wanted / wanted.norm();
    Move(*model, direction, kStep);
    const double above = loss().item<double>();
    Move(*model, direction, -2 * kStep);
    const double below = loss().item<double>();
    Move(*model, direction, kStep);
    EXPECT_NEAR((above - below) / (2 * kStep), gradient.dot(direction).item<double>(),
                1e-7 * gradient.norm().item<double>());
  }
}

TEST_P(ModelConformance, InBf16IsAsNearF32AsItsRoundingsSay) {
  const Outcome bf16 = OutcomeOf(Padded(), at::kBFloat16), f32 = OutcomeOf(Padded());
  EXPECT_LE(RelativeError(bf16.outputs, f32.outputs), Bf16Bound(GetParam()));
  EXPECT_LE(RelativeError(bf16.gradient, f32.gradient), Bf16Bound(GetParam()));
  EXPECT_EQ(bf16.outputs.equal(f32.outputs), GetParam().bf16_roundings == 0) << "whether anything was rounded";
}

TEST_P(ModelConformance, InBf16HasTheSameParametersAndResultsInF32) {
  EXPECT_EQ(FlatParameters(*MakeModel(at::kBFloat16)).Checksum(), FlatParameters(*MakeModel()).Checksum());
  const Outcome outcome = OutcomeOf(Padded(), at::kBFloat16);
  for (const at::Tensor& result : {outcome.outputs, outcome.gradient}) {
    EXPECT_EQ(result.scalar_type(), at::kFloat);
    EXPECT_TRUE(result.isfinite().all().item<bool>());
  }
}

TEST_P(ModelConformance, InBf16GarbageInThePaddingChangesNoBit) {
  const Outcome garbage = OutcomeOf(PaddedWithGarbage(), at::kBFloat16),
                zeros = OutcomeOf(Padded(), at::kBFloat16);
  EXPECT_TRUE(garbage.outputs.equal(zeros.outputs));
  EXPECT_TRUE(garbage.gradient.equal(zeros.gradient));
}

INSTANTIATE_TEST_SUITE_P(Models, ModelConformance, ::testing::ValuesIn(kFacts), [](const auto& test) {
  return absl::StrCat(std::string(test.param.name), "_", std::string(test.param.readout),
                      test.param.adjacency == kBanded ? "_banded" : "",
                      test.param.filter == kTable ? "_table" : "",
                      test.param.with_optional ? "_with_optional_inputs" : "");
});

TEST(Models, AllHaveFactsForEachForm) {
  const auto has_facts = [](const ModelEntry& entry, const ModelForm& form, bool with_optional,
                            std::string_view adjacency = {}, std::string_view filter = {}) {
    return std::ranges::any_of(kFacts, [&](const ModelFacts& facts) {
      return facts.name == entry.name && facts.readout == form.readout &&
             facts.with_optional == with_optional && facts.adjacency == adjacency && facts.filter == filter;
    });
  };
  for (const ModelEntry& entry : Models()) {
    for (const ModelForm& form : entry.forms) {
      EXPECT_TRUE(has_facts(entry, form, false)) << entry.name << ' ' << form.readout;
      for (std::size_t other = 1; other < entry.adjacencies.size(); ++other)
        EXPECT_TRUE(has_facts(entry, form, false, entry.adjacencies[other]))
            << entry.name << ' ' << form.readout;
      for (std::size_t other = 1; other < entry.filters.size(); ++other)
        EXPECT_TRUE(has_facts(entry, form, false, {}, entry.filters[other]))
            << entry.name << ' ' << form.readout;
      EXPECT_EQ(has_facts(entry, form, true), form.optional != InputSet{}) << entry.name << ' ' << form.readout;
    }
  }
}

}  // namespace
}  // namespace packtrain::trainer
