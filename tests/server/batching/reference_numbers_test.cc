// Plans of real size lists against numbers that other code computed (tests/data/sizes/README.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "server/batching/budget_tuning.h"
#include "server/batching/plan.h"

namespace packtrain::batching {
namespace {

using Json = nlohmann::json;

// A file, gzip or plain.
std::string ReadText(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  EXPECT_NE(file, nullptr) << path;
  std::string text;
  char buffer[1 << 16];
  for (int bytes = 1; file != nullptr && bytes > 0;) {
    bytes = gzread(file.get(), buffer, sizeof(buffer));
    EXPECT_GE(bytes, 0) << path;
    text.append(buffer, static_cast<std::size_t>(std::max(bytes, 0)));
  }
  return text;
}

struct SizeList {
  std::vector<std::uint32_t> n_node;
  std::vector<std::uint32_t> n_edge;
  std::vector<std::uint32_t> all;
};

// Lines of "n_node n_edge".
SizeList ReadSizes(const std::string& path) {
  SizeList list;
  std::istringstream in(ReadText(path));
  for (std::uint32_t n_node = 0, n_edge = 0; in >> n_node >> n_edge;) {
    list.n_node.push_back(n_node);
    list.n_edge.push_back(n_edge);
  }
  list.all.resize(list.n_node.size());
  std::iota(list.all.begin(), list.all.end(), 0u);
  return list;
}

wire::PlanSummary Summarize(const SizeList& list, const wire::BatchSpec& spec) {
  const auto plan = Plan::Create({spec, {list.n_node, list.n_edge}, list.all, 0, {}, nullptr});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? (*plan)->Summarize() : wire::PlanSummary();
}

void ExpectNumbers(const wire::PlanSummary& summary, const Json& expected) {
  EXPECT_EQ(summary.batches, expected["batches"]);
  EXPECT_EQ(summary.steps, expected["batches"]);
  EXPECT_EQ(summary.shapes.size(), expected["shapes"]);
  EXPECT_NEAR(summary.fill_nodes, expected["node_fill"], 1e-6);
  EXPECT_NEAR(summary.fill_edges, expected["edge_fill"], 1e-6);
}

void CheckDynamic(const SizeList& list, std::uint32_t graphs, const Json& expected) {
  const wire::BatchSpec spec = {
      .policy = wire::Policy::kDynamic, .graphs = graphs, .order = wire::Order::kNone};
  const wire::PlanSummary summary = Summarize(list, spec);
  ExpectNumbers(summary, expected["dynamic"]);
  EXPECT_EQ(summary.budget, (wire::Shape{graphs, expected["budget"]["nodes"], expected["budget"]["edges"]}));
  // The expected bound leaves the graph limit out.
  const std::uint64_t by_graphs = (list.all.size() + graphs - 1) / graphs;
  EXPECT_EQ(summary.bound_batches, std::max<std::uint64_t>(by_graphs, expected["bound_batches"]));
}

// The numbers for these packers, or, for the full lists, the bars: fewer batches than `dynamic` or as few as
// there can be, and no more than a plainer packer needs.
void CheckPacked(const SizeList& list, std::uint32_t graphs, wire::Policy policy, const char* name,
                 const Json& expected) {
  const wire::PlanSummary packed =
      Summarize(list, {.policy = policy, .graphs = graphs, .order = wire::Order::kNone});
  if (expected.contains(name)) return ExpectNumbers(packed, expected[name]);
  EXPECT_TRUE(packed.batches < expected["dynamic"]["batches"] || packed.batches == packed.bound_batches)
      << packed.batches << " batches, bound " << packed.bound_batches;
  EXPECT_LE(packed.batches, expected["packed_same_budget"]["batches"]);
}

void CheckStatic(const SizeList& list, std::uint32_t graphs, wire::Pad pad, const Json& expected) {
  const wire::BatchSpec spec = {
      .policy = wire::Policy::kStatic, .pad = pad, .graphs = graphs, .order = wire::Order::kNone};
  const wire::PlanSummary summary = Summarize(list, spec);
  ExpectNumbers(summary, expected);
  EXPECT_EQ(summary.budget, std::nullopt);
  EXPECT_EQ(summary.bound_batches, summary.batches);
}

// Checks every list that FOLDER/expected.json names.
void CheckFolder(const std::string& folder) {
  const Json expected = Json::parse(ReadText(folder + "/expected.json"));
  for (const auto& [name, description] : expected["lists"].items()) {
    const std::string text = description;
    const SizeList list = ReadSizes(folder + "/" + text.substr(0, text.find(' ')));
    ASSERT_EQ(list.all.size(), expected[name]["graphs"]) << name;
    for (const auto& [batch_size, numbers] : expected[name]["by_batch_size"].items()) {
      SCOPED_TRACE(name + ", B = G + 1 = " + batch_size);
      const auto graphs = static_cast<std::uint32_t>(std::stoul(batch_size)) - 1;
      CheckDynamic(list, graphs, numbers);
      CheckPacked(list, graphs, wire::Policy::kPacked, "packed", numbers);
      CheckPacked(list, graphs, wire::Policy::kTuple, "tuple", numbers);
      CheckStatic(list, graphs, wire::Pad::kMultiple, numbers["static_multiple"]);
      CheckStatic(list, graphs, wire::Pad::kPow2, numbers["static_pow2"]);
      CheckStatic(list, graphs, wire::Pad::kConstant, numbers["static_constant"]);
    }
  }
}

TEST(ReferenceNumbersTest, SmallListsGiveTheExpectedPlans) { CheckFolder(PACKTRAIN_TEST_DATA "/sizes"); }

// On the full lists of $PACKTRAIN_DATA/reference.
class FullListsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("PACKTRAIN_DATA");
    if (data == nullptr) GTEST_SKIP() << "$PACKTRAIN_DATA names no folder with reference/expected.json";
    folder_ = std::string(data) + "/reference";
  }

  // Batches over the fewest that there can be.
  double OverBound(const std::string& list, wire::BatchSpec spec) const {
    spec.order = wire::Order::kNone;
    const wire::PlanSummary summary = Summarize(ReadSizes(folder_ + "/" + list + "_sizes.txt.gz"), spec);
    return static_cast<double>(summary.batches) / static_cast<double>(summary.bound_batches);
  }

  std::string folder_;
};

TEST_F(FullListsTest, GiveTheExpectedPlans) { CheckFolder(folder_); }

// A plainer packer's, tuned too.
TEST_F(FullListsTest, TunedBudgetsFillAsExpected) {
  const Json expected = Json::parse(ReadText(folder_ + "/expected.json"));
  for (const std::string list : {"mp_knn12", "hiv", "pcqm4mv2_heavy", "great"}) {
    const SizeList sizes = ReadSizes(folder_ + "/" + list + "_sizes.txt.gz");
    for (const auto& [batch_size, numbers] : expected[list]["by_batch_size"].items()) {
      wire::BatchSpec spec = {.policy = wire::Policy::kPacked, .graphs = 0, .order = wire::Order::kNone};
      spec.graphs = static_cast<std::uint32_t>(std::stoul(batch_size)) - 1;
      const Json& tuned = numbers["packed_tuned"];
      EXPECT_GE(TuneBudget({spec, {sizes.n_node, sizes.n_edge}, sizes.all, 0, {}, nullptr})
                    .value()
                    .front()
                    .SmallerFill(),
                std::min(tuned["node_fill"].get<double>(), tuned["edge_fill"].get<double>()))
          << list << ", B = " << batch_size;
    }
  }
}

// About 8.6 and 3.9 graphs a batch.
TEST_F(FullListsTest, SmallBudgetsNeedFewBatchesAboveTheBound) {
  EXPECT_LE(OverBound("hiv", {.policy = wire::Policy::kPacked, .graphs = 8, .nodes = 223, .edges = 502}),
            1.003);
  EXPECT_LE(
      OverBound("pcqm4mv2_heavy",
                {.policy = wire::Policy::kPacked, .graphs = 4, .max_graphs = 8, .nodes = 61, .edges = 120}),
      1.03);
  EXPECT_LE(OverBound("hiv", {.policy = wire::Policy::kTuple, .graphs = 8, .nodes = 223, .edges = 502}), 1.001);
  EXPECT_LE(
      OverBound("pcqm4mv2_heavy",
                {.policy = wire::Policy::kTuple, .graphs = 4, .max_graphs = 8, .nodes = 61, .edges = 120}),
      1.025);
}

}  // namespace
}  // namespace packtrain::batching
