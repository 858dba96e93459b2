// The batch spec as flags.
#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "client/flags/spec_flags.h"

namespace packtrain::client {
namespace {

using ::testing::HasSubstr;

constexpr SpecFlagChoice kPlan{.required = true, .epoch = true, .world_size = true};

SpecFlags Parse(std::vector<std::string> words, const SpecFlagChoice& choice) {
  CLI::App app;
  SpecFlags flags;
  AddSpecFlags(app, flags, choice);
  std::reverse(words.begin(), words.end());
  app.parse(words);
  return flags;
}

TEST(SpecFlags, TakeDefaultsFromTheSpec) {
  const SpecFlags flags = Parse({"--policy", "static", "--graphs", "127"}, kPlan);
  EXPECT_EQ(flags.spec.policy, wire::Policy::kStatic);
  EXPECT_EQ(flags.spec.graphs, 127u);
  EXPECT_EQ(flags.spec.pad, std::nullopt);
  EXPECT_EQ(flags.spec.order, wire::Order::kFull);
  EXPECT_EQ(flags.spec.oversize, wire::Oversize::kError);
  EXPECT_EQ(flags.spec.split, "");
  EXPECT_EQ(flags.spec.balance, wire::Balance::kNone);
  EXPECT_FALSE(flags.spec.cost.has_value());
  EXPECT_FALSE(flags.spec.nodes.has_value());
  EXPECT_EQ(flags.epoch, 0u);
  EXPECT_EQ(flags.world_size, 1u);
}

TEST(SpecFlags, SetEveryField) {
  const SpecFlags flags = Parse(
      {"--policy=dynamic", "--graphs=8",     "--max-graphs=9", "--nodes=100",       "--edges=200",
       "--order=none",     "--seed=7",       "--split=val",    "--oversize=skip",   "--drop-last",
       "--epoch=3",        "--world-size=4", "--pad=pow2",     "--budget-sample=5", "--balance=cost",
       "--cost=9,2,1",     "--lookahead=6",  "--blocks=11",    "--block-nodes=12",  "--skip-above=nodes:512"},
      kPlan);
  EXPECT_EQ(flags.spec.max_graphs, 9u);
  EXPECT_EQ(flags.spec.nodes, 100u);
  EXPECT_EQ(flags.spec.edges, 200u);
  EXPECT_EQ(flags.spec.order, wire::Order::kNone);
  EXPECT_EQ(flags.spec.seed, 7u);
  EXPECT_EQ(flags.spec.split, "val");
  EXPECT_EQ(flags.spec.oversize, wire::Oversize::kSkip);
  EXPECT_TRUE(flags.spec.drop_last);
  EXPECT_EQ(flags.spec.pad, wire::Pad::kPow2);
  EXPECT_EQ(flags.spec.budget_sample, 5u);
  EXPECT_EQ(flags.spec.balance, wire::Balance::kCost);
  EXPECT_EQ(flags.spec.cost, (wire::CostCoefficients{.graph = 9, .node = 2, .edge = 1}));
  EXPECT_EQ(flags.spec.lookahead, 6u);
  EXPECT_EQ(flags.spec.blocks, 11u);
  EXPECT_EQ(flags.spec.block_nodes, 12u);
  EXPECT_EQ(flags.spec.skip_above, wire::SkipAbove::kNodes);
  EXPECT_EQ(flags.spec.skip_above_limit, 512u);
  EXPECT_EQ(flags.epoch, 3u);
  EXPECT_EQ(flags.world_size, 4u);
}

TEST(SpecFlags, RefuseUnknownWordsAndNumbersOutOfRange) {
  const std::vector<std::string> bad = {"--pad=round",          "--order=random",       "--split=dev",
                                        "--oversize=drop",      "--graphs=0",           "--nodes=0",
                                        "--nodes=-1",           "--edges=1e6",          "--seed=4294967296",
                                        "--epoch=-1",           "--world-size=0",       "--max-graphs=x",
                                        "--budget-sample=0",    "--policy=greedy",      "--balance=size",
                                        "--cost=1,2,1000001",   "--cost=-1,2,3",        "--lookahead=0",
                                        "--blocks=0",           "--block-nodes=0",      "--skip-above=nodes",
                                        "--skip-above=nodes:0", "--skip-above=edges:9", "--skip-above=64"};
  for (const std::string& flag : bad) {
    std::vector<std::string> words = {"--policy=static", "--graphs=8", flag};
    if (flag.starts_with("--policy")) words = {"--graphs=8", flag};
    if (flag.starts_with("--graphs")) words = {"--policy=static", flag};
    EXPECT_THROW(Parse(words, kPlan), CLI::ValidationError) << flag;
  }
}

TEST(SpecFlags, SayWhichNumbersThePlannerTakes) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"--graphs=16777217", "from 1 to 16777216"},    {"--max-graphs=16777217", "from 1 to 16777216"},
      {"--nodes=1", "from 2 to 2147483647"},          {"--nodes=2147483648", "from 2 to 2147483647"},
      {"--edges=2147483648", "from 1 to 2147483647"}, {"--lookahead=4097", "from 1 to 4096"}};
  for (const auto& [flag, range] : bad) {
    std::vector<std::string> words = {"--policy=packed", flag};
    if (!flag.starts_with("--graphs")) words.emplace_back("--graphs=8");
    try {
      Parse(words, kPlan);
      ADD_FAILURE() << flag << " is taken";
    } catch (const CLI::ValidationError& error) {
      EXPECT_THAT(error.what(), HasSubstr(range)) << flag;
    }
  }
}

TEST(SpecFlags, SupergraphsAloneNeedNoGraphs) {
  EXPECT_EQ(Parse({"--policy=supergraph", "--blocks=4", "--block-nodes=64"}, kPlan).spec.graphs, 0u);
  EXPECT_EQ(Parse({"--graphs=8", "--policy=supergraph", "--blocks=4", "--block-nodes=64"}, kPlan).spec.graphs,
            8u);
  EXPECT_THROW(Parse({"--policy=dynamic"}, kPlan), CLI::RequiredError);
  EXPECT_THROW(Parse({"--blocks=4", "--block-nodes=64"}, kPlan), CLI::RequiredError);
}

TEST(SpecFlags, ACostHasThreeNumbers) {
  EXPECT_THROW(Parse({"--policy=static", "--graphs=8", "--cost=1,2"}, kPlan), CLI::ArgumentMismatch);
  EXPECT_THROW(Parse({"--policy=static", "--graphs=8", "--cost=1,2,3,4"}, kPlan), CLI::ArgumentMismatch);
}

TEST(SpecFlags, TakeAnOrderInWindows) {
  for (const std::string order : {"window:1", "window:4096", "window:4294967295"}) {
    EXPECT_EQ(wire::OrderText(Parse({"--policy=static", "--graphs=8", "--order", order}, kPlan).spec), order);
  }
  for (const std::string order : {"window", "window:", "window:0", "window:x", "window:-1", "window:4294967296",
                                  "window:8 ", "window:1.5", "Window:8", "full:3"}) {
    EXPECT_THROW(Parse({"--policy=static", "--graphs=8", "--order", order}, kPlan), CLI::ValidationError)
        << order;
  }
}

TEST(SpecFlags, TakeALadder) {
  for (const std::string pad : {"ladder:1", "ladder:64"}) {
    EXPECT_EQ(wire::PadText(Parse({"--policy=static", "--graphs=8", "--pad", pad}, kPlan).spec), pad);
  }
  for (const std::string pad :
       {"ladder", "ladder:", "ladder:0", "ladder:65", "ladder:x", "ladder:-1", "pow2:3"}) {
    EXPECT_THROW(Parse({"--policy=static", "--graphs=8", "--pad", pad}, kPlan), CLI::ValidationError) << pad;
  }
}

TEST(SpecFlags, AreRequiredOnlyWhereAsked) {
  EXPECT_THROW(Parse({"--policy=static"}, {}), CLI::RequiredError);
  EXPECT_THROW(Parse({"--graphs=4"}, {}), CLI::RequiredError);
  EXPECT_EQ(Parse({}, {.required = false}).spec.graphs, 0u);
}

TEST(SpecFlags, EpochAndWorldSizeAreUnknownWhereNotAsked) {
  EXPECT_THROW(Parse({"--policy=static", "--graphs=8", "--world-size=2"}, {}), CLI::ExtrasError);
  EXPECT_THROW(Parse({"--policy=static", "--graphs=8", "--epoch=2"}, {}), CLI::ExtrasError);
}

}  // namespace
}  // namespace packtrain::client
