// PNA against its form with a message for each edge, GGNN against its definition.
#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/trainer/model_references.h"
#include "trainer/models/model.h"

namespace packtrain::trainer::references {
namespace {

// PNA as PyTorch Geometric has it: a message for each edge, and aggregates of them.
class TextbookPna {
 public:
  TextbookPna(const Model& model, double mean_log_degree)
      : parameters_(model.named_parameters()), mean_log_degree_(mean_log_degree) {}

  at::Tensor Layer(const std::string& name, const at::Tensor& x, const Sample& sample) const {
    std::vector<at::Tensor> rows;
    for (std::size_t node = 0; node < sample.nodes; ++node)
      rows.push_back(at::cat({x[static_cast<std::int64_t>(node)], ScaledAggregates(name, x, node, sample)}));
    return Linear(Linear(at::stack(rows), name + "_update"), name + "_last");
  }

  at::Tensor Linear(const at::Tensor& x, const std::string& name) const {
    return x.matmul(parameters_[name + "_weights"]) + parameters_[name + "_bias"];
  }

 private:
  at::Tensor ScaledAggregates(const std::string& name, const at::Tensor& x, std::size_t receiver,
                              const Sample& sample) const {
    std::vector<at::Tensor> pairs;
    for (const Edge& edge : sample.edges) {
      if (edge.receiver != receiver) continue;
      pairs.push_back(
          at::cat({x[static_cast<std::int64_t>(receiver)], x[static_cast<std::int64_t>(edge.sender)]}));
    }
    if (pairs.empty()) return at::zeros({12 * x.size(1)}, x.options());
    const at::Tensor messages = Linear(at::stack(pairs), name + "_message");
    const at::Tensor mean = messages.mean(0);
    const at::Tensor variance = (messages * messages).mean(0) - mean * mean;
    const at::Tensor deviation = at::clamp_min(variance, 1e-5).sqrt();
    const at::Tensor floored = deviation.masked_fill(deviation <= std::sqrt(1e-5), 0.0);
    const at::Tensor all = at::cat({mean, messages.amin(0), messages.amax(0), floored});
    const double log_degree = std::log(static_cast<double>(pairs.size()) + 1);
    return at::cat({all, all * (log_degree / mean_log_degree_), all * (mean_log_degree_ / log_degree)});
  }

  const torch::OrderedDict<std::string, at::Tensor> parameters_;
  const double mean_log_degree_;
};

at::Tensor GradientOf(const at::Tensor& loss, const Model& model) {
  std::vector<at::Tensor> parts = torch::autograd::grad({loss}, model.parameters());
  for (at::Tensor& part : parts) part = part.flatten();
  return at::cat(parts);
}

double RelativeError(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual - expected).abs().max() / expected.abs().max()).item<double>();
}

at::Tensor GreatestByGraph(const at::Tensor& nodes) {
  return at::stack({nodes.narrow(0, 0, 6).amax(0), nodes.narrow(0, 6, 4).amax(0)});
}

// Outputs and gradients agree where ties are shared evenly: rows of the sample are equal, and so are what they
// send.
TEST(Pna, IsTheFormWithAMessageForEachEdge) {
  constexpr double kMeanLogDegree = 0.8;
  const Sample sample = MakeSample();
  for (const char* readout : {"max", "linear"}) {
    const auto model = MakeModel("pna", {.sizes = {.node_features = 3, .mean_log_degree = kMeanLogDegree},
                                         .readout = readout,
                                         .hidden = 7,
                                         .layers = 3});
    const TextbookPna textbook(*model, kMeanLogDegree);
    at::Tensor nodes = sample.graphs.node_features.to(at::kDouble);
    nodes = textbook.Layer("layer0", nodes, sample).relu();
    nodes = textbook.Layer("layer1", nodes, sample).relu();
    at::Tensor expected = GreatestByGraph(textbook.Layer("layer2", nodes, sample));
    if (std::string(readout) == "linear") expected = textbook.Linear(expected, "readout");
    const at::Tensor actual = model->Forward(sample.graphs);
    EXPECT_LT(RelativeError(actual, expected), 1e-12) << readout;
    EXPECT_LT(
        RelativeError(GradientOf(actual.square().sum(), *model), GradientOf(expected.square().sum(), *model)),
        1e-10)
        << readout;
  }
}

// All 64 layers as they are at first, with padding whose features are anything.
TEST(Pna, IsDeepAndTakesNothingFromItsPadding) {
  const Sample sample = MakeSample();
  const auto model =
      FindModel("pna")->create({.sizes = {.node_features = 3, .mean_log_degree = 0.8}, .seed = 1});
  const auto pad = [](const at::Tensor& tensor, std::int64_t rows, double value) {
    std::vector<std::int64_t> sizes = tensor.sizes().vec();
    sizes[0] = rows;
    return at::cat({tensor, at::full(sizes, value, tensor.options())});
  };
  GraphTensors padded = sample.graphs;
  padded.in_degree = pad(padded.in_degree, 6, 9);
  padded.node_features = pad(padded.node_features, 6, 1000);
  padded.graph_of_node = pad(padded.graph_of_node, 6, 2);
  padded.n_node = pad(padded.n_node, 1, 0);
  padded.senders = at::cat({padded.senders, at::tensor({10, 11, 12, 13, 14, 15}, at::kInt).repeat({9})});
  padded.receivers = at::cat({padded.receivers, at::tensor({12, 10, 11, 15, 13, 14}, at::kInt).repeat({9})});
  const auto outcome = [&](GraphTensors graphs, at::ScalarType type) {
    model->to(type);
    graphs.in_degree = graphs.in_degree.to(type);
    const at::Tensor outputs = model->Forward(graphs).narrow(0, 0, 2);
    return std::pair(outputs.detach(), GradientOf(outputs.square().sum(), *model));
  };
  const auto [outputs, gradient] = outcome(padded, at::kFloat);
  EXPECT_TRUE(outputs.isfinite().all().item<bool>());
  EXPECT_TRUE(gradient.isfinite().all().item<bool>());
  const auto [wide_outputs, wide_gradient] = outcome(padded, at::kDouble);
  const auto [real_outputs, real_gradient] = outcome(sample.graphs, at::kDouble);
  EXPECT_LT(RelativeError(wide_outputs, real_outputs), 1e-9);
  EXPECT_LT(RelativeError(wide_gradient, real_gradient), 1e-9);
}

double Relu(double x) { return std::max(x, 0.0); }

// GGNN's.
Row GatedUnit(const Parameters& of, const Row& message, const Row& state) {
  const std::size_t hidden = state.size();
  const auto part = [&](const Row& x, const std::string& input, std::size_t gate) {
    const Rows weights = of.Matrix("unit_" + input + "_weights");
    Row sums = Part(of.Vector("unit_" + input + "_bias"), gate, hidden);
    for (std::size_t j = 0; j < hidden; ++j) {
      for (std::size_t i = 0; i < hidden; ++i) sums[j] += weights[gate * hidden + j][i] * x[i];
    }
    return sums;
  };
  const Row reset = Map(Plus(part(message, "message", 0), part(state, "state", 0)), Sigmoid);
  const Row update = Map(Plus(part(message, "message", 1), part(state, "state", 1)), Sigmoid);
  const Row fresh = Map(Plus(part(message, "message", 2), Times(reset, part(state, "state", 2))),
                        [](double x) { return std::tanh(x); });
  return Plus(Times(Map(update, [](double z) { return 1 - z; }), fresh), Times(update, state));
}

Rows Propagate(const Parameters& of, Rows nodes, int steps, const Sample& sample) {
  for (; steps > 0; --steps) {
    Rows messages(nodes.size(), Row(nodes[0].size()));
    for (const Edge& edge : sample.edges) {
      const Row along = of.Times(nodes[edge.sender], "type" + std::to_string(2 * edge.type));
      const Row back = of.Times(nodes[edge.receiver], "type" + std::to_string(2 * edge.type + 1));
      messages[edge.receiver] = Plus(messages[edge.receiver], along);
      messages[edge.sender] = Plus(messages[edge.sender], back);
    }
    for (std::size_t node = 0; node < nodes.size(); ++node)
      nodes[node] = GatedUnit(of, messages[node], nodes[node]);
  }
  return nodes;
}

TEST(Ggnn, OfMoleculesIsItsDefinition) {
  const Sample sample = MakeSample();
  const auto model = MakeModel(
      "ggnn", {.sizes = {.classes = 3, .edge_types = 6}, .readout = "mean", .hidden = 4, .layers = 3});
  const Parameters of(*model);
  Row values;
  for (const Row& node : Propagate(of, Embedded(of.Matrix("embedding"), sample.graphs.classes), 3, sample))
    values.push_back(of.Linear(Map(of.Linear(node, "readout_first"), Relu), "readout_second")[0]);
  ExpectEqual(model->Forward(sample.graphs), MeanByGraph(values, sample));
}

// The second graph has no slot.
TEST(Ggnn, OfProgramsIsItsDefinition) {
  const Sample sample = MakeSample();
  const auto model = MakeModel("ggnn", {.sizes = {.classes = 3, .edge_types = 6},
                                        .token_classes = {2, 0, 2, 1, 2},
                                        .readout = "choice",
                                        .hidden = 4,
                                        .layers = 3});
  const Parameters of(*model);
  const at::Tensor classes = at::tensor({1, 0, 2, 0, 2, 2, 0, 0, 2, 2}, at::kInt);
  const Rows nodes = Propagate(of, Embedded(of.Matrix("embedding"), classes), 3, sample);
  Row scores;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const Row slot = sample.graph_of_node[node] == 0 ? nodes[2] : Row(4);
    scores.push_back(of.Times(Joined(Joined(nodes[node], slot), Times(nodes[node], slot)), "score")[0]);
  }
  ExpectEqual(model->Forward(sample.graphs), scores);
}

// Nodes in 5 blocks of 8, as one graph, with edges of up to 8.
GraphTensors MakeBand() {
  at::manual_seed(9);
  GraphTensors graphs;
  graphs.senders = at::randint(40, {150}, at::kInt);
  graphs.receivers = (graphs.senders + at::randint(-8, 9, {150}, at::kInt)).clamp(0, 39);
  graphs.edge_types = at::randint(3, {150}, at::kInt);
  graphs.graph_of_node = at::zeros({40}, at::kInt);
  graphs.n_node = at::tensor({40}, at::kInt);
  graphs.classes = at::randint(3, {40}, at::kInt);
  graphs.tokens = at::randint(5, {40}, at::kInt);
  graphs.is_slot = (at::arange(40) == 17).to(at::kInt);
  graphs.block_nodes = 8;
  return graphs;
}

// All parameters after `steps` of Adam.
at::Tensor Trained(Model& model, const GraphTensors& graphs, int steps) {
  std::vector<at::Tensor> parameters = model.parameters();
  at::Tensor mean = at::zeros({CountParameters(model)}, at::kDouble), square = mean.clone();
  for (int step = 1; step <= steps; ++step) {
    const at::Tensor gradient = GradientOf((model.Forward(graphs) - 1).square().sum(), model);
    const at::NoGradGuard no_grad;
    mean.lerp_(gradient, 0.1);
    square.lerp_(gradient.square(), 0.001);
    const at::Tensor mean_now = mean / (1 - std::pow(0.9, step)),
                     square_now = square / (1 - std::pow(0.999, step));
    std::int64_t first = 0;
    for (at::Tensor& parameter : parameters) {
      const at::Tensor change = mean_now / (square_now.sqrt() + 1e-8);
      parameter.add_(change.narrow(0, first, parameter.numel()).view_as(parameter), -1e-3);
      first += parameter.numel();
    }
  }
  std::vector<at::Tensor> rows;
  for (const at::Tensor& parameter : parameters) rows.push_back(parameter.detach().flatten());
  return at::cat(rows);
}

TEST(Ggnn, BandedAndSparseSumsTrainTheSameModel) {
  const GraphTensors graphs = MakeBand();
  for (const char* readout : {"mean", "choice"}) {
    const auto trained = [&](std::string_view adjacency, int steps) {
      const auto model = MakeModel("ggnn", {.sizes = {.classes = 3, .edge_types = 6},
                                            .token_classes = {2, 0, 2, 1, 2},
                                            .readout = readout,
                                            .adjacency = adjacency,
                                            .hidden = 8,
                                            .layers = 8});
      return Trained(*model, graphs, steps);
    };
    const at::Tensor sparse = trained("sparse", 100);
    EXPECT_GT(RelativeError(sparse, trained("sparse", 0)), 1e-2) << readout;
    EXPECT_LT(RelativeError(trained("banded", 100), sparse), 1e-9) << readout;
  }
}

// Of GREAT: 4,049 tokens and one class for all others; ten types of edges.
TEST(Ggnn, HasTheParametersOfItsFormula) {
  constexpr std::int64_t kClasses = 4'050, kTypes = 20;
  for (const std::int64_t h : {128, 64}) {
    const auto model =
        FindModel("ggnn")->create({.sizes = {.classes = kClasses, .edge_types = kTypes}, .hidden = h});
    EXPECT_EQ(CountParameters(*model), kClasses * h + kTypes * h * h + 6 * h * h + 6 * h + 3 * h);
  }
}

}  // namespace
}  // namespace packtrain::trainer::references
