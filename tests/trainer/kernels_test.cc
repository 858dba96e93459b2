#include <gmock/gmock.h>
#include <torch/types.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "trainer/kernels/banded_product.h"
#include "trainer/kernels/distances.h"
#include "trainer/kernels/edge_product.h"
#include "trainer/kernels/gaussians.h"
#include "trainer/kernels/neighbour_statistics.h"
#include "trainer/kernels/shifted_softplus.h"
#include "trainer/kernels/sum_messages.h"
#include "trainer/kernels/table_filters.h"
#include "trainer/kernels/vector_messages.h"
#include "trainer/selftest/precision_errors.h"

namespace packtrain::trainer {
namespace {

// Three nodes, and edges 1 -> 0, 2 -> 0, 0 -> 2.
GraphTensors ThreeNodes() {
  GraphTensors graphs;
  graphs.positions = at::tensor({0.f, 0.f, 0.f, 3.f, 4.f, 0.f, 0.f, 0.f, -2.f}).view({3, 3});
  graphs.senders = at::tensor({1, 2, 0}, at::kInt);
  graphs.receivers = at::tensor({0, 0, 2}, at::kInt);
  return graphs;
}

at::Tensor Column(at::ArrayRef<float> values) { return at::tensor(values).unsqueeze(1); }

TEST(PlainKernels, DistancesAreLengthsOfEdges) {
  EXPECT_TRUE(at::equal(Distances(ThreeNodes(), KernelForm::kPlain), Column({5, 2, 2})));
}

// Crystals as one batch, with the distances that ASE finds: tests/data/crystals/README.md.
struct Crystals {
  GraphTensors graphs;
  std::vector<double> distances;
};

Crystals ReadCrystals() {
  std::ifstream in(PACKTRAIN_TEST_DATA "/crystals/neighbours.txt");
  std::vector<double> cells, positions, distances;
  std::vector<std::int64_t> graph_of_node, senders, receivers, shifts;
  std::int64_t graphs = 0;
  for (std::string word; in >> word; ++graphs) {
    std::int64_t nodes = 0;
    in >> word >> nodes >> word >> word >> word;
    const auto first_node = static_cast<std::int64_t>(graph_of_node.size());
    for (int i = 0; i < 9; ++i) in >> cells.emplace_back();
    for (std::int64_t i = 0; i < 3 * nodes; ++i) in >> positions.emplace_back();
    graph_of_node.insert(graph_of_node.end(), static_cast<std::size_t>(nodes), graphs);
    for (const char* list : {"knn", "radius"}) {
      std::int64_t edges = 0;
      in >> word >> word >> edges;
      EXPECT_TRUE(in) << list;
      for (; edges > 0; --edges) {
        in >> senders.emplace_back() >> receivers.emplace_back();
        senders.back() += first_node;
        receivers.back() += first_node;
        for (int axis = 0; axis < 3; ++axis) in >> shifts.emplace_back();
        in >> distances.emplace_back();
      }
    }
  }
  return {.graphs = {.senders = at::tensor(senders, at::kInt),
                     .receivers = at::tensor(receivers, at::kInt),
                     .graph_of_node = at::tensor(graph_of_node, at::kInt),
                     .positions = at::tensor(positions, at::kFloat).view({-1, 3}),
                     .cells = at::tensor(cells, at::kFloat).view({-1, 3, 3}),
                     .shifts = at::tensor(shifts, at::kInt).view({-1, 3})},
          .distances = distances};
}

TEST(PlainKernels, DistancesOfPeriodicGraphsAreThoseOfAse) {
  const Crystals crystals = ReadCrystals();
  ASSERT_EQ(crystals.graphs.cells.size(0), 11);
  ASSERT_GT(crystals.distances.size(), 1000u);
  const at::Tensor distances = Distances(crystals.graphs, KernelForm::kPlain);
  const at::Tensor expected = at::tensor(crystals.distances, at::kDouble).unsqueeze(1);
  EXPECT_LT((distances - expected).abs().max().item<double>(), 1e-5);
}

// By hand: pos[sender] + shift * cell - pos[receiver], a row of the cell for each of its vectors.
TEST(PlainKernels, VectorsOfPeriodicGraphsPointFromTheReceiverToTheImageOfTheSender) {
  GraphTensors graphs;
  graphs.positions = at::tensor({0.25, 0.5, 0.75, 3.0, 4.0, 5.0, 7.0, 7.0, 7.0}, at::kFloat).view({3, 3});
  graphs.graph_of_node = at::tensor({0, 0, 1}, at::kInt);
  graphs.cells = at::tensor({4.0, 0.0, 0.0, 1.0, 5.0, 0.0, 0.5, -1.5, 6.0,  // a skewed cell
                             3.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0},  // one that does not repeat along b
                            at::kFloat)
                     .view({2, 3, 3});
  graphs.receivers = at::tensor({0, 0, 0, 1, 2}, at::kInt);
  graphs.senders = at::tensor({0, 1, 1, 1, 2}, at::kInt);
  graphs.shifts = at::tensor({0, -1, 1, 0, 0, 0, -1, -1, -1, -2, 0, 3, -1, 0, 2}, at::kInt).view({5, 3});
  const at::Tensor expected =
      at::tensor({-0.5, -6.5, 6.0, 2.75, 3.5, 4.25, -2.75, 0.0, -1.75, -6.5, -4.5, 18.0, -3.0, -0.5, 4.0},
                 at::kFloat)
          .view({5, 3});
  EXPECT_TRUE(EdgeVectors(graphs).equal(expected));
}

TEST(PlainKernels, MessagesAreSummedOverIncomingEdges) {
  const at::Tensor nodes = Column({2, 3, 5}).requires_grad_(), filter = Column({7, 11, 13}).requires_grad_();
  const at::Tensor sums = SumMessages(nodes, filter, ThreeNodes(), KernelForm::kPlain);
  EXPECT_TRUE(at::equal(sums, Column({3 * 7 + 5 * 11, 0, 2 * 13})));
  sums.backward(Column({1, 10, 100}));
  EXPECT_TRUE(at::equal(nodes.grad(), Column({100 * 13, 7, 11})));
  EXPECT_TRUE(at::equal(filter.grad(), Column({3, 5, 100 * 2})));
}

TEST(PlainKernels, MessagesWithVectorsAreThoseOfTheDefinition) {
  const EdgeGeometry edges = MakeEdgeGeometry(Column({1, 2, 3}), at::eye(3), KernelForm::kPlain);
  const at::Tensor sent = at::tensor({1.f, 4.f, 7.f, 2.f, 5.f, 8.f, 3.f, 6.f, 9.f}).view({3, 3});
  const at::Tensor weights = at::tensor({10.f, 100.f, 1000.f}).view({1, 3});
  const auto receive = [&](const at::Tensor& vectors) {
    return ReceiveMessages({.scalars = Column({2, 3, 5}), .vectors = vectors}, sent, weights, edges,
                           ThreeNodes(), KernelForm::kPlain);
  };
  const at::Tensor before = at::diag(at::tensor({1.f, 2.f, 3.f})).view({3, 3, 1});
  const VectorStates received = receive(before);
  EXPECT_TRUE(at::equal(received.scalars, Column({2 + 2 * 10 + 3 * 20, 3, 5 + 1 * 30})));
  EXPECT_TRUE(at::equal(received.vectors, at::tensor({1.f + 8 * 1000, 2.f * 5 * 100 + 9 * 2000, 3.f * 6 * 200,
                                                      0.f, 2.f, 0.f, 1.f * 4 * 300, 0.f, 3.f + 7 * 3000})
                                              .view({3, 3, 1})));
  const VectorStates first = receive(at::Tensor());
  EXPECT_TRUE(at::equal(first.scalars, received.scalars));
  EXPECT_TRUE(at::equal(first.vectors, receive(at::zeros({3, 3, 1})).vectors));
}

TEST(PlainKernels, StatisticsOfNeighboursAreThoseOfTheDefinition) {
  GraphTensors graphs = ThreeNodes();
  graphs.in_degree = Column({2, 1, 1});
  const at::Tensor own = Column({10, 20, 30}).requires_grad_(), sent = Column({1, 2, 5}).requires_grad_();
  const at::Tensor aggregates =
      AggregateNeighbours(own, sent, NeighbourhoodsOf(graphs), graphs, KernelForm::kPlain);
  const at::Tensor expected =
      at::tensor({13.5f, 12.f, 15.f, 1.5f, 0.f, 0.f, 0.f, 0.f, 31.f, 31.f, 31.f, 0.f}).view({3, 4});
  EXPECT_TRUE(at::allclose(aggregates, expected)) << aggregates;
  aggregates.sum().backward();
  EXPECT_TRUE(at::equal(own.grad(), Column({3, 0, 3}))) << own.grad();
  EXPECT_TRUE(at::allclose(sent.grad(), Column({3, 1, 2}))) << sent.grad();
}

TEST(PlainKernels, EqualExtremesOfNeighboursShareTheGradient) {
  GraphTensors graphs = ThreeNodes();
  graphs.in_degree = Column({2, 1, 1});
  const at::Tensor own = Column({0, 0, 0}), sent = Column({1, 2, 2}).requires_grad_();
  AggregateNeighbours(own, sent, NeighbourhoodsOf(graphs), graphs, KernelForm::kPlain).sum().backward();
  EXPECT_TRUE(at::allclose(sent.grad(), Column({3, 1.5, 1.5}))) << sent.grad();
}

TEST(PlainKernels, GaussiansNeverReachNumbersThatAreNotNormal) {
  const at::Tensor gaussians = Gaussians(Column({1, 15}), at::tensor({1.f, 1.5f}), {.width = 0.5});
  EXPECT_FLOAT_EQ(gaussians[0][0].item<float>(), 1);
  EXPECT_FLOAT_EQ(gaussians[0][1].item<float>(), std::exp(-0.5f));
  EXPECT_FLOAT_EQ(gaussians[1][0].item<float>(), std::exp(-80.f));
}

at::Tensor DistancesUpTo(double reach) { return at::linspace(0, reach, 10'007, at::kDouble).unsqueeze(1); }

TEST(PlainKernels, ATableOfACubicIsReadExactly) {
  const auto cubic = [](const at::Tensor& d) { return at::cat({d * d * d - 20 * d * d + 3, 5 - d}, 1); };
  const at::Tensor distances = DistancesUpTo(1023.0 / 64);
  const at::Tensor read = ReadTable(cubic(TableDistances(at::kDouble)), distances);
  EXPECT_TRUE(at::allclose(read, cubic(distances), 1e-12, 1e-9)) << (read - cubic(distances)).abs().max();
}

// The fourth derivative of a Gaussian of width w is at most 12 / w^2.
TEST(PlainKernels, ATableOfGaussiansIsOffByTheErrorOfItsCubics) {
  const at::Tensor centres = at::arange(150, at::kDouble) * 0.1, distances = DistancesUpTo(15.9) + 1.0 / 64;
  const auto gaussians = [&](const at::Tensor& d) {
    return Gaussians(d, centres, {.width = 0.1, .type = at::kDouble});
  };
  const at::Tensor table = gaussians(TableDistances(at::kDouble));
  const double error = (ReadTable(table, distances) - gaussians(distances)).abs().max().item<double>();
  const double bound = 3.0 / 128 * (12 / (0.1 * 0.1)) / std::pow(64, 4);
  EXPECT_LT(error, bound);
  EXPECT_GT(error, bound / 2) << "the bound is no tight one";
}

TEST(PlainKernels, ATableEndsInZeros) {
  const at::Tensor table = at::ones({kTableRows, 2});
  const at::Tensor read = ReadTable(table, Column({15.99f, 16, 1e9f, INFINITY, NAN, 1023.f / 64, 0}));
  EXPECT_TRUE(read.narrow(0, 0, 4).equal(at::zeros({4, 2})));
  EXPECT_TRUE(read[4].isnan().all().item<bool>());
  EXPECT_TRUE(read.narrow(0, 5, 2).equal(at::ones({2, 2})));
}

TEST(PlainKernels, TheGradientOfATableIsInTheRowsThatWereRead) {
  const at::Tensor table = at::zeros({kTableRows, 1}).requires_grad_();
  // A row itself, twice, and the middle between two rows.
  ReadTable(table, Column({3, 3, 5 + 0.5f / 64, 20})).backward(Column({1, 10, 16, 100}));
  at::Tensor expected = at::zeros({kTableRows, 1});
  expected[3 * 64] = 11;
  const std::int64_t below = std::int64_t{5} * 64;
  expected.narrow(0, below - 1, 4).copy_(Column({-1, 9, 9, -1}));
  EXPECT_TRUE(at::allclose(table.grad(), expected)) << table.grad().narrow(0, below - 2, 6);
}

at::Tensor Rounded(const at::Tensor& values) { return values.to(at::kBFloat16); }

TEST(PlainKernels, GaussiansInBf16AreRoundedOnce) {
  const at::Tensor distances = at::linspace(0, 12, 100).unsqueeze(1),
                   centres = at::arange(20, at::kFloat) * 0.1;
  EXPECT_TRUE(Gaussians(distances, centres, {.width = 0.1, .type = at::kBFloat16})
                  .equal(Rounded(Gaussians(distances, centres, {.width = 0.1}))));
}

TEST(PlainKernels, ShiftedSoftplusInBf16IsRoundedOnce) {
  const at::Tensor x = Rounded(at::linspace(-9, 9, 1000)).requires_grad_();
  const at::Tensor wide_x = x.detach().to(at::kFloat).requires_grad_();
  const at::Tensor y = ShiftedSoftplus(x, KernelForm::kPlain),
                   wide_y = ShiftedSoftplus(wide_x, KernelForm::kPlain);
  EXPECT_TRUE(y.equal(Rounded(wide_y)));
  y.sum().backward();
  wide_y.sum().backward();
  EXPECT_TRUE(x.grad().equal(Rounded(wide_x.grad())));
}

// 3 * 7.0625 has more bits than a bf16.
TEST(PlainKernels, MessagesOfABf16FilterAreSummedInF32) {
  const at::Tensor nodes = Column({2, 3, 5}).requires_grad_();
  const at::Tensor filter = Rounded(Column({7.0625, 11, 13})).requires_grad_();
  const at::Tensor sums = SumMessages(nodes, filter, ThreeNodes(), KernelForm::kPlain);
  EXPECT_TRUE(at::equal(sums, Column({3 * 7.0625 + 5 * 11, 0, 2 * 13})));
  sums.backward(Column({1, 10, 100}));
  EXPECT_TRUE(at::equal(nodes.grad(), Column({100 * 13, 7.0625, 11})));
  EXPECT_TRUE(at::equal(filter.grad(), Rounded(Column({3, 5, 100 * 2}))));
}

TEST(PlainKernels, ShiftedSoftplusPassesThroughZero) {
  const at::Tensor x = at::tensor({0.f, 1.f, -100.f, 100.f}).requires_grad_();
  const at::Tensor y = ShiftedSoftplus(x, KernelForm::kPlain);
  const auto log2 = static_cast<float>(std::log(2));
  EXPECT_EQ(y[0].item<float>(), 0);
  EXPECT_FLOAT_EQ(y[1].item<float>(), std::log1p(std::exp(1.f)) - log2);
  EXPECT_FLOAT_EQ(y[2].item<float>(), -log2);
  EXPECT_FLOAT_EQ(y[3].item<float>(), 100 - log2);
  y.sum().backward();
  EXPECT_FLOAT_EQ(x.grad()[0].item<float>(), 0.5);
}

double RelativeError(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual - expected).norm() / expected.norm()).item<double>();
}

TEST(EdgeProduct, OfBf16RoundsTheWeightsButNotTheirGradient) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({500, 16}).to(at::kBFloat16).requires_grad_();
  const at::Tensor weights = at::randn({16, 8}).requires_grad_();
  const at::Tensor d_y = at::randn({500, 8}).to(at::kBFloat16);
  const at::Tensor y = EdgeProduct(x, weights);
  y.backward(d_y);
  const at::Tensor wide_x = x.detach().to(at::kDouble), wide_d_y = d_y.to(at::kDouble);
  const at::Tensor rounded = weights.detach().to(at::kBFloat16).to(at::kDouble);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  // Each value is rounded to bf16 once, after a sum in f32 of so many terms.
  const double once = kBf16Roundoff + ErrorBound({.unit = kF32Roundoff, .chain = 16});
  EXPECT_LT(RelativeError(y.to(at::kDouble), wide_x.mm(rounded)), once);
  EXPECT_LT(RelativeError(x.grad().to(at::kDouble), wide_d_y.mm(rounded.t())), once);
  EXPECT_LT(RelativeError(weights.grad(), wide_x.t().mm(wide_d_y)),
            ErrorBound({.unit = kF32Roundoff, .chain = 500}));
}

// A[to, type, from], f64 [N, P, N], of edges that are counted one by one.
at::Tensor DenseAdjacency(const TypedEdges& edges, const BandSizes& sizes) {
  at::Tensor counts = at::zeros({sizes.nodes, sizes.types, sizes.nodes}, at::kDouble);
  for (std::int64_t e = 0; e < edges.from.numel(); ++e) {
    counts[edges.to[e].item<std::int64_t>()][edges.types[e].item<std::int64_t>()]
          [edges.from[e].item<std::int64_t>()] += 1;
  }
  return counts;
}

// Any, of nodes at most S apart, some of them there several times.
TypedEdges EdgesInBand(const BandSizes& sizes, std::int64_t number) {
  const at::Tensor from = at::randint(sizes.nodes, {number}, at::kInt);
  const at::Tensor step = at::randint(-sizes.block_nodes, sizes.block_nodes + 1, {number}, at::kInt);
  return {.from = from,
          .to = (from + step).clamp(0, sizes.nodes - 1),
          .types = at::randint(sizes.types, {number}, at::kInt)};
}

TEST(BandedProduct, IsTheSumOverEdgesWithItsGradient) {
  at::manual_seed(11);
  for (const BandSizes sizes : {BandSizes{.nodes = 12, .block_nodes = 3, .types = 2},
                                BandSizes{.nodes = 10, .block_nodes = 5, .types = 3},
                                BandSizes{.nodes = 7, .block_nodes = 7, .types = 1},
                                BandSizes{.nodes = 4, .block_nodes = 1, .types = 4}}) {
    const TypedEdges edges = EdgesInBand(sizes, 90);
    const at::Tensor dense = DenseAdjacency(edges, sizes);
    const at::Tensor nodes = at::randn({sizes.nodes, 5}, at::kDouble).requires_grad_();
    const at::Tensor product = BandedProduct(MakeAdjacencyBlocks(edges, sizes, at::kDouble), nodes);
    const at::Tensor expected = at::einsum("ipj,jh->iph", {dense, nodes.detach()}).flatten(1);
    EXPECT_TRUE(at::allclose(product, expected, 1e-12, 1e-12)) << sizes.block_nodes;
    const at::Tensor d_product = at::randn_like(product);
    product.backward(d_product);
    const at::Tensor by_type = d_product.view({sizes.nodes, sizes.types, 5});
    EXPECT_TRUE(at::allclose(nodes.grad(), at::einsum("ipj,iph->jh", {dense, by_type}), 1e-12, 1e-12))
        << sizes.block_nodes;
  }
}

// One of length S + 1 from the last node of a block.
TEST(BandedProduct, LosesAnEdgeThatReachesBeyondTheNextBlock) {
  constexpr BandSizes kSizes = {.nodes = 9, .block_nodes = 3, .types = 1};
  const at::Tensor nodes = at::arange(1, 10, at::kDouble).unsqueeze(1);
  const auto sum_at = [&](int from, int to) {
    const TypedEdges edge = {.from = at::tensor({from}, at::kInt),
                             .to = at::tensor({to}, at::kInt),
                             .types = at::tensor({0}, at::kInt)};
    return BandedProduct(MakeAdjacencyBlocks(edge, kSizes, at::kDouble), nodes).sum().item<double>();
  };
  EXPECT_EQ(sum_at(2, 5), 3);
  EXPECT_EQ(sum_at(2, 6), 0);
  EXPECT_EQ(sum_at(6, 2), 0);
}

}  // namespace
}  // namespace packtrain::trainer
