// The models against their definitions, written out in f64: loops over edges and nodes, and nothing of the
// library's.
#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "trainer/models/model.h"

namespace packtrain::trainer {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

struct Edge {
  std::size_t sender, receiver;
  int type;
  std::array<double, 3> vector;  // from the receiver to the sender
};

// Two graphs, of the first six nodes and the other four. Nodes 4 and 9 have no neighbours, node 3 is its own,
// and an edge is there twice. Edges ascend by receiver.
struct Sample {
  GraphTensors graphs;
  std::vector<Edge> edges;
  std::size_t nodes = 10;
  std::vector<std::size_t> graph_of_node = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
};

Sample MakeSample() {
  const std::vector<std::int64_t> senders = {1, 2, 5, 0, 0, 3, 3, 5, 2, 7, 8, 6, 6, 7};
  const std::vector<std::int64_t> receivers = {0, 0, 0, 1, 2, 2, 3, 3, 5, 6, 6, 7, 7, 8};
  const std::vector<std::int64_t> types = {0, 1, 2, 0, 1, 1, 2, 0, 1, 0, 2, 1, 1, 2};
  std::mt19937 random(5);
  const auto number = [&random] { return std::uniform_real_distribution<double>(-2, 2)(random); };
  Sample sample;
  GraphTensors& graphs = sample.graphs;
  graphs.senders = at::tensor(senders, at::kInt);
  graphs.receivers = at::tensor(receivers, at::kInt);
  graphs.edge_types = at::tensor(types, at::kInt);
  graphs.graph_of_node = at::tensor({0, 0, 0, 0, 0, 0, 1, 1, 1, 1}, at::kInt);
  graphs.n_node = at::tensor({6, 4}, at::kInt);
  graphs.in_degree = at::ones({10, 1}, at::kDouble);
  for (std::int64_t node = 0; node < 10; ++node) {
    const auto count = std::ranges::count(receivers, node);
    graphs.in_degree[node] = static_cast<double>(std::max<std::int64_t>(count, 1));
  }
  graphs.classes = at::tensor({0, 1, 2, 1, 0, 2, 1, 1, 0, 2}, at::kInt);
  graphs.tokens = at::tensor({3, 1, 0, 1, 4, 2, 1, 1, 0, 2}, at::kInt);
  graphs.node_features =
      at::tensor({1, 0, 2, 3, 1, 1, 1, 0, 2, 0, 0, 0, 1, 0, 2, 3, 1, 2, 1, 1, 0, 0, 2, 1, 1, 0, 2, 3, 1, 1},
                 at::kInt)
          .view({10, 3});
  graphs.is_slot = at::tensor({0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, at::kInt);
  std::vector<double> positions(30), cells(18);
  std::vector<std::int64_t> shifts(3 * senders.size());
  std::ranges::generate(positions, number);
  std::ranges::generate(cells, number);
  std::ranges::generate(shifts, [&random] { return static_cast<std::int64_t>(random() % 3) - 1; });
  graphs.positions = at::tensor(positions, at::kDouble).view({10, 3});
  graphs.cells = at::tensor(cells, at::kDouble).view({2, 3, 3});
  graphs.shifts = at::tensor(shifts, at::kInt).view({-1, 3});
  for (std::size_t edge = 0; edge < senders.size(); ++edge) {
    const auto s = static_cast<std::size_t>(senders[edge]), r = static_cast<std::size_t>(receivers[edge]);
    const double* cell = &cells[9 * sample.graph_of_node[r]];
    Edge& added = sample.edges.emplace_back(Edge{s, r, static_cast<int>(types[edge]), {}});
    for (std::size_t axis = 0; axis < 3; ++axis) {
      added.vector[axis] = positions[3 * s + axis] - positions[3 * r + axis];
      for (std::size_t k = 0; k < 3; ++k)
        added.vector[axis] += static_cast<double>(shifts[3 * edge + k]) * cell[3 * k + axis];
    }
  }
  return sample;
}

double Length(const Edge& edge) { return std::hypot(edge.vector[0], edge.vector[1], edge.vector[2]); }

// A small model in f64 with any parameters, biases too.
std::shared_ptr<Model> MakeModel(const std::string& name, ModelOptions options) {
  options.edge_type = at::kDouble;
  const std::shared_ptr<Model> model = FindModel(name)->create(options);
  model->to(at::kDouble);
  const at::NoGradGuard no_grad;
  at::manual_seed(3);
  for (at::Tensor& parameter : model->parameters()) parameter.uniform_(-0.7, 0.7);
  return model;
}

// Matrices and vectors as rows of numbers, and what models do with them.
class Parameters {
 public:
  explicit Parameters(const Model& model) : named_(model.named_parameters()) {}

  Rows Matrix(const std::string& name) const {
    const at::Tensor matrix = named_[name].detach().contiguous();
    const double* at = matrix.const_data_ptr<double>();
    Rows rows;
    for (std::int64_t i = 0; i < matrix.size(0); ++i, at += matrix.size(1))
      rows.emplace_back(at, at + matrix.size(1));
    return rows;
  }
  Row Vector(const std::string& name) const {
    const at::Tensor vector = named_[name].detach().contiguous();
    return {vector.const_data_ptr<double>(), vector.const_data_ptr<double>() + vector.numel()};
  }

  // x W.
  Row Times(const Row& x, const std::string& name) const { return Times(x, Matrix(name)); }
  static Row Times(const Row& x, const Rows& matrix) {
    EXPECT_EQ(x.size(), matrix.size());
    Row product(matrix[0].size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t j = 0; j < product.size(); ++j) product[j] += x[i] * matrix[i][j];
    }
    return product;
  }
  // x W + b.
  Row Linear(const Row& x, const std::string& name) const;

 private:
  torch::OrderedDict<std::string, at::Tensor> named_;
};

Row Map(Row x, const std::function<double(double)>& function) {
  std::ranges::transform(x, x.begin(), function);
  return x;
}
Row Zip(Row x, const Row& y, const std::function<double(double, double)>& function) {
  EXPECT_EQ(x.size(), y.size());
  std::ranges::transform(x, y, x.begin(), function);
  return x;
}
Row Plus(const Row& x, const Row& y) { return Zip(x, y, std::plus<>()); }
Row Times(const Row& x, const Row& y) { return Zip(x, y, std::multiplies<>()); }
Row Scaled(const Row& x, double factor) {
  return Map(x, [factor](double value) { return factor * value; });
}
Row Joined(Row x, const Row& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}
Row Part(const Row& x, std::size_t part, std::size_t size) {
  const auto first = x.begin() + static_cast<std::ptrdiff_t>(part * size);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

Row Parameters::Linear(const Row& x, const std::string& name) const {
  return Plus(Times(x, name + "_weights"), Vector(name + "_bias"));
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Silu(double x) { return x * Sigmoid(x); }
double ShiftedSoftplus(double x) { return std::log1p(std::exp(x)) - std::log(2); }
double Relu(double x) { return std::max(x, 0.0); }

Rows Embedded(const Rows& embedding, const at::Tensor& classes) {
  Rows nodes;
  for (std::int64_t node = 0; node < classes.size(0); ++node)
    nodes.push_back(embedding[static_cast<std::size_t>(classes[node].item<int>())]);
  return nodes;
}

// The mean of a number of each node, by graph.
Row MeanByGraph(const Row& values, const Sample& sample) {
  Row sums(2), counts(2);
  for (std::size_t node = 0; node < sample.nodes; ++node) {
    sums[sample.graph_of_node[node]] += values[node];
    ++counts[sample.graph_of_node[node]];
  }
  return Zip(sums, counts, std::divides<>());
}

void ExpectEqual(const at::Tensor& actual, const Row& expected) {
  ASSERT_EQ(actual.numel(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[static_cast<std::int64_t>(i)].item<double>(), expected[i],
                1e-11 * (1 + std::abs(expected[i])))
        << i;
  }
}

// SchNet's and MPEU's, whose centres are numbers of f32.
Row GaussiansOf(const Edge& edge) {
  Row gaussians(150);
  for (std::size_t k = 0; k < gaussians.size(); ++k) {
    const double gap = Length(edge) - double{0.1f * static_cast<float>(k)};
    gaussians[k] = std::exp(-gap * gap / 0.1);
  }
  return gaussians;
}

Rows Interact(const Parameters& of, const std::string& layer, const Rows& nodes, const Rows& edge_states,
              const Sample& sample) {
  Rows messages(nodes.size(), Row(nodes[0].size()));
  Row degree(nodes.size());
  for (std::size_t e = 0; e < sample.edges.size(); ++e) {
    const auto& [sender, receiver, type, vector] = sample.edges[e];
    const Row hidden = Map(of.Times(edge_states[e], layer + "_W1"), ShiftedSoftplus);
    const Row filter = Map(of.Times(hidden, layer + "_W2"), ShiftedSoftplus);
    messages[receiver] = Plus(messages[receiver], Times(of.Times(nodes[sender], layer + "_W3"), filter));
    ++degree[receiver];
  }
  Rows updated;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const Row mean = Scaled(messages[node], 1 / std::max(degree[node], 1.0));
    const Row hidden = Map(of.Times(mean, layer + "_W4"), ShiftedSoftplus);
    updated.push_back(Plus(nodes[node], of.Times(hidden, layer + "_W5")));
  }
  return updated;
}

Row ReadOutMean(const Parameters& of, const Rows& nodes, const Sample& sample) {
  Row values;
  for (const Row& node : nodes)
    values.push_back(of.Times(Map(of.Times(node, "readout_W6"), ShiftedSoftplus), "readout_W7")[0]);
  return MeanByGraph(values, sample);
}

TEST(SchNet, IsItsDefinition) {
  const Sample sample = MakeSample();
  const auto model = MakeModel("schnet", {.sizes = {.classes = 3}, .hidden = 6, .layers = 2});
  const Parameters of(*model);
  Rows nodes = Embedded(of.Matrix("embedding"), sample.graphs.classes), edges;
  for (const Edge& edge : sample.edges) edges.push_back(GaussiansOf(edge));
  for (const char* layer : {"layer0", "layer1"}) nodes = Interact(of, layer, nodes, edges, sample);
  ExpectEqual(model->Forward(sample.graphs), ReadOutMean(of, nodes, sample));
}

TEST(Mpeu, IsItsDefinition) {
  const Sample sample = MakeSample();
  const auto model = MakeModel("mpeu", {.sizes = {.classes = 3}, .hidden = 6, .layers = 2});
  const Parameters of(*model);
  Rows nodes = Embedded(of.Matrix("embedding"), sample.graphs.classes), edges;
  for (const Edge& edge : sample.edges) edges.push_back(GaussiansOf(edge));
  for (const std::string layer : {"layer0", "layer1"}) {
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const Row ends = Joined(nodes[sample.edges[e].sender], nodes[sample.edges[e].receiver]);
      const Row hidden = Map(of.Times(Joined(ends, edges[e]), layer + "_W8"), ShiftedSoftplus);
      edges[e] = of.Times(hidden, layer + "_W9");
    }
    nodes = Interact(of, layer, nodes, edges, sample);
  }
  ExpectEqual(model->Forward(sample.graphs), ReadOutMean(of, nodes, sample));
}

// PaiNN's, with C channels.
struct PainnStates {
  Rows scalars;               // [N][C]
  std::vector<Rows> vectors;  // [N][3][C]
};

Row PainnFilter(const Parameters& of, const std::string& layer, double distance) {
  Row radial;
  for (int k = 1; k <= 20; ++k) radial.push_back(std::sin(k * std::numbers::pi * distance / 6) / distance);
  const double cutoff = distance < 6 ? (std::cos(std::numbers::pi * distance / 6) + 1) / 2 : 0;
  return Scaled(of.Linear(radial, layer + "_filter"), cutoff);
}

Row SiluMlp(const Parameters& of, const std::string& name, const Row& x) {
  return of.Linear(Map(of.Linear(x, name + "_first"), Silu), name + "_second");
}

PainnStates PainnMessages(const Parameters& of, const std::string& layer, const PainnStates& from,
                          const Sample& sample) {
  PainnStates to = from;
  const std::size_t channels = from.scalars[0].size();
  for (const Edge& edge : sample.edges) {
    const Row message =
        Times(SiluMlp(of, layer + "_message", from.scalars[edge.sender]), PainnFilter(of, layer, Length(edge)));
    to.scalars[edge.receiver] = Plus(to.scalars[edge.receiver], Part(message, 0, channels));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Row scaled = Times(from.vectors[edge.sender][axis], Part(message, 1, channels));
      const Row along = Scaled(Part(message, 2, channels), edge.vector[axis] / Length(edge));
      to.vectors[edge.receiver][axis] = Plus(to.vectors[edge.receiver][axis], Plus(scaled, along));
    }
  }
  return to;
}

PainnStates PainnUpdate(const Parameters& of, const std::string& layer, PainnStates states) {
  const std::size_t channels = states.scalars[0].size();
  for (std::size_t node = 0; node < states.scalars.size(); ++node) {
    Row square(channels), dot(channels);
    Rows u;
    for (const Row& vector : states.vectors[node]) {
      const Row mixed = of.Times(vector, layer + "_mixing"), v = Part(mixed, 1, channels);
      u.push_back(Part(mixed, 0, channels));
      square = Plus(square, Times(v, v));
      dot = Plus(dot, Times(u.back(), v));
    }
    const Row length = Map(square, [](double value) { return std::sqrt(value + 1e-8); });
    const Row a = SiluMlp(of, layer + "_update", Joined(states.scalars[node], length));
    for (std::size_t axis = 0; axis < 3; ++axis)
      states.vectors[node][axis] = Plus(states.vectors[node][axis], Times(u[axis], Part(a, 0, channels)));
    const Row change = Plus(Part(a, 2, channels), Times(Part(a, 1, channels), dot));
    states.scalars[node] = Plus(states.scalars[node], change);
  }
  return states;
}

TEST(Painn, IsItsDefinition) {
  const Sample sample = MakeSample();
  constexpr std::size_t kChannels = 5;
  const auto model = MakeModel("painn", {.sizes = {.classes = 3}, .hidden = kChannels});
  const Parameters of(*model);
  PainnStates states = {Embedded(of.Matrix("embedding"), sample.graphs.classes),
                        std::vector<Rows>(sample.nodes, Rows(3, Row(kChannels)))};
  for (const char* layer : {"layer0", "layer1", "layer2"})
    states = PainnUpdate(of, layer, PainnMessages(of, layer, states, sample));
  Row values;
  for (const Row& node : states.scalars) values.push_back(SiluMlp(of, "readout", node)[0]);
  ExpectEqual(model->Forward(sample.graphs), MeanByGraph(values, sample));
}

// Beyond the cutoff, at it, and where atoms lie on each other.
TEST(Painn, IsFiniteAndSmoothAtEveryDistance) {
  const auto model = MakeModel("painn", {.sizes = {.classes = 3}, .hidden = 5});
  GraphTensors graphs = MakeSample().graphs;
  graphs.cells = at::Tensor();
  const auto energies_at = [&](double distance) {
    graphs.positions = at::zeros({10, 3}, at::kDouble);
    graphs.positions.select(1, 0).copy_(at::arange(10, at::kDouble) * distance);
    return model->Forward(graphs);
  };
  for (const double distance : {0.0, 1e-9, 6.0, 1e6}) {
    EXPECT_TRUE(energies_at(distance).isfinite().all().item<bool>()) << distance;
  }
  EXPECT_TRUE(energies_at(6).equal(energies_at(7))) << "nothing is felt beyond 6 angstrom";
  EXPECT_LT((energies_at(6 - 1e-6) - energies_at(6)).abs().max().item<double>(), 1e-9);
}

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
    EXPECT_LT(RelativeError(actual, expected.squeeze(1)), 1e-12) << readout;
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

// Of GREAT: 4,049 tokens and one class for all others; ten types of edges.
TEST(Ggnn, HasTheParametersOfItsFormula) {
  constexpr std::int64_t kClasses = 4'050, kTypes = 20;
  for (const std::int64_t h : {128, 64}) {
    const auto model =
        FindModel("ggnn")->create({.sizes = {.classes = kClasses, .edge_types = kTypes}, .hidden = h});
    EXPECT_EQ(CountParameters(*model), kClasses * h + kTypes * h * h + 6 * h * h + 6 * h + 3 * h);
  }
}

TEST(Pna, HasOneLayerMoreToPoolChannels) {
  const auto model = FindModel("pna")->create({.sizes = {.node_features = 9}, .readout = "linear"});
  EXPECT_EQ(CountParameters(*model), 4'152'812);
}

}  // namespace
}  // namespace packtrain::trainer
