#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/two_ranks.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/tasks/choice.h"
#include "trainer/tasks/regression.h"
#include "trainer/tasks/split_score.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using packtrain::testing::WithTwoRanks;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Four graphs: the second lacks the target, the last one is padding.
GraphTensors FourTargets() {
  GraphTensors graphs;
  graphs.targets = at::tensor({1.0f, 0.0f, -2.0f, 0.0f}).unsqueeze(1);
  graphs.weights = at::tensor({1.0f, 0.0f, 1.0f, 0.0f}).unsqueeze(1);
  return graphs;
}

Target OfScale3() { return {.name = "gap", .unit = "eV", .mean = 7, .scale = 3, .median = 10}; }

// FourTargets beside one that the first two graphs have.
GraphTensors TwoTargetsEach() {
  GraphTensors graphs = FourTargets();
  graphs.targets = at::cat({graphs.targets, at::tensor({3.0f, 1.0f, 0.0f, 0.0f}).unsqueeze(1)}, 1);
  graphs.weights = at::cat({graphs.weights, at::tensor({1.0f, 1.0f, 0.0f, 0.0f}).unsqueeze(1)}, 1);
  return graphs;
}

// For TwoTargetsEach: off by 2 and 1 in the first target, by 1 and 5 in the second.
at::Tensor OutputsForTwo() {
  return at::tensor({3.0f, 4.0f, kNaN, -4.0f, -1.0f, kNaN, kNaN, kNaN}).view({4, 2});
}

TEST(Regression, LossIsTheSumOverKnownTargetsBesideTheirNumber) {
  const at::Tensor outputs = at::tensor({3.0f, kNaN, -1.0f, kNaN}).unsqueeze(1).requires_grad_();
  const Loss squared = kSquaredError.create({}, KernelForm::kPlain)->LossOf(outputs, FourTargets());
  EXPECT_EQ(squared.sum.item<float>(), 4 + 1);
  EXPECT_EQ(squared.terms.item<float>(), 2);
  const auto gradient_of = [&](const Loss& loss) {
    return torch::autograd::grad({loss.sum}, {outputs})[0].squeeze(1);
  };
  EXPECT_TRUE(gradient_of(squared).equal(at::tensor({4.0f, 0.0f, 2.0f, 0.0f})));
  const Loss absolute = kAbsoluteError.create({}, KernelForm::kPlain)->LossOf(outputs, FourTargets());
  EXPECT_EQ(absolute.sum.item<float>(), 2 + 1);
  EXPECT_EQ(absolute.terms.item<float>(), 2);
  EXPECT_TRUE(gradient_of(absolute).equal(at::tensor({1.0f, 0.0f, 1.0f, 0.0f})));
}

TEST(Regression, MetricsAreInTheUnitOfTheTargetBesideThoseOfMedianAndMean) {
  const std::unique_ptr<Task> task = kAbsoluteError.create({OfScale3()}, KernelForm::kPlain);
  EXPECT_EQ(task->outputs(), Rows::kGraphs);
  const at::Tensor sums = task->MetricSumsOf(at::tensor({3.0f, kNaN, -1.0f, kNaN}).unsqueeze(1), FourTargets());
  ASSERT_EQ(sums.sizes(), at::IntArrayRef({task->metric_sums()}));
  const SplitMetrics metrics = task->MetricsOf(sums);
  EXPECT_EQ(metrics.graphs, 2);
  EXPECT_DOUBLE_EQ(metrics.Find("mae")->value, 3 * (2 + 1) / 2.0);
  EXPECT_DOUBLE_EQ(metrics.Find("mae")->constant, 3 * (0 + 3) / 2.0);
  EXPECT_DOUBLE_EQ(metrics.Find("rmse")->value, 3 * std::sqrt((4 + 1) / 2.0));
  EXPECT_DOUBLE_EQ(metrics.Find("rmse")->constant, 3 * std::sqrt((1 + 4) / 2.0));
  EXPECT_EQ(metrics.Find("accuracy"), nullptr);
}

TEST(Regression, LossOfSeveralTargetsIsOverTheValuesThatAreKnown) {
  const at::Tensor outputs = OutputsForTwo().requires_grad_();
  const Loss loss = kSquaredError.create({}, KernelForm::kPlain)->LossOf(outputs, TwoTargetsEach());
  EXPECT_EQ(loss.sum.item<float>(), 4 + 1 + 1 + 25);
  EXPECT_EQ(loss.terms.item<float>(), 4);
  const at::Tensor gradient = torch::autograd::grad({loss.sum}, {outputs})[0];
  EXPECT_TRUE(gradient.equal(at::tensor({4.0f, 2.0f, 0.0f, -10.0f, 2.0f, 0.0f, 0.0f, 0.0f}).view({4, 2})));
}

TEST(Regression, MetricsOfEachTargetAreInItsUnitAndThoseOfAllInDeviations) {
  const Target second = {.name = "U0", .unit = "Ha", .mean = -1, .scale = 10, .median = 9};
  const std::unique_ptr<Task> task = kSquaredError.create({OfScale3(), second}, KernelForm::kPlain);
  const at::Tensor sums = task->MetricSumsOf(OutputsForTwo(), TwoTargetsEach());
  ASSERT_EQ(sums.sizes(), at::IntArrayRef({task->metric_sums()}));
  const SplitMetrics metrics = task->MetricsOf(sums);
  EXPECT_EQ(metrics.graphs, 3) << "graphs that have any of the targets";
  EXPECT_DOUBLE_EQ(metrics.Find("mae")->value, (2 + 1 + 1 + 5) / 4.0);
  EXPECT_DOUBLE_EQ(metrics.Find("mae")->constant, (0 + 3 + 2 + 0) / 4.0);
  EXPECT_DOUBLE_EQ(metrics.Find("rmse")->value, std::sqrt((4 + 1 + 1 + 25) / 4.0));
  EXPECT_DOUBLE_EQ(metrics.Find("rmse")->constant, std::sqrt((1 + 4 + 9 + 1) / 4.0));
  ASSERT_EQ(metrics.targets.size(), 2);
  const TargetMetrics& gap = metrics.targets[0];
  EXPECT_EQ(gap.name, "gap");
  EXPECT_EQ(gap.graphs, 2);
  EXPECT_DOUBLE_EQ(gap.metrics[0].value, 3 * (2 + 1) / 2.0);
  const TargetMetrics& energy = metrics.targets[1];
  EXPECT_EQ(energy.unit, "Ha");
  EXPECT_EQ(energy.graphs, 2);
  EXPECT_DOUBLE_EQ(energy.metrics[0].value, 10 * (1 + 5) / 2.0);
  EXPECT_DOUBLE_EQ(energy.metrics[0].constant, 10 * (2 + 0) / 2.0);
  EXPECT_DOUBLE_EQ(energy.metrics[1].value, 10 * std::sqrt((1 + 25) / 2.0));
}

TEST(Regression, WithoutGraphsHasNoMetrics) {
  const std::unique_ptr<Task> task = kSquaredError.create({OfScale3()}, KernelForm::kPlain);
  const SplitMetrics metrics = task->MetricsOf(at::zeros({task->metric_sums()}, at::kDouble));
  EXPECT_EQ(metrics.graphs, 0);
  EXPECT_TRUE(std::isnan(metrics.Find("mae")->value));
}

// One node of a hand-made program.
struct Node {
  int name = 0;
  bool is_slot = false;
  bool is_candidate = false;
  bool is_target = false;
  double score = 0;
};
using Program = std::vector<Node>;

Node Slot(int name) { return {.name = name, .is_slot = true}; }
Node Candidate(int name, double score) { return {.name = name, .is_candidate = true, .score = score}; }
Node Right(int name, double score) {
  return {.name = name, .is_candidate = true, .is_target = true, .score = score};
}
Node Other(double score) { return {.name = 9, .score = score}; }

// As a feed would bring them: three padding nodes belong to the last of two padding graphs.
struct Programs {
  GraphTensors graphs;
  at::Tensor scores;
};

Programs Batch(const std::vector<Program>& programs) {
  std::vector<std::int64_t> graph, n_node, name, slot, candidate, target;
  std::vector<double> scores;
  const auto add = [&](std::int64_t of, const Node& node) {
    graph.push_back(of);
    name.push_back(node.name);
    slot.push_back(node.is_slot);
    candidate.push_back(node.is_candidate);
    target.push_back(node.is_target);
    scores.push_back(node.score);
  };
  for (std::size_t i = 0; i < programs.size(); ++i) {
    for (const Node& node : programs[i]) add(static_cast<std::int64_t>(i), node);
    n_node.push_back(static_cast<std::int64_t>(programs[i].size()));
  }
  n_node.insert(n_node.end(), 2, 0);
  for (int padding = 0; padding < 3; ++padding)
    add(static_cast<std::int64_t>(programs.size()) + 1, {.score = kNaN});
  GraphTensors graphs;
  graphs.graph_of_node = at::tensor(graph, at::kInt);
  graphs.n_node = at::tensor(n_node, at::kInt);
  graphs.tokens = at::tensor(name, at::kInt);
  graphs.is_slot = at::tensor(slot, at::kInt);
  graphs.is_candidate = at::tensor(candidate, at::kInt);
  graphs.is_target = at::tensor(target, at::kInt);
  return {std::move(graphs), at::tensor(scores, at::kDouble)};
}

// -log of the probability of the right candidates.
double CrossEntropyOf(const Program& program) {
  double all = 0, right = 0;
  for (const Node& node : program) {
    if (!node.is_candidate || node.is_slot) continue;
    all += std::exp(node.score);
    if (node.is_target) right += std::exp(node.score);
  }
  return std::log(all) - std::log(right);
}

Program TwoRight() {
  return {Slot(1), Candidate(2, 0.5), Right(3, 1.5), Other(7), Right(3, -1), Candidate(4, 2)};
}
// Many candidates share the right one's name; the slot's own name is more frequent still.
Program FrequentName() {
  return {Candidate(5, -3), Slot(6),         Right(8, 1),     Candidate(5, 0), Candidate(6, 0.25),
          Candidate(6, 0),  Candidate(6, 0), Candidate(8, 0), Right(8, 0.5)};
}
Program WithoutSlot() { return {Candidate(1, 3), Right(2, 1)}; }
Program WithoutAnswer() { return {Slot(1), Candidate(2, 3)}; }

TEST(Choice, LossIsTheCrossEntropyOverLabelledGraphs) {
  const auto [graphs, scores] = Batch({TwoRight(), WithoutSlot(), FrequentName(), WithoutAnswer()});
  const Loss loss = kChoice.create({}, KernelForm::kPlain)->LossOf(scores, graphs);
  EXPECT_NEAR(loss.sum.item<double>(), CrossEntropyOf(TwoRight()) + CrossEntropyOf(FrequentName()), 1e-12);
  EXPECT_EQ(loss.terms.item<float>(), 2);
  EXPECT_EQ(loss.terms.scalar_type(), at::kFloat);
}

TEST(Choice, LossHasTheGradientOfItsDifferences) {
  const Programs batch = Batch({TwoRight(), WithoutSlot(), FrequentName()});
  const std::unique_ptr<Task> task = kChoice.create({}, KernelForm::kPlain);
  const at::Tensor scores = batch.scores.clone().requires_grad_();
  const at::Tensor gradient = torch::autograd::grad({task->LossOf(scores, batch.graphs).sum}, {scores})[0];
  EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << "scores of padding are no numbers";
  for (std::int64_t node = 0; node < scores.size(0); ++node) {
    constexpr double kStep = 1e-6;
    const auto loss_at = [&](double offset) {
      const at::Tensor moved = batch.scores.clone();
      moved[node] += offset;
      return task->LossOf(moved, batch.graphs).sum.item<double>();
    };
    EXPECT_NEAR(gradient[node].item<double>(), (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep), 1e-8) << node;
  }
}

// Where e^score leaves the numbers.
TEST(Choice, LossIsFiniteForGreatScores) {
  Program program = TwoRight();
  for (const double scale : {1e4, -1e4}) {
    for (Node& node : program) node.score *= scale;
    auto [graphs, scores] = Batch({program});
    scores = scores.to(at::kFloat).requires_grad_();
    const Loss loss = kChoice.create({}, KernelForm::kPlain)->LossOf(scores, graphs);
    EXPECT_TRUE(std::isfinite(loss.sum.item<float>()));
    EXPECT_TRUE(torch::autograd::grad({loss.sum}, {scores})[0].isfinite().all().item<bool>());
  }
}

TEST(Choice, OfABatchWithoutNodesHasNoTerms) {
  const auto [graphs, scores] = Batch({});
  const std::unique_ptr<Task> task = kChoice.create({}, KernelForm::kPlain);
  EXPECT_EQ(task->LossOf(scores, graphs).sum.item<double>(), 0);
  EXPECT_EQ(task->LossOf(scores, graphs).terms.item<float>(), 0);
  EXPECT_TRUE(task->MetricSumsOf(scores, graphs).equal(at::zeros({task->metric_sums()}, at::kDouble)));
}

TEST(Choice, AccuracyIsOfTheBestCandidateBesideTheMostFrequentName) {
  const std::unique_ptr<Task> task = kChoice.create({}, KernelForm::kPlain);
  EXPECT_EQ(task->outputs(), Rows::kNodes);
  const auto metrics_of = [&](const std::vector<Program>& programs) {
    const auto [graphs, scores] = Batch(programs);
    return task->MetricsOf(task->MetricSumsOf(scores, graphs));
  };
  // The best candidate is wrong, and so is the first of the names that one or two candidates have.
  const SplitMetrics wrong = metrics_of({TwoRight()});
  EXPECT_EQ(wrong.graphs, 1);
  EXPECT_EQ(wrong.Find("accuracy")->value, 0);
  EXPECT_EQ(wrong.Find("accuracy")->constant, 1) << "two candidates are called 3";
  const SplitMetrics right = metrics_of({FrequentName()});
  EXPECT_EQ(right.Find("accuracy")->value, 1);
  EXPECT_EQ(right.Find("accuracy")->constant, 1) << "8 is the most frequent name but for the slot's";
  const SplitMetrics all = metrics_of({TwoRight(), WithoutSlot(), FrequentName(), WithoutAnswer()});
  EXPECT_EQ(all.graphs, 2);
  EXPECT_EQ(all.Find("accuracy")->value, 0.5);
  EXPECT_NEAR(all.Find("cross_entropy")->value,
              (CrossEntropyOf(TwoRight()) + CrossEntropyOf(FrequentName())) / 2, 1e-12);
  EXPECT_NEAR(all.Find("cross_entropy")->constant, (std::log(4 / 2.0) + std::log(8 / 2.0)) / 2, 1e-12);
}

TEST(Choice, OfEqualScoresTheFirstCandidateIsTheAnswer) {
  const std::unique_ptr<Task> task = kChoice.create({}, KernelForm::kPlain);
  const auto accuracy_of = [&](const Program& program) {
    const auto [graphs, scores] = Batch({program});
    return task->MetricsOf(task->MetricSumsOf(scores, graphs)).Find("accuracy")->value;
  };
  EXPECT_EQ(accuracy_of({Right(1, 2), Candidate(2, 2), Slot(3)}), 1);
  EXPECT_EQ(accuracy_of({Candidate(2, 2), Right(1, 2), Slot(3)}), 0);
}

TEST(Choice, ASlotThatIsMarkedAsCandidateIsNone) {
  Node slot = Slot(1);
  slot.is_candidate = true;
  slot.score = 100;
  const auto [graphs, scores] = Batch({{slot, Right(2, 1), Candidate(3, 0)}});
  EXPECT_NEAR(kChoice.create({}, KernelForm::kPlain)->LossOf(scores, graphs).sum.item<double>(),
              std::log1p(std::exp(-1)), 1e-6);
}

// Both ranks get the metrics of all graphs, as one rank would.
TEST(SplitScore, AddsUpBatchesAndRanks) {
  const std::vector<std::vector<Program>> parts = {{TwoRight(), WithoutSlot()}, {FrequentName()}, {}};
  const std::unique_ptr<Task> task = kChoice.create({}, KernelForm::kPlain);
  const auto score = [&](const std::vector<std::vector<Program>>& batches) {
    return [&task, batches](std::unique_ptr<GradientSync> sync) {
      SplitScore sums(*task, at::kCPU);
      for (const std::vector<Program>& batch : batches) {
        const auto [graphs, scores] = Batch(batch);
        sums.Add(scores, graphs);
      }
      const absl::StatusOr<SplitMetrics> metrics = sums.SumOverRanks(absl::OkStatus(), *sync);
      ASSERT_THAT(metrics, IsOk());
      EXPECT_EQ(metrics->graphs, 2);
      EXPECT_EQ(metrics->Find("accuracy")->value, 0.5);
      EXPECT_THAT(sync->Barrier(), IsOk());
    };
  };
  WithTwoRanks(score({parts[0], parts[2]}), score({parts[1]}));
}

TEST(SplitScore, OfRanksOfWhichOneFailsIsNone) {
  const std::unique_ptr<Task> task = kSquaredError.create({}, KernelForm::kPlain);
  const auto score = [&task](const absl::Status& own, absl::StatusCode expected) {
    return [&task, own, expected](std::unique_ptr<GradientSync> sync) {
      const SplitScore sums(*task, at::kCPU);
      EXPECT_THAT(sums.SumOverRanks(own, *sync), StatusIs(expected));
      EXPECT_THAT(sync->Barrier(), IsOk());
    };
  };
  WithTwoRanks(score(absl::UnavailableError("gone"), absl::StatusCode::kUnavailable),
               score(absl::OkStatus(), absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace packtrain::trainer
