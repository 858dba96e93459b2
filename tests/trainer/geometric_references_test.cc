// SchNet, MPEU and PaiNN against their definitions.
#include <gmock/gmock.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <vector>

#include "tests/trainer/model_references.h"
#include "trainer/models/model.h"

namespace packtrain::trainer::references {
namespace {

double Length(const Edge& edge) { return std::hypot(edge.vector[0], edge.vector[1], edge.vector[2]); }

double Silu(double x) { return x * Sigmoid(x); }
double ShiftedSoftplus(double x) { return std::log1p(std::exp(x)) - std::log(2); }

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

}  // namespace
}  // namespace packtrain::trainer::references
