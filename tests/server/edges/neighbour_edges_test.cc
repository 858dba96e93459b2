#include "server/edges/neighbour_edges.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/testing/status_matchers.h"

namespace packtrain::edges {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

using Nodes = std::vector<Point>;
using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // (sender, receiver)

Edges Pairs(const EdgeList& list) {
  Edges edges;
  for (std::size_t e = 0; e < list.senders.size(); ++e) edges.emplace_back(list.senders[e], list.receivers[e]);
  return edges;
}

Edges Build(const std::string& spec, const Nodes& nodes) {
  WorkingMemory memory;
  NeighbourEdges builder(wire::ParseEdgeSpec(spec).value(), memory);
  EXPECT_THAT(builder.Build(nodes), IsOk());
  return Pairs(builder.edges());
}

// The definition, word by word: all pairs, each receiver's sorted whole; every product and sum rounded by
// itself.
Edges ByDefinition(const wire::EdgeSpec& spec, const Nodes& nodes) {
  Edges edges;
  for (std::uint32_t receiver = 0; receiver < nodes.size(); ++receiver) {
    std::vector<std::pair<double, std::uint32_t>> order;
    for (std::uint32_t sender = 0; sender < nodes.size(); ++sender) {
      const double x = nodes[sender].x - nodes[receiver].x, y = nodes[sender].y - nodes[receiver].y,
                   z = nodes[sender].z - nodes[receiver].z;
      volatile double xx = x * x, yy = y * y, zz = z * z;  // each rounded to a double
      volatile double xy = xx + yy;
      const double counts = std::round((xy + zz) * 1e8);
      const bool near =
          spec.builder == wire::EdgeBuilder::kKnn || counts <= std::round(spec.radius * spec.radius * 1e8);
      if (sender != receiver && near) order.emplace_back(counts, sender);
    }
    std::sort(order.begin(), order.end());
    if (spec.neighbours != 0) order.resize(std::min<std::size_t>(order.size(), spec.neighbours));
    std::sort(order.begin(), order.end(), [](auto a, auto b) { return a.second < b.second; });
    for (const auto& [counts, sender] : order) edges.emplace_back(sender, receiver);
  }
  return edges;
}

Nodes Line(std::size_t n, double step) {
  Nodes nodes(n);
  for (std::size_t k = 0; k < n; ++k) nodes[k] = {step * static_cast<double>(k), 0, 0};
  return nodes;
}

TEST(NeighbourEdgesTest, ARadiusIncludesItsEnd) {
  EXPECT_THAT(Build("radius:1", Line(3, 1)), ElementsAre(Pair(1, 0), Pair(0, 1), Pair(2, 1), Pair(1, 2)));
  EXPECT_THAT(Build("radius:0.9999999", Line(3, 1)), IsEmpty());
}

// 0.1 three times is 0.30000000000000004: distances are compared by counts of 1e-8, not by their last bits.
TEST(NeighbourEdgesTest, ARadiusIncludesWhatRoundingPutsJustBeyondItsEnd) {
  EXPECT_EQ(Build("radius:0.1", Line(40, 0.1)).size(), 2u * 39u);
  EXPECT_EQ(Build("radius:0.3", Line(40, 0.1)).size(), 2u * (39u + 38u + 37u));
}

TEST(NeighbourEdgesTest, EdgesGoByReceiverThenSender) {
  const Nodes nodes = {{2, 0, 0}, {0, 0, 0}, {1, 0, 0}};
  EXPECT_THAT(Build("knn:1", nodes), ElementsAre(Pair(2, 0), Pair(2, 1), Pair(0, 2)));
  EXPECT_THAT(Build("knn:2", nodes),
              ElementsAre(Pair(1, 0), Pair(2, 0), Pair(0, 1), Pair(2, 1), Pair(0, 2), Pair(1, 2)));
}

TEST(NeighbourEdgesTest, OfNeighboursEquallyFarTheFirstIsTaken) {
  // The corners of a square around its middle: all as far from it, whatever the last bits say.
  const double h = std::sqrt(0.5);
  const Nodes nodes = {{0, 0, 0}, {h, h, 0}, {1, 0, 0}, {-h, h, 0}, {0, -1, 0}};
  EXPECT_THAT(Build("knn:3", nodes), ::testing::IsSupersetOf({std::pair{1u, 0u}, {2u, 0u}, {3u, 0u}}));
  EXPECT_THAT(Build("radius:1:2", nodes), ::testing::IsSupersetOf({std::pair{1u, 0u}, {2u, 0u}}));
}

TEST(NeighbourEdgesTest, KnnTakesAllOthersOfASmallGraph) {
  EXPECT_THAT(Build("knn:24", Line(3, 1)).size(), 6u);
  EXPECT_THAT(Build("knn:2147483647", Line(3, 1)).size(), 6u);
  EXPECT_THAT(Build("knn:3", Line(1, 1)), IsEmpty());
}

TEST(NeighbourEdgesTest, NodesInOnePlaceAreNeighboursButNotOfThemselves) {
  const Nodes nodes(3, Point{1, 2, 3});
  EXPECT_EQ(Build("radius:0.001", nodes).size(), 6u);
  EXPECT_THAT(Build("knn:1", nodes), ElementsAre(Pair(1, 0), Pair(0, 1), Pair(0, 2)));
}

TEST(NeighbourEdgesTest, MoreEdgesThanAllowedAreRefusedByFlagAndLimit) {
  WorkingMemory memory;
  NeighbourEdges builder(wire::ParseEdgeSpec("radius:1e9").value(), memory);
  EXPECT_THAT(builder.Build(Line(100, 1), 9900), IsOk());
  EXPECT_THAT(
      builder.Build(Line(100, 1), 9899),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("--edges radius:1e+09"), HasSubstr("100 nodes"), HasSubstr("9899 edges"))));
}

TEST(NeighbourEdgesTest, EdgesBeyondTheMemoryAreRefusedBeforeTheyAreHeld) {
  for (const char* const spec : {"radius:5", "knn:1000"}) {
    constexpr std::uint64_t kLimit = 1 << 20;
    std::uint64_t asked = 0;
    WorkingMemory memory([&](std::uint64_t bytes) {
      asked = bytes;
      return bytes <= kLimit ? absl::OkStatus() : absl::ResourceExhaustedError("too much");
    });
    NeighbourEdges builder(wire::ParseEdgeSpec(spec).value(), memory);
    EXPECT_THAT(builder.Build(Nodes(2000, Point{1, 2, 3})),
                StatusIs(absl::StatusCode::kResourceExhausted, "too much"));
    EXPECT_GT(asked, kLimit);
    EXPECT_LE(memory.bytes(), kLimit);
    const EdgeList& edges = builder.edges();
    EXPECT_LE((edges.senders.capacity() + edges.receivers.capacity()) * sizeof(std::uint32_t), memory.bytes());
    // What it had taken is enough for a smaller graph.
    EXPECT_THAT(builder.Build(Line(100, 1)), IsOk()) << spec;
  }
}

TEST(NeighbourEdgesTest, AGraphAfterAnotherLeavesNoTraceOfIt) {
  WorkingMemory memory;
  NeighbourEdges builder(wire::ParseEdgeSpec("radius:2").value(), memory);
  ASSERT_THAT(builder.Build(Line(500, 1)), IsOk());
  ASSERT_THAT(builder.Build(Line(2, 1)), IsOk());
  EXPECT_THAT(Pairs(builder.edges()), ElementsAre(Pair(1, 0), Pair(0, 1)));
  ASSERT_THAT(builder.Build({}), IsOk());
  EXPECT_THAT(Pairs(builder.edges()), IsEmpty());
}

// Of a graph of each kind, large and small: cells and the definition agree on every edge.
struct Kind {
  const char* name;
  std::function<Point(std::mt19937_64&)> place;
};

double Uniform(std::mt19937_64& random, double most) {
  return most * static_cast<double>(random() >> 11) / 9007199254740992.0;
}

const Kind kKinds[] = {
    {"Box",
     [](auto& r) {
       return Point{Uniform(r, 12), Uniform(r, 12), Uniform(r, 12)};
     }},
    {"Grid",
     [](auto& r) {
       return Point{double(r() % 8), double(r() % 8), double(r() % 8)};
     }},
    {"FineGrid",
     [](auto& r) {
       return Point{0.1 * double(r() % 40), 0.1 * double(r() % 40), 0.3};
     }},
    {"Floats",
     [](auto& r) {
       return Point{double(float(0.7 * double(r() % 9))), double(float(Uniform(r, 5))), 0};
     }},
    {"Line",
     [](auto& r) {
       return Point{0, Uniform(r, 90), 0};
     }},
    {"LatticeLine",
     [](auto& r) {
       return Point{0.5 * double(r() % 90), 0, 0};
     }},
    {"Plane",
     [](auto& r) {
       return Point{Uniform(r, 30), 7, Uniform(r, 30)};
     }},
    {"OnePlace",
     [](auto&) {
       return Point{-3, 1e5, 0.1};
     }},
    {"TwoClusters",
     [](auto& r) {
       return Point{r() % 2 == 0 ? 0 : 1e7, Uniform(r, 4), Uniform(r, 4)};
     }},
    {"FarAway",
     [](auto& r) {
       return Point{1e6 + Uniform(r, 9), -1e6 + Uniform(r, 9), 1e6};
     }},
    {"Astronomic",
     [](auto& r) {
       return Point{1e300 * (Uniform(r, 2) - 1), 1e154 * Uniform(r, 1), 0};
     }},
    {"Tiny",
     [](auto& r) {
       return Point{1e-5 * Uniform(r, 9), 1e-4 * Uniform(r, 9), 1e-5 * Uniform(r, 9)};
     }},
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class CellsTest : public ::testing::TestWithParam<std::tuple<Kind, const char*>> {};

TEST_P(CellsTest, GiveTheEdgesOfTheDefinition) {
  const auto& [kind, text] = GetParam();
  const wire::EdgeSpec spec = wire::ParseEdgeSpec(text).value();
  WorkingMemory memory;
  NeighbourEdges builder(spec, memory);
  for (const std::size_t n : {1, 2, 17, 64, 65, 400}) {
    std::mt19937_64 random(n);
    Nodes nodes(n);
    for (Point& node : nodes) node = kind.place(random);
    ASSERT_THAT(builder.Build(nodes), IsOk());
    EXPECT_EQ(Pairs(builder.edges()), ByDefinition(spec, nodes)) << n << " nodes";
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, CellsTest,
                         ::testing::Combine(::testing::ValuesIn(kKinds),
                                            ::testing::Values("radius:0.00005", "radius:0.3", "radius:1",
                                                              "radius:2.5", "radius:2.5:7", "radius:1000000000",
                                                              "knn:1", "knn:12", "knn:399", "knn:1000")),
                         [](const auto& test) {
                           std::string name =
                               std::string(std::get<0>(test.param).name) + "_" + std::get<1>(test.param);
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == ':' || c == '.'; }, '_');
                           return name;
                         });

// Ten thousand nodes have fifty million pairs; cells look at few of them.
TEST(NeighbourEdgesTest, LargeGraphsAreCountedAsALattice) {
  Nodes nodes;
  for (int x = 0; x < 50; ++x) {
    for (int y = 0; y < 50; ++y) {
      for (int z = 0; z < 20; ++z) nodes.push_back({double(x), double(y), double(z)});
    }
  }
  // Edges along three axes, both ways: of 50 x 50 x 20 nodes.
  const std::size_t along = 49u * 50 * 20 * 2 + 50u * 50 * 19;
  EXPECT_EQ(Build("radius:1", nodes).size(), 2 * along);
  EXPECT_EQ(Build("knn:3", nodes).size(), 3 * nodes.size());
}

}  // namespace
}  // namespace packtrain::edges
