#include "proto/wire/batch_spec_convert.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/base/error_details.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::wire {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

// The values of an enum of the protocol, and what a table has for them: "POLICY_STATIC" is "static".
template <typename Enum, typename Plain, std::size_t N>
void ExpectSameValues(const Word<Plain> (&words)[N], const std::string& prefix) {
  const google::protobuf::EnumDescriptor& values = *google::protobuf::GetEnumDescriptor<Enum>();
  EXPECT_EQ(values.value_count(), static_cast<int>(N) + 1) << prefix;
  for (const Word<Plain>& word : words) {
    std::string name = prefix + word.text;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    const google::protobuf::EnumValueDescriptor* const value = values.FindValueByName(name);
    ASSERT_NE(value, nullptr) << name;
    EXPECT_EQ(value->number(), static_cast<int>(word.value)) << name;
  }
}

TEST(BatchSpecConvertTest, EnumsAndWordsAreThoseOfTheProtocol) {
  ExpectSameValues<v1::Policy>(kPolicyWords, "policy_");
  ExpectSameValues<v1::Pad>(kPadWords, "pad_");
  ExpectSameValues<v1::Order>(kOrderWords, "order_");
  ExpectSameValues<v1::Oversize>(kOversizeWords, "oversize_");
  ExpectSameValues<v1::SkipAbove>(kSkipAboveWords, "skip_above_");
  ExpectSameValues<v1::Balance>(kBalanceWords, "balance_");
}

// Every field has a flag of its name, save the numbers that stand behind the words of others.
TEST(BatchSpecConvertTest, OptionsAreTheFieldsOfTheProtocol) {
  std::set<std::string> flags;
  for (const OptionText& option : OptionTexts(BatchSpec())) flags.insert(option.flag);
  std::set<std::string> fields;
  const google::protobuf::Descriptor& message = *v1::BatchSpec::descriptor();
  for (int k = 0; k < message.field_count(); ++k) {
    const std::string name = message.field(k)->name();
    if (name == "ladder_rungs" || name == "order_window" || name == "skip_above_limit") continue;
    fields.insert("--" + absl::StrReplaceAll(name, {{"_", "-"}}));
  }
  EXPECT_EQ(flags, fields);
}

BatchSpec FullSpec() {
  return {.policy = Policy::kStatic,
          .pad = Pad::kLadder,
          .ladder_rungs = 8,
          .graphs = 31,
          .max_graphs = 32,
          .nodes = 600,
          .edges = 9000,
          .order = Order::kWindow,
          .order_window = 4096,
          .seed = 5,
          .split = "test",
          .oversize = Oversize::kAlone,
          .drop_last = true,
          .budget_sample = 100,
          .balance = Balance::kCost,
          .cost = CostCoefficients{.graph = 3, .node = 0, .edge = 2},
          .lookahead = 16,
          .blocks = 4,
          .block_nodes = 64,
          .skip_above = SkipAbove::kBandwidth,
          .skip_above_limit = 1024};
}

TEST(BatchSpecConvertTest, AMessageHasEveryFieldOfAFullSpec) {
  const absl::StatusOr<v1::BatchSpec> message = ToMessage(FullSpec());
  ASSERT_THAT(message, IsOk());
  std::vector<const google::protobuf::FieldDescriptor*> set;
  message->GetReflection()->ListFields(*message, &set);
  EXPECT_EQ(static_cast<int>(set.size()), v1::BatchSpec::descriptor()->field_count());
  EXPECT_EQ(message->pad(), v1::PAD_LADDER);
  EXPECT_EQ(message->ladder_rungs(), 8u);
  EXPECT_EQ(message->order(), v1::ORDER_WINDOW);
  EXPECT_EQ(message->order_window(), 4096u);
  EXPECT_EQ(message->cost().edge(), 2u);
  EXPECT_EQ(message->skip_above(), v1::SKIP_ABOVE_BANDWIDTH);
  EXPECT_EQ(message->skip_above_limit(), 1024u);
}

TEST(BatchSpecConvertTest, ASpecComesBackAsItWent) {
  for (const BatchSpec& spec : {FullSpec(), BatchSpec{.policy = Policy::kDynamic, .graphs = 8}}) {
    const absl::StatusOr<v1::BatchSpec> message = ToMessage(spec);
    ASSERT_THAT(message, IsOk());
    const absl::StatusOr<BatchSpec> back = FromMessage(*message);
    ASSERT_THAT(back, IsOk());
    EXPECT_TRUE(*back == spec);
  }
}

TEST(BatchSpecConvertTest, AMessageLeavesOutWhatIsNotGiven) {
  const absl::StatusOr<v1::BatchSpec> message = ToMessage(BatchSpec{.policy = Policy::kDynamic, .graphs = 8});
  ASSERT_THAT(message, IsOk());
  EXPECT_EQ(message->pad(), v1::PAD_UNSPECIFIED);
  EXPECT_FALSE(message->has_ladder_rungs());
  EXPECT_FALSE(message->has_order_window());
  EXPECT_FALSE(message->has_nodes());
  EXPECT_FALSE(message->has_budget_sample());
  EXPECT_FALSE(message->has_cost());
  EXPECT_FALSE(message->has_lookahead());
  EXPECT_FALSE(message->has_blocks());
  EXPECT_FALSE(message->has_block_nodes());
  EXPECT_EQ(message->skip_above(), v1::SKIP_ABOVE_UNSPECIFIED);
  EXPECT_FALSE(message->has_skip_above_limit());
}

TEST(BatchSpecConvertTest, ASpecWithoutAPolicyIsNotSent) {
  EXPECT_THAT(ToMessage(BatchSpec{.graphs = 8}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--policy is missing")));
}

TEST(BatchSpecConvertTest, UnspecifiedValuesAreTheDefaults) {
  v1::BatchSpec message;
  message.set_policy(v1::POLICY_PACKED);
  message.set_edges(0);  // present, and out of range, which the planner says
  const absl::StatusOr<BatchSpec> spec = FromMessage(message);
  ASSERT_THAT(spec, IsOk());
  EXPECT_FALSE(spec->pad);
  EXPECT_EQ(spec->order, Order::kFull);
  EXPECT_EQ(spec->oversize, Oversize::kError);
  EXPECT_EQ(spec->balance, Balance::kNone);
  EXPECT_FALSE(spec->nodes);
  EXPECT_EQ(spec->edges, 0u);
}

absl::Status Refused(const std::string& field, const std::string& message) {
  return base::WithField(absl::InvalidArgumentError(message), field);
}

TEST(BatchSpecConvertTest, ValuesThatAreNotKnownHereAreRefusedByTheirField) {
  v1::BatchSpec message;
  EXPECT_EQ(FromMessage(message).status(),
            Refused("spec.policy",
                    "spec.policy is missing: choose one of static, dynamic, packed, tuple, "
                    "supergraph (--policy)"));
  message.set_policy(static_cast<v1::Policy>(99));
  EXPECT_EQ(
      FromMessage(message).status(),
      Refused("spec.policy", "spec.policy = 99 is not known to this server; it may be older than the client"));
  message.set_policy(v1::POLICY_DYNAMIC);
  message.set_oversize(static_cast<v1::Oversize>(17));
  EXPECT_EQ(FromMessage(message).status(),
            Refused("spec.oversize",
                    "spec.oversize = 17 is not known to this server; it may be older than the client"));
}

TEST(BatchSpecConvertTest, AWorldWithoutASizeIsOneRank) {
  v1::StreamBatchesRequest request;
  EXPECT_EQ(WorldOf(request), World());
  request.set_world_size(4);
  *request.add_segments() = ToMessage(Segment{.world_size = 2, .steps = 7});
  request.add_segments();  // of no rank, which the planner refuses
  EXPECT_EQ(WorldOf(request), (World{.size = 4, .segments = {{2, 7}, {0, 0}}}));
}

TEST(BatchSpecConvertTest, AShapeComesBackAsItWent) {
  for (const Shape& shape : {Shape{1, 2, 3}, Shape{.graphs = 1, .nodes = 8, .edges = 3, .block_nodes = 4}}) {
    EXPECT_EQ(FromMessage(ToMessage(shape)), shape);
  }
  EXPECT_FALSE(ToMessage(Shape{1, 2, 3}).has_block_nodes());
}

TEST(BatchSpecConvertTest, APlanTellsAllOfItsSummary) {
  const PlanSummary summary = {.batches = 1,
                               .steps = 2,
                               .graphs = 3,
                               .dropped_graphs = 16,
                               .skipped_graphs = 17,
                               .budget = Shape{4, 5, 6},
                               .fill_graphs = 0.25,
                               .fill_nodes = 0.5,
                               .fill_edges = 0.75,
                               .shapes = {{.shape = {7, 8, 9}, .batches = 10}},
                               .mean_graphs = 1.5,
                               .min_graphs = 11,
                               .max_graphs = 12,
                               .oversize = 2,
                               .oversize_graphs = {13},
                               .rank_load_mean_over_max = 0.875,
                               .bound_batches = 14};
  const v1::GetPlanResponse plan =
      ToMessage(summary, {.policy = Policy::kDynamic, .oversize = Oversize::kSkip}, /*plan_version=*/15);
  EXPECT_EQ(plan.ShortDebugString(),
            "batches: 1 steps: 2 graphs: 3 budget { graphs: 4 nodes: 5 edges: 6 } "
            "fill { graphs: 0.25 nodes: 0.5 edges: 0.75 } shapes { shape { graphs: 7 nodes: 8 edges: 9 } "
            "batches: 10 } "
            "mean_graphs: 1.5 min_graphs: 11 max_graphs: 12 "
            "oversize { action: OVERSIZE_SKIP count: 2 truncated: true } rank_load_mean_over_max: 0.875 "
            "bound_batches: 14 plan_version: 15 dropped_graphs: 16 skipped_graphs: 17");
}

v1::BatchSpec Spec(v1::Policy policy, v1::Pad pad) {
  v1::BatchSpec spec;
  spec.set_policy(policy);
  spec.set_pad(pad);
  return spec;
}

TEST(PolicyNameTest, APolicyIncludesItsPad) {
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_NONE)), "static-none");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_MULTIPLE)), "static-multiple");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_POW2)), "static-pow2");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_CONSTANT)), "static-constant");
  v1::BatchSpec ladder = Spec(v1::POLICY_STATIC, v1::PAD_LADDER);
  ladder.set_ladder_rungs(8);
  EXPECT_EQ(PolicyName(ladder), "static-ladder:8");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_DYNAMIC, v1::PAD_UNSPECIFIED)), "dynamic");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_PACKED, v1::PAD_UNSPECIFIED)), "packed");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_TUPLE, v1::PAD_UNSPECIFIED)), "tuple");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_SUPERGRAPH, v1::PAD_UNSPECIFIED)), "supergraph");
}

TEST(PolicyNameTest, AnUnstatedPadIsTheDefault) {
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_UNSPECIFIED)), "static-multiple");
}

TEST(PolicyNameTest, AnUnstatedPolicyHasNoName) {
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_UNSPECIFIED, v1::PAD_UNSPECIFIED)), "");
}

TEST(PolicyNameTest, ValuesOfANewerPeerAreNumbered) {
  EXPECT_EQ(PolicyName(Spec(static_cast<v1::Policy>(77), v1::PAD_UNSPECIFIED)), "unknown(77)");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, static_cast<v1::Pad>(78))), "static-unknown(78)");
}

}  // namespace
}  // namespace packtrain::wire
