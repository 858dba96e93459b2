// The batch spec as flags and as a message.
#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "client/flags/spec_flags.h"
#include "client/internal/spec_convert.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

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
  EXPECT_EQ(flags.spec.policy, "static");
  EXPECT_EQ(flags.spec.graphs, 127u);
  EXPECT_EQ(flags.spec.pad, "");
  EXPECT_EQ(flags.spec.order, "full");
  EXPECT_EQ(flags.spec.oversize, "error");
  EXPECT_EQ(flags.spec.split, "");
  EXPECT_EQ(flags.spec.balance, "none");
  EXPECT_FALSE(flags.spec.cost.has_value());
  EXPECT_FALSE(flags.spec.nodes.has_value());
  EXPECT_EQ(flags.epoch, 0u);
  EXPECT_EQ(flags.world_size, 1u);
}

TEST(SpecFlags, SetEveryField) {
  const SpecFlags flags =
      Parse({"--policy=dynamic", "--graphs=8", "--max-graphs=9", "--nodes=100", "--edges=200", "--order=none",
             "--seed=7", "--split=val", "--oversize=skip", "--drop-last", "--epoch=3", "--world-size=4",
             "--pad=pow2", "--budget-sample=5", "--balance=cost", "--cost=9,2,1", "--lookahead=6"},
            kPlan);
  EXPECT_EQ(flags.spec.max_graphs, 9u);
  EXPECT_EQ(flags.spec.nodes, 100u);
  EXPECT_EQ(flags.spec.edges, 200u);
  EXPECT_EQ(flags.spec.order, "none");
  EXPECT_EQ(flags.spec.seed, 7u);
  EXPECT_EQ(flags.spec.split, "val");
  EXPECT_EQ(flags.spec.oversize, "skip");
  EXPECT_TRUE(flags.spec.drop_last);
  EXPECT_EQ(flags.spec.pad, "pow2");
  EXPECT_EQ(flags.spec.budget_sample, 5u);
  EXPECT_EQ(flags.spec.balance, "cost");
  EXPECT_EQ(flags.spec.cost, (CostCoefficients{.graph = 9, .node = 2, .edge = 1}));
  EXPECT_EQ(flags.spec.lookahead, 6u);
  EXPECT_EQ(flags.epoch, 3u);
  EXPECT_EQ(flags.world_size, 4u);
}

TEST(SpecFlags, RefuseUnknownWordsAndNumbersOutOfRange) {
  const std::vector<std::string> bad = {
      "--pad=round",        "--order=random", "--split=dev",       "--oversize=drop",   "--graphs=0",
      "--nodes=0",          "--nodes=-1",     "--edges=1e6",       "--seed=4294967296", "--epoch=-1",
      "--world-size=0",     "--max-graphs=x", "--budget-sample=0", "--policy=greedy",   "--balance=size",
      "--cost=1,2,1000001", "--cost=-1,2,3",  "--lookahead=0"};
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

TEST(SpecFlags, ACostHasThreeNumbers) {
  EXPECT_THROW(Parse({"--policy=static", "--graphs=8", "--cost=1,2"}, kPlan), CLI::ArgumentMismatch);
  EXPECT_THROW(Parse({"--policy=static", "--graphs=8", "--cost=1,2,3,4"}, kPlan), CLI::ArgumentMismatch);
}

TEST(SpecFlags, TakeAnOrderInWindows) {
  for (const std::string order : {"window:1", "window:4096", "window:4294967295"}) {
    EXPECT_EQ(Parse({"--policy=static", "--graphs=8", "--order", order}, kPlan).spec.order, order);
  }
  for (const std::string order : {"window", "window:", "window:0", "window:x", "window:-1", "window:4294967296",
                                  "window:8 ", "window:1.5", "Window:8", "full:3"}) {
    EXPECT_THROW(Parse({"--policy=static", "--graphs=8", "--order", order}, kPlan), CLI::ValidationError)
        << order;
  }
}

TEST(SpecFlags, TakeALadder) {
  for (const std::string pad : {"ladder:1", "ladder:64"}) {
    EXPECT_EQ(Parse({"--policy=static", "--graphs=8", "--pad", pad}, kPlan).spec.pad, pad);
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

BatchSpec FullSpec() {
  return {.policy = "static",
          .pad = "constant",
          .graphs = 31,
          .max_graphs = 32,
          .nodes = 600,
          .edges = 9000,
          .order = "none",
          .seed = 5,
          .split = "test",
          .oversize = "alone",
          .drop_last = true,
          .budget_sample = 100,
          .balance = "cost",
          .cost = CostCoefficients{.graph = 3, .node = 0, .edge = 2},
          .lookahead = 32};
}

TEST(SpecMessage, ComesBackAsItWent) {
  const auto message = ToMessage(FullSpec());
  ASSERT_THAT(message, IsOk());
  EXPECT_EQ(message->pad(), v1::PAD_CONSTANT);
  const BatchSpec back = FromMessage(*message);
  const auto again = ToMessage(back);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->SerializeAsString(), message->SerializeAsString());
  EXPECT_EQ(back.policy, "static");
  EXPECT_EQ(back.budget_sample, 100u);
  EXPECT_EQ(back.balance, "cost");
  EXPECT_EQ(back.cost, (CostCoefficients{.graph = 3, .node = 0, .edge = 2}));
  EXPECT_EQ(back.lookahead, 32u);
}

TEST(SpecMessage, CarriesTheWindow) {
  BatchSpec spec = FullSpec();
  spec.order = "window:4096";
  const auto message = ToMessage(spec);
  ASSERT_THAT(message, IsOk());
  EXPECT_EQ(message->order(), v1::ORDER_WINDOW);
  EXPECT_EQ(message->order_window(), 4096u);
  EXPECT_EQ(FromMessage(*message).order, "window:4096");
  EXPECT_FALSE(ToMessage(FullSpec())->has_order_window());
}

TEST(SpecMessage, CarriesTheRungs) {
  BatchSpec spec = FullSpec();
  spec.pad = "ladder:8";
  const auto message = ToMessage(spec);
  ASSERT_THAT(message, IsOk());
  EXPECT_EQ(message->pad(), v1::PAD_LADDER);
  EXPECT_EQ(message->ladder_rungs(), 8u);
  EXPECT_EQ(FromMessage(*message).pad, "ladder:8");
  spec.pad = "ladder:65";
  EXPECT_THAT(ToMessage(spec), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("constant and ladder:K with K from 1 to 64")));
}

TEST(SpecMessage, LeavesOutWhatIsNotSaid) {
  BatchSpec spec;
  spec.policy = "dynamic";
  spec.graphs = 8;
  const auto message = ToMessage(spec);
  ASSERT_THAT(message, IsOk());
  EXPECT_EQ(message->pad(), v1::PAD_UNSPECIFIED);
  EXPECT_FALSE(message->has_nodes());
  EXPECT_FALSE(message->has_budget_sample());
  EXPECT_FALSE(message->has_cost());
  EXPECT_FALSE(message->has_lookahead());
}

TEST(SpecMessage, NamesTheFlagAndTheKnownWords) {
  BatchSpec spec = FullSpec();
  spec.policy = "";
  EXPECT_THAT(ToMessage(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--policy is missing")));
  spec.policy = "greedy";
  EXPECT_THAT(ToMessage(spec),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--policy \"greedy\""), HasSubstr("static, dynamic, packed"))));
  spec = FullSpec();
  spec.pad = "64";
  EXPECT_THAT(ToMessage(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--pad \"64\"")));
  spec = FullSpec();
  spec.order = "window";
  EXPECT_THAT(ToMessage(spec), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("full, none and window:K with K from 1 to")));
  spec = FullSpec();
  spec.oversize = "cut";
  EXPECT_THAT(ToMessage(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--oversize")));
  spec = FullSpec();
  spec.balance = "nodes";
  EXPECT_THAT(ToMessage(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--balance")));
}

TEST(SpecMessage, ShowsValuesOfANewerServer) {
  v1::BatchSpec message;
  message.set_policy(static_cast<v1::Policy>(77));
  EXPECT_EQ(FromMessage(message).policy, "unknown(77)");
  EXPECT_EQ(FromMessage(v1::BatchSpec()).policy, "");
}

}  // namespace
}  // namespace packtrain::client
