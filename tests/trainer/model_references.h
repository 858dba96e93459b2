// What definitions of models are written with: loops over the edges and nodes of a sample, in f64, and nothing
// of the library's.
#ifndef PACKTRAIN_TESTS_TRAINER_MODEL_REFERENCES_H_
#define PACKTRAIN_TESTS_TRAINER_MODEL_REFERENCES_H_

#include <gmock/gmock.h>
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "trainer/models/model.h"

namespace packtrain::trainer::references {

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

inline Sample MakeSample() {
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

// A small model in f64 with any parameters, biases too.
inline std::shared_ptr<Model> MakeModel(const std::string& name, ModelOptions options) {
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

inline Row Map(Row x, const std::function<double(double)>& function) {
  std::ranges::transform(x, x.begin(), function);
  return x;
}
inline Row Zip(Row x, const Row& y, const std::function<double(double, double)>& function) {
  EXPECT_EQ(x.size(), y.size());
  std::ranges::transform(x, y, x.begin(), function);
  return x;
}
inline Row Plus(const Row& x, const Row& y) { return Zip(x, y, std::plus<>()); }
inline Row Times(const Row& x, const Row& y) { return Zip(x, y, std::multiplies<>()); }
inline Row Scaled(const Row& x, double factor) {
  return Map(x, [factor](double value) { return factor * value; });
}
inline Row Joined(Row x, const Row& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}
inline Row Part(const Row& x, std::size_t part, std::size_t size) {
  const auto first = x.begin() + static_cast<std::ptrdiff_t>(part * size);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

inline Row Parameters::Linear(const Row& x, const std::string& name) const {
  return Plus(Times(x, name + "_weights"), Vector(name + "_bias"));
}

inline double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

inline Rows Embedded(const Rows& embedding, const at::Tensor& classes) {
  Rows nodes;
  for (std::int64_t node = 0; node < classes.size(0); ++node)
    nodes.push_back(embedding[static_cast<std::size_t>(classes[node].item<int>())]);
  return nodes;
}

// The mean of a number of each node, by graph.
inline Row MeanByGraph(const Row& values, const Sample& sample) {
  Row sums(2), counts(2);
  for (std::size_t node = 0; node < sample.nodes; ++node) {
    sums[sample.graph_of_node[node]] += values[node];
    ++counts[sample.graph_of_node[node]];
  }
  return Zip(sums, counts, std::divides<>());
}

inline void ExpectEqual(const at::Tensor& actual, const Row& expected) {
  ASSERT_EQ(actual.numel(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[static_cast<std::int64_t>(i)].item<double>(), expected[i],
                1e-11 * (1 + std::abs(expected[i])))
        << i;
  }
}

}  // namespace packtrain::trainer::references

#endif  // PACKTRAIN_TESTS_TRAINER_MODEL_REFERENCES_H_
