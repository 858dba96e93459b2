#include "server/edges/reverse_cuthill_mckee.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "server/edges/bandwidth.h"

namespace packtrain::edges {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Graph {
  std::uint32_t n_node = 0;
  std::vector<std::uint32_t> senders = {};
  std::vector<std::uint32_t> receivers = {};

  void Join(std::uint32_t a, std::uint32_t b) {
    senders.push_back(a);
    receivers.push_back(b);
  }
};

using Nodes = std::vector<std::uint32_t>;

Nodes NodesOf(const Graph& graph, ReverseCuthillMckee& rcm) {
  rcm.Number(graph.n_node, graph.senders, graph.receivers);
  return {rcm.nodes().begin(), rcm.nodes().end()};
}

Nodes NodesOf(const Graph& graph) {
  ReverseCuthillMckee rcm;
  return NodesOf(graph, rcm);
}

// The graph whose node nodes[k] is called k.
Graph Renamed(const Graph& graph, const Nodes& nodes) {
  Nodes names(nodes.size());
  for (std::uint32_t k = 0; k < nodes.size(); ++k) names[nodes[k]] = k;
  Graph renamed = graph;
  for (std::uint32_t& node : renamed.senders) node = names[node];
  for (std::uint32_t& node : renamed.receivers) node = names[node];
  return renamed;
}

std::uint32_t BandwidthOf(const Graph& graph) { return Bandwidth(graph.senders, graph.receivers); }

std::uint32_t RenumberedBandwidth(const Graph& graph) { return BandwidthOf(Renamed(graph, NodesOf(graph))); }

void ExpectEachNodeOnce(const Graph& graph, Nodes nodes) {
  std::sort(nodes.begin(), nodes.end());
  Nodes all(graph.n_node);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(nodes, all);
}

Nodes RandomOrder(std::uint32_t n_node, std::mt19937& random) {
  Nodes order(n_node);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

Graph Path(std::uint32_t n_node) {
  Graph path{.n_node = n_node};
  for (std::uint32_t k = 1; k < n_node; ++k) path.Join(k - 1, k);
  return path;
}

Graph Grid(std::uint32_t rows, std::uint32_t columns) {
  Graph grid{.n_node = rows * columns};
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      const std::uint32_t node = row * columns + column;
      if (column + 1 < columns) grid.Join(node, node + 1);
      if (row + 1 < rows) grid.Join(node, node + columns);
    }
  }
  return grid;
}

Graph RandomGraph(std::uint32_t n_node, std::size_t edges, std::mt19937& random) {
  Graph graph{.n_node = n_node};
  std::uniform_int_distribution<std::uint32_t> node(0, n_node - 1);
  for (std::size_t e = 0; e < edges; ++e) graph.Join(node(random), node(random));
  return graph;
}

// A graph of tests/golden/node_numbering.txt.
struct Golden {
  std::string name;
  Graph graph;
  std::uint32_t bandwidth = 0;  // as read
  std::uint32_t renumbered = 0;
  Nodes nodes;
};

std::vector<Golden> ReadGolden() {
  std::ifstream file(std::string(PACKTRAIN_GOLDEN) + "/node_numbering.txt");
  EXPECT_TRUE(file.is_open());
  std::vector<Golden> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    char separator = 0;
    words >> word;
    if (word == "graph") {
      Golden& golden = all.emplace_back();
      words >> golden.name >> golden.graph.n_node >> separator;
      for (std::uint32_t a, b; words >> a >> separator >> b;) golden.graph.Join(a, b);
    } else if (word == "nodes") {
      Golden& golden = all.back();
      words >> golden.bandwidth >> golden.renumbered >> separator;
      for (std::uint32_t node; words >> node;) golden.nodes.push_back(node);
    }
  }
  return all;
}

TEST(ReverseCuthillMckeeTest, NumbersRealGraphsAsOtherCodeDoes) {
  const std::vector<Golden> all = ReadGolden();
  EXPECT_GE(all.size(), 15u);
  ReverseCuthillMckee rcm;
  for (const Golden& golden : all) {
    EXPECT_EQ(NodesOf(golden.graph, rcm), golden.nodes) << golden.name;
    EXPECT_EQ(BandwidthOf(golden.graph), golden.bandwidth) << golden.name;
    EXPECT_EQ(BandwidthOf(Renamed(golden.graph, golden.nodes)), golden.renumbered) << golden.name;
  }
}

TEST(ReverseCuthillMckeeTest, GivesEachNodeOneNumber) {
  std::mt19937 random(1);
  ReverseCuthillMckee rcm;
  for (std::uint32_t n_node = 1; n_node < 60; ++n_node) {
    for (const std::size_t edges : {0u, n_node / 3, n_node, 4 * n_node}) {
      const Graph graph = RandomGraph(n_node, edges, random);
      ExpectEachNodeOnce(graph, NodesOf(graph, rcm));
    }
  }
}

TEST(ReverseCuthillMckeeTest, APathHasBandwidthOneHoweverItsNodesWereNamed) {
  std::mt19937 random(2);
  for (std::uint32_t n_node = 2; n_node < 40; ++n_node) {
    EXPECT_EQ(RenumberedBandwidth(Renamed(Path(n_node), RandomOrder(n_node, random))), 1u) << n_node;
  }
}

TEST(ReverseCuthillMckeeTest, ARingHasBandwidthTwo) {
  std::mt19937 random(3);
  for (std::uint32_t n_node = 3; n_node < 40; ++n_node) {
    Graph ring = Path(n_node);
    ring.Join(n_node - 1, 0);
    EXPECT_EQ(RenumberedBandwidth(Renamed(ring, RandomOrder(n_node, random))), 2u) << n_node;
  }
}

// A grid of R rows has no bandwidth below R, where it has as many columns.
TEST(ReverseCuthillMckeeTest, AGridHasABandwidthOfItsShorterSideHoweverItsNodesWereNamed) {
  std::mt19937 random(4);
  for (const auto& [rows, columns] : {std::pair(2u, 30u), std::pair(7u, 7u), std::pair(20u, 50u)}) {
    for (int times = 0; times < 5; ++times) {
      const Graph grid = Renamed(Grid(rows, columns), RandomOrder(rows * columns, random));
      EXPECT_LE(RenumberedBandwidth(grid), rows + 1) << rows << " x " << columns;
    }
  }
}

TEST(ReverseCuthillMckeeTest, OneNodeAndNoNodesAreNumbered) {
  EXPECT_THAT(NodesOf(Graph{.n_node = 1}), ElementsAre(0));
  EXPECT_THAT(NodesOf(Graph{}), IsEmpty());
}

TEST(ReverseCuthillMckeeTest, NodesWithoutEdgesStayAsTheyAre) {
  EXPECT_THAT(NodesOf(Graph{.n_node = 4}), ElementsAre(0, 1, 2, 3));
}

TEST(ReverseCuthillMckeeTest, ComponentsFollowEachOtherByTheirLowestNode) {
  Graph graph{.n_node = 7};
  graph.Join(0, 5);
  graph.Join(6, 1);
  graph.Join(3, 1);
  EXPECT_THAT(NodesOf(graph), ElementsAre(0, 5, 3, 1, 6, 2, 4));
}

TEST(ReverseCuthillMckeeTest, LoopsRepeatedEdgesDirectionsAndOrderDoNotMatter) {
  std::mt19937 random(5);
  for (int times = 0; times < 20; ++times) {
    const Graph graph = RandomGraph(40, 60, random);
    Graph other{.n_node = graph.n_node};
    for (std::size_t e = graph.senders.size(); e-- > 0;) {
      other.Join(graph.receivers[e], graph.senders[e]);
      if (e % 2 == 0) other.Join(graph.senders[e], graph.receivers[e]);
      if (e % 3 == 0) other.Join(graph.senders[e], graph.senders[e]);
    }
    EXPECT_EQ(NodesOf(other), NodesOf(graph));
  }
}

// Node k is joined to one of the two nodes before it, which no numbering betters by much.
TEST(ReverseCuthillMckeeTest, TheNumberingIsTakenWhateverTheOneAsReadWas) {
  bool is_worse_once = false;
  std::mt19937 random(6);
  for (int times = 0; times < 300 && !is_worse_once; ++times) {
    Graph tree{.n_node = 12};
    for (std::uint32_t node = 1; node < tree.n_node; ++node)
      tree.Join(node - 1 - static_cast<std::uint32_t>(random()) % std::min(node, 2u), node);
    is_worse_once = RenumberedBandwidth(tree) > BandwidthOf(tree);
  }
  EXPECT_TRUE(is_worse_once);
}

TEST(ReverseCuthillMckeeTest, ManyNodesAreNumbered) {
  constexpr std::uint32_t kNodes = 1'000'000;
  std::mt19937 random(7);
  const Graph path = Renamed(Path(kNodes), RandomOrder(kNodes, random));
  const Nodes nodes = NodesOf(path);
  ExpectEachNodeOnce(path, nodes);
  EXPECT_EQ(BandwidthOf(Renamed(path, nodes)), 1u);
  Graph star{.n_node = kNodes};
  for (std::uint32_t node = 1; node < kNodes; ++node) star.Join(0, node);
  ExpectEachNodeOnce(star, NodesOf(star));
}

TEST(ReverseCuthillMckeeTest, MemoryIsThatOfTheGraph) {
  ReverseCuthillMckee rcm;
  NodesOf(Grid(100, 100), rcm);
  EXPECT_GT(rcm.memory_bytes(), 2 * 4 * Grid(100, 100).senders.size());
  EXPECT_LT(rcm.memory_bytes(), 100u * 10'000);
}

// Of graphs that follow each other with more nodes or more edges than any before.
TEST(ReverseCuthillMckeeTest, MemoryIsWithinWhatItIsSaidToHoldForEachNodeAndEdge) {
  ReverseCuthillMckee rcm;
  std::uint64_t nodes = 0, edges = 0;
  for (const Graph& graph : {Grid(3, 3), Grid(100, 100), Grid(101, 100), Grid(2, 7), Graph{.n_node = 20'000},
                             Grid(150, 100), Graph{.n_node = 20'001}}) {
    NodesOf(graph, rcm);
    nodes = std::max<std::uint64_t>(nodes, graph.n_node);
    edges = std::max<std::uint64_t>(edges, graph.senders.size());
    EXPECT_LE(rcm.memory_bytes(),
              (nodes + 1) * ReverseCuthillMckee::kBytesOfANode + edges * ReverseCuthillMckee::kBytesOfAnEdge);
  }
}

TEST(BandwidthTest, IsTheGreatestDifferenceInEitherDirection) {
  EXPECT_EQ(Bandwidth({}, {}), 0u);
  const Nodes senders = {0, 9, 4, 7}, receivers = {3, 2, 4, 6};
  EXPECT_EQ(Bandwidth(senders, receivers), 7u);
}

}  // namespace
}  // namespace packtrain::edges
