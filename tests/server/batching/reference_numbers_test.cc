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

PlanSummary Summarize(const SizeList& list, const BatchSpec& spec) {
  const auto plan = Plan::Create({spec, {list.n_node, list.n_edge}, list.all, 0, {}, nullptr});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? (*plan)->Summarize() : PlanSummary();
}

void ExpectNumbers(const PlanSummary& summary, const Json& expected) {
  EXPECT_EQ(summary.batches, expected["batches"]);
  EXPECT_EQ(summary.steps, expected["batches"]);
  EXPECT_EQ(summary.shapes.size(), expected["shapes"]);
  EXPECT_NEAR(summary.fill_nodes, expected["node_fill"], 1e-6);
  EXPECT_NEAR(summary.fill_edges, expected["edge_fill"], 1e-6);
}

void CheckDynamic(const SizeList& list, std::uint32_t graphs, const Json& expected) {
  const BatchSpec spec = {.policy = Policy::kDynamic, .graphs = graphs, .order = Order::kNone};
  const PlanSummary summary = Summarize(list, spec);
  ExpectNumbers(summary, expected["dynamic"]);
  EXPECT_EQ(summary.budget, (Shape{graphs, expected["budget"]["nodes"], expected["budget"]["edges"]}));
  // The expected bound leaves the graph limit out.
  const std::uint64_t by_graphs = (list.all.size() + graphs - 1) / graphs;
  EXPECT_EQ(summary.bound_batches, std::max<std::uint64_t>(by_graphs, expected["bound_batches"]));
}

void CheckStatic(const SizeList& list, std::uint32_t graphs, Pad pad, const Json& expected) {
  const BatchSpec spec = {.policy = Policy::kStatic, .pad = pad, .graphs = graphs, .order = Order::kNone};
  const PlanSummary summary = Summarize(list, spec);
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
      CheckStatic(list, graphs, Pad::kMultiple, numbers["static_multiple"]);
      CheckStatic(list, graphs, Pad::kPow2, numbers["static_pow2"]);
      CheckStatic(list, graphs, Pad::kConstant, numbers["static_constant"]);
    }
  }
}

TEST(ReferenceNumbersTest, SmallListsGiveTheExpectedPlans) { CheckFolder(PACKTRAIN_TEST_DATA "/sizes"); }

TEST(ReferenceNumbersTest, FullListsGiveTheExpectedPlans) {
  const char* data = std::getenv("PACKTRAIN_DATA");
  if (data == nullptr) GTEST_SKIP() << "$PACKTRAIN_DATA names no folder with reference/expected.json";
  CheckFolder(std::string(data) + "/reference");
}

}  // namespace
}  // namespace packtrain::batching
