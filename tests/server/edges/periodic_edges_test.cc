#include "server/edges/periodic_edges.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "server/edges/neighbour_edges.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::edges {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Cells = std::array<std::int32_t, 3>;
using Edge = std::tuple<std::uint32_t, std::uint32_t, Cells>;  // receiver, sender, shift
using Nodes = std::vector<Point>;

PeriodicCell Cell(Point a, Point b, Point c, std::array<bool, 3> repeats = {true, true, true}) {
  return {{a, b, c}, repeats};
}

std::vector<Edge> EdgesOf(const PeriodicEdges& builder) {
  std::vector<Edge> edges;
  for (std::size_t e = 0; e < builder.shifts().size(); ++e) {
    edges.emplace_back(builder.edges().receivers[e], builder.edges().senders[e], builder.shifts()[e]);
  }
  return edges;
}

absl::StatusOr<std::vector<Edge>> TryBuild(const std::string& spec, const PeriodicCell& cell,
                                           const Nodes& nodes, std::uint64_t max_edges = kMaxEdges) {
  const absl::StatusOr<Lattice> lattice = Lattice::Create(cell);
  if (!lattice.ok()) return lattice.status();
  WorkingMemory memory;
  PeriodicEdges builder(wire::ParseEdgeSpec(spec).value(), memory);
  if (absl::Status status = builder.Build(nodes, *lattice, max_edges); !status.ok()) return status;
  return EdgesOf(builder);
}

std::vector<Edge> Build(const std::string& spec, const PeriodicCell& cell, const Nodes& nodes) {
  const absl::StatusOr<std::vector<Edge>> edges = TryBuild(spec, cell, nodes);
  EXPECT_THAT(edges.status(), IsOk());
  return edges.ok() ? *edges : std::vector<Edge>();
}

double Distance(const PeriodicCell& cell, const Nodes& nodes, const Edge& edge) {
  const auto along = [&](double Point::*k) {
    const auto& [receiver, sender, shift] = edge;
    const auto& [a, b, c] = cell.vectors;
    return nodes[sender].*k - nodes[receiver].*k + shift[0] * a.*k + shift[1] * b.*k + shift[2] * c.*k;
  };
  return std::hypot(along(&Point::x), along(&Point::y), along(&Point::z));
}

// What another program found (tests/data/crystals/README.md).
struct Found {
  Edge edge;
  double distance;
};

struct Structure {
  std::string name;
  PeriodicCell cell;
  Nodes nodes;
  std::vector<Found> nearest;  // K + 1 of each node, by receiver and distance
  double radius = 0;
  std::vector<Found> within;
};

std::vector<Found> ReadEdges(std::istream& in, std::size_t count) {
  std::vector<Found> edges(count);
  for (auto& [edge, distance] : edges) {
    auto& [receiver, sender, shift] = edge;
    in >> sender >> receiver >> shift[0] >> shift[1] >> shift[2] >> distance;
  }
  return edges;
}

std::vector<Structure> ReadStructures() {
  std::ifstream in(PACKTRAIN_TEST_DATA "/crystals/neighbours.txt");
  std::vector<Structure> structures;
  for (std::string word; in >> word;) {
    Structure& structure = structures.emplace_back();
    std::size_t nodes = 0, count = 0, k = 0;
    in >> structure.name >> nodes;
    for (bool& repeats : structure.cell.repeats) in >> repeats;
    for (Point& vector : structure.cell.vectors) in >> vector.x >> vector.y >> vector.z;
    structure.nodes.resize(nodes);
    for (Point& node : structure.nodes) in >> node.x >> node.y >> node.z;
    in >> word >> k >> count;
    structure.nearest = ReadEdges(in, count);
    in >> word >> structure.radius >> count;
    structure.within = ReadEdges(in, count);
  }
  return structures;
}

constexpr std::size_t kNearest = 12;

TEST(PeriodicEdgesTest, NearestNeighboursAreThoseOfAse) {
  const std::vector<Structure> structures = ReadStructures();
  ASSERT_EQ(structures.size(), 11u);
  for (const Structure& structure : structures) {
    const std::vector<Edge> edges = Build("knn:12", structure.cell, structure.nodes);
    ASSERT_EQ(edges.size(), kNearest * structure.nodes.size()) << structure.name;
    for (std::size_t node = 0; node < structure.nodes.size(); ++node) {
      const auto expected = structure.nearest.begin() + static_cast<std::ptrdiff_t>(node * (kNearest + 1));
      std::vector<Edge> mine(edges.begin() + static_cast<std::ptrdiff_t>(node * kNearest),
                             edges.begin() + static_cast<std::ptrdiff_t>((node + 1) * kNearest));
      std::vector<double> distances;
      for (const Edge& edge : mine) distances.push_back(Distance(structure.cell, structure.nodes, edge));
      std::sort(distances.begin(), distances.end());
      std::set<Edge> theirs;
      for (std::size_t k = 0; k < kNearest; ++k) {
        EXPECT_NEAR(distances[k], expected[static_cast<std::ptrdiff_t>(k)].distance, 1e-4)
            << structure.name << " node " << node;
        theirs.insert(expected[static_cast<std::ptrdiff_t>(k)].edge);
      }
      if (expected[kNearest].distance - expected[kNearest - 1].distance < 1e-3) continue;  // a tie
      EXPECT_EQ(std::set<Edge>(mine.begin(), mine.end()), theirs) << structure.name << " node " << node;
    }
  }
}

TEST(PeriodicEdgesTest, NeighboursWithinARadiusAreThoseOfAse) {
  for (const Structure& structure : ReadStructures()) {
    std::vector<Edge> theirs;
    for (const Found& found : structure.within) theirs.push_back(found.edge);
    std::sort(theirs.begin(), theirs.end());
    EXPECT_EQ(Build("radius:" + std::to_string(structure.radius), structure.cell, structure.nodes), theirs)
        << structure.name;
  }
}

// The definition, word by word, for shifts of up to `reach` cells.
std::vector<Edge> ByDefinition(const wire::EdgeSpec& spec, const PeriodicCell& cell, const Nodes& nodes,
                               int reach) {
  const Lattice lattice = Lattice::Create(cell).value();
  std::vector<Edge> edges;
  const auto along = [&](std::size_t k) { return cell.repeats[k] ? reach : 0; };
  for (std::uint32_t receiver = 0; receiver < nodes.size(); ++receiver) {
    std::vector<std::tuple<double, std::uint32_t, Cells>> order;
    for (std::uint32_t sender = 0; sender < nodes.size(); ++sender) {
      for (int x = -along(0); x <= along(0); ++x) {
        for (int y = -along(1); y <= along(1); ++y) {
          for (int z = -along(2); z <= along(2); ++z) {
            if (sender == receiver && x == 0 && y == 0 && z == 0) continue;
            const double distance =
                lattice.SquaredDistanceOf(nodes[sender], {double(x), double(y), double(z)}, nodes[receiver]);
            if (spec.builder == wire::EdgeBuilder::kKnn || distance <= CountOf(spec.radius * spec.radius)) {
              order.emplace_back(distance, sender, Cells{x, y, z});
            }
          }
        }
      }
    }
    const std::size_t all = order.size(), most = spec.neighbours == 0 ? all : spec.neighbours;
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(all, most)),
                      order.end());
    order.resize(std::min(all, most));
    for (const auto& [distance, sender, shift] : order) edges.emplace_back(receiver, sender, shift);
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

struct Kind {
  const char* name;
  PeriodicCell cell;
  double spread;  // of nodes, in angstrom, around the origin
  int reach;      // cells that hold all neighbours
};

const Kind kKinds[] = {
    {"Cubic", Cell({4, 0, 0}, {0, 4, 0}, {0, 0, 4}), 4, 5},
    {"OutsideTheCell", Cell({4, 0, 0}, {0, 4, 0}, {0, 0, 4}), 12, 12},
    {"Triclinic", Cell({5, 0.3, -0.2}, {2, 6, 0.1}, {-1, 2, 4}), 6, 6},
    {"LeftHanded", Cell({0, 4, 0}, {5, 0, 0}, {1, 0, 6}), 5, 6},
    {"Skewed", Cell({4, 0, 0}, {9, 4, 0}, {-5, 6, 5}), 4, 13},
    {"Flat", Cell({9, 0, 0}, {0, 0.9, 0}, {0, 0, 9}), 5, 16},
    {"Plane", Cell({3, 0, 0}, {0, 3, 0.5}, {7, 7, 7}, {true, true, false}), 6, 9},
    {"Wire", Cell({0, 0, 0}, {0, 0, 0}, {1, 2, 3}, {false, false, true}), 5, 18},
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class ImagesTest : public ::testing::TestWithParam<std::tuple<Kind, const char*>> {};

TEST_P(ImagesTest, GiveTheEdgesOfTheDefinition) {
  const Kind& kind = std::get<0>(GetParam());
  const char* const text = std::get<1>(GetParam());
  const wire::EdgeSpec spec = wire::ParseEdgeSpec(text).value();
  for (const bool on_a_grid : {false, true}) {
    for (const std::size_t n : {1, 2, 5}) {
      std::mt19937_64 random(n);
      const auto coordinate = [&] {
        const double part = double(random() >> 11) / 9007199254740992.0 - 0.5;
        return on_a_grid ? std::round(kind.spread * part * 2) / 2 : kind.spread * part;
      };
      Nodes nodes(n);
      for (Point& node : nodes) node = {coordinate(), coordinate(), coordinate()};
      EXPECT_EQ(Build(text, kind.cell, nodes), ByDefinition(spec, kind.cell, nodes, kind.reach))
          << n << " nodes" << (on_a_grid ? " on a grid" : "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ImagesTest,
                         ::testing::Combine(::testing::ValuesIn(kKinds),
                                            ::testing::Values("radius:0.3", "radius:4", "radius:4.2:7", "knn:1",
                                                              "knn:12", "knn:30")),
                         [](const auto& test) {
                           std::string name =
                               std::string(std::get<0>(test.param).name) + "_" + std::get<1>(test.param);
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == ':' || c == '.'; }, '_');
                           return name;
                         });

// So many nodes along each axis, `spacing` apart.
Nodes GridOf(std::array<int, 3> counts, double spacing) {
  Nodes nodes;
  for (int z = 0; z < counts[2]; ++z) {
    for (int y = 0; y < counts[1]; ++y) {
      for (int x = 0; x < counts[0]; ++x) nodes.push_back({spacing * x, spacing * y, spacing * z});
    }
  }
  return nodes;
}

// Of a cubic cell, all of them alike.
TEST(PeriodicEdgesTest, ACellOfAThousandAtomsIsCountedAsALattice) {
  const Nodes nodes = GridOf({10, 10, 10}, 2);
  const PeriodicCell cell = Cell({20, 0, 0}, {0, 20, 0}, {0, 0, 20});
  EXPECT_EQ(Build("radius:2", cell, nodes).size(), 6000u);
  EXPECT_EQ(Build("radius:4", cell, nodes).size(), 32000u);
  EXPECT_EQ(Build("knn:18", cell, nodes).size(), 18000u);
}

// The shell of a hundred thousand atoms is found without looking at all pairs, of which there are ten billion.
TEST(PeriodicEdgesTest, LargeCellsAreNotQuadratic) {
  const Nodes nodes = GridOf({50, 50, 40}, 1);
  EXPECT_EQ(Build("knn:6", Cell({50, 0, 0}, {0, 50, 0}, {0, 0, 40}), nodes).size(), 600'000u);
}

TEST(PeriodicEdgesTest, TheSameLatticeInASkewedCellHasTheSameDistances) {
  const Nodes nodes = {{0, 0, 0}, {1.1, 1.3, 2.2}};
  const PeriodicCell plain = Cell({4, 0, 0}, {0, 5, 0}, {0, 0, 6});
  const PeriodicCell skewed = Cell({4, 0, 0}, {400, 5, 0}, {-4000, 350, 6});
  const auto distances = [&](const PeriodicCell& cell) {
    std::vector<double> sorted;
    for (const Edge& edge : Build("knn:40", cell, nodes)) sorted.push_back(Distance(cell, nodes, edge));
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  const std::vector<double> expected = distances(plain), found = distances(skewed);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-9);
}

TEST(PeriodicEdgesTest, OfImagesEquallyFarTheFirstSenderAndThenTheFirstShiftIsTaken) {
  const PeriodicCell cell = Cell({3, 0, 0}, {0, 3, 0}, {0, 0, 3});
  EXPECT_EQ(Build("knn:2", cell, {{0, 0, 0}}), (std::vector<Edge>{{0, 0, {-1, 0, 0}}, {0, 0, {0, -1, 0}}}));
  // Eight images of the other atom are equally far from each.
  EXPECT_EQ(Build("knn:1", cell, {{0, 0, 0}, {1.5, 1.5, 1.5}}),
            (std::vector<Edge>{{0, 1, {-1, -1, -1}}, {1, 0, {0, 0, 0}}}));
}

TEST(PeriodicEdgesTest, AShiftIsThatOfTheAtomsAsTheyAreStored) {
  const PeriodicCell cell = Cell({10, 0, 0}, {0, 10, 0}, {0, 0, 10});
  EXPECT_EQ(Build("knn:1", cell, {{0.5, 0, 0}, {29.5, 0, 0}}),
            (std::vector<Edge>{{0, 1, {-3, 0, 0}}, {1, 0, {3, 0, 0}}}));
}

TEST(PeriodicEdgesTest, AStructureAfterAnotherLeavesNoTraceOfIt) {
  WorkingMemory memory;
  PeriodicEdges builder(wire::ParseEdgeSpec("radius:1").value(), memory);
  const Lattice lattice = Lattice::Create(Cell({1, 0, 0}, {0, 1, 0}, {0, 0, 1})).value();
  const Lattice wide = Lattice::Create(Cell({9, 0, 0}, {0, 9, 0}, {0, 0, 9})).value();
  ASSERT_THAT(builder.Build(Nodes(3, {0, 0, 0}), lattice, kMaxEdges), IsOk());
  EXPECT_EQ(builder.edges().senders.size(), 3u * (6 * 3 + 2));
  ASSERT_THAT(builder.Build(Nodes(1, {0, 0, 0}), wide, kMaxEdges), IsOk());
  EXPECT_EQ(builder.edges().senders.size() + builder.shifts().size(), 0u);
}

TEST(PeriodicEdgesTest, MoreEdgesThanAllowedAreRefusedByFlagAndLimit) {
  const PeriodicCell cell = Cell({1, 0, 0}, {0, 1, 0}, {0, 0, 1});
  EXPECT_THAT(TryBuild("radius:1", cell, {{0, 0, 0}}, 6), IsOk());
  for (const char* const spec : {"radius:1", "knn:6", "radius:1e+09", "knn:2147483647"}) {
    EXPECT_THAT(TryBuild(spec, cell, {{0, 0, 0}}, 5),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(std::string("--edges ") + spec), HasSubstr("5 edges"))))
        << spec;
  }
  EXPECT_THAT(TryBuild("radius:1000", cell, {{0, 0, 0}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--edges radius:1000")));
  EXPECT_EQ(Build("radius:1e9:6", cell, {{0, 0, 0}}).size(), 6u);
}

TEST(PeriodicEdgesTest, EdgesAndNeighboursBeyondTheMemoryAreRefusedBeforeTheyAreHeld) {
  const Lattice lattice = Lattice::Create(Cell({1e3, 0, 0}, {0, 1e3, 0}, {0, 0, 1e3})).value();
  struct Case {
    const char* spec;
    std::uint64_t limit;
  };
  // The last is met by what one search finds, of which it takes one.
  for (const auto& [spec, limit] :
       {Case{"radius:3", 1 << 20}, Case{"knn:40", 1 << 20}, Case{"radius:900:1", 1 << 18}}) {
    std::uint64_t asked = 0;
    WorkingMemory memory([&asked, most = limit](std::uint64_t bytes) {
      asked = bytes;
      return bytes <= most ? absl::OkStatus() : absl::ResourceExhaustedError("too much");
    });
    PeriodicEdges builder(wire::ParseEdgeSpec(spec).value(), memory);
    EXPECT_THAT(builder.Build(Nodes(3000, {1, 2, 3}), lattice, kMaxEdges),
                StatusIs(absl::StatusCode::kResourceExhausted, "too much"))
        << spec;
    EXPECT_GT(asked, limit);
    EXPECT_LE(memory.bytes(), limit);
    EXPECT_LE(builder.edges().senders.size() * 20, memory.bytes());
    EXPECT_THAT(builder.Build(Nodes(20, {1, 2, 3}), lattice, kMaxEdges), IsOk()) << spec;
  }
}

TEST(PeriodicEdgesTest, AnAtomTooFarOutsideIsRefusedByNumber) {
  EXPECT_THAT(TryBuild("knn:3", Cell({1, 0, 0}, {0, 1, 0}, {0, 0, 1}), {{0, 0, 0}, {0, 1e30, 0}}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("node 1")));
}

struct BadCell {
  const char* name;
  PeriodicCell cell;
  const char* message;
};

void PrintTo(const BadCell& bad, std::ostream* out) { *out << bad.name; }

class BadCellTest : public ::testing::TestWithParam<BadCell> {};

TEST_P(BadCellTest, IsRefusedByWhatIsWrong) {
  EXPECT_THAT(Lattice::Create(GetParam().cell),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Cells, BadCellTest,
    ::testing::Values(BadCell{"Zero", {{}, {true, true, true}}, "first vector"},
                      BadCell{"OneVectorMissing", Cell({4, 0, 0}, {0, 0, 0}, {0, 0, 4}), "second vector"},
                      BadCell{"OnOneLine", Cell({4, 0, 0}, {0, 4, 0}, {8, 0, 0}), "no volume"},
                      BadCell{"InOnePlane", Cell({1, 2, 3}, {4, 5, 6}, {7, 8, 9}), "no volume"},
                      BadCell{"PlaneOnOneLine", Cell({1, 2, 3}, {2, 4, 6}, {0, 0, 1}, {true, true, false}),
                              "no volume"},
                      BadCell{"NotFinite", Cell({4, 0, 0}, {0, std::nan(""), 0}, {0, 0, 4}), "second vector"},
                      BadCell{"TooLong", Cell({4, 0, 0}, {0, 1e30, 0}, {0, 0, 4}), "second vector"},
                      BadCell{"TooShort", Cell({4, 0, 0}, {0, 4, 0}, {0, 0, 1e-9}), "third vector"},
                      BadCell{"TooDense", Cell({1, 0, 0}, {1, 1e-4, 0}, {0, 0, 1}), "repeats every"}),
    [](const auto& test) { return test.param.name; });

TEST(LatticeTest, UnusualCellsAreTaken) {
  EXPECT_THAT(Lattice::Create(Cell({0.01, 0, 0}, {0, 1e6, 0}, {0, 0, 3})), IsOk());
  EXPECT_THAT(Lattice::Create(Cell({4, 0, 0}, {0, 4, 0}, {0, 0, -4})), IsOk());
  EXPECT_THAT(Lattice::Create(Cell({4, 0, 0}, {0, 4, 0}, {0, 0, 0}, {true, true, false})), IsOk());
}

}  // namespace
}  // namespace packtrain::edges
