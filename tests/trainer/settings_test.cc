#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "trainer/engine/precision.h"
#include "trainer/options.h"
#include "trainer/run/reported_settings.h"
#include "trainer/run/run_settings.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(Precision, OfTheCpuIsF32Bf16OrF64) {
  EXPECT_EQ(SetPrecision("f32", at::kCPU).value(), at::kFloat);
  EXPECT_EQ(SetPrecision("bf16", at::kCPU).value(), at::kBFloat16);
  EXPECT_EQ(SetPrecision("f64", at::kCPU).value(), at::kDouble);
  EXPECT_THAT(SetPrecision("f64", at::kCUDA),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--device cpu")));
  EXPECT_THAT(SetPrecision("tf32", at::kCPU),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--precision tf32: the CPU has")));
  EXPECT_THAT(SetPrecision("f16", at::kCPU),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("there are f32, tf32, bf16 and f64")));
}

TEST(RunSettings, AModelIsWhatItsChoicesSayAndTheUsualOneWhereTheySayNothing) {
  using Choices = std::map<std::string, std::string>;
  const Settings usual = SettingsOf(Choices{}), small = SettingsOf(Choices{{"hidden", "32"}});
  EXPECT_THAT(CheckSameSettings(small, SettingsOf(Choices{{"hidden", "32"}})), IsOk());
  EXPECT_THAT(CheckSameSettings(/*then=*/{}, usual), IsOk()) << "a checkpoint of a program without choices";
  EXPECT_THAT(CheckSameSettings(small, usual),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--hidden was '32' and is ''")));
}

TEST(RunSettings, ARateIsTheStaircaseWhereItSaysNothing) {
  const Settings cosine = SettingsOf(RateChoices{.schedule = RateSchedule::kCosine, .steps = 9});
  EXPECT_THAT(CheckSameSettings(/*then=*/{}, SettingsOf(RateChoices{.steps = 9})), IsOk())
      << "a checkpoint of a program without schedules";
  EXPECT_THAT(CheckSameSettings(SettingsOf(RateChoices{.steps = 9}), SettingsOf(RateChoices{.steps = 12})),
              IsOk());
  EXPECT_THAT(
      CheckSameSettings(cosine, SettingsOf(RateChoices{.schedule = RateSchedule::kCosine, .steps = 12})),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("--lr-schedule was 'cosine over 9 steps' and is 'cosine over 12 steps'")));
  EXPECT_THAT(CheckSameSettings(SettingsOf(RateChoices{.warmup_steps = 3}), SettingsOf(RateChoices{})),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--warmup-steps was '3' and is ''")));
}

TEST(Labels, AreNamedOnceEach) {
  EXPECT_THAT(ParseLabels("a=1,a=2"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("twice")));
  EXPECT_THAT(ParseLabels("=1"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseLabels("a"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ReportedSettings, HaveAsManyTargetsAsAServerTakes) {
  const auto named = [](std::size_t count, std::size_t bytes) {
    std::vector<Target> targets;
    for (std::size_t i = 0; i < count; ++i) targets.push_back({.name = std::string(bytes, 'a'), .unit = ""});
    return targets;
  };
  EXPECT_EQ(TargetToReport({}), "");
  EXPECT_EQ(TargetToReport(named(2, 3)), "aaa,aaa");
  const std::string many = TargetToReport(named(617, 9));
  EXPECT_THAT(many, ::testing::EndsWith("aaaaaaaaa and 521 other targets"));
  EXPECT_LE(many.size(), 1000);
  EXPECT_EQ(TargetToReport(named(1, 2000)), "1 other targets");
}

TEST(ReportedSettings, AreAllThatTheOptionsAndChoicesSay) {
  TrainingOptions options;
  options.read_ahead_mib = 2;
  options.max_captures = 16;
  options.evaluate_every = 50;
  options.checkpoint = {.folder = "somewhere", .every = 100};
  const client::TrainerSettings settings =
      SettingsToReport(options, {.threads = 4,
                                 .captured = true,
                                 .learning_rate_schedule = "staircase 0.96 every 9",
                                 .classes = 5,
                                 .model = {{"readout", "max"}}});
  EXPECT_EQ(settings.threads, 4u);
  EXPECT_EQ(settings.read_ahead_bytes, 2u << 20);
  EXPECT_EQ(settings.learning_rate_schedule, "staircase 0.96 every 9");
  EXPECT_EQ(settings.max_captures, 16u);
  EXPECT_EQ(settings.evaluate_every, 50u);
  EXPECT_EQ(settings.checkpoint_every, 100u);
  EXPECT_THAT(settings.other, UnorderedElementsAre(Pair("classes", "5"), Pair("readout", "max")));
  EXPECT_EQ(InputName(options), "served");
}

TEST(ReportedSettings, WhatDoesNotApplyIsAbsent) {
  TrainingOptions options;
  options.synthetic = true;
  const client::TrainerSettings settings = SettingsToReport(options, {.threads = 1});
  EXPECT_EQ(settings.read_ahead_bytes, std::nullopt);
  EXPECT_EQ(settings.learning_rate_schedule, std::nullopt);
  EXPECT_EQ(settings.max_captures, std::nullopt);
  EXPECT_EQ(settings.checkpoint_every, std::nullopt);
  EXPECT_EQ(settings.evaluate_every, 0u);
  EXPECT_EQ(InputName(options), "synthetic");
}

TEST(ReportedSettings, TheEnvironmentIsWhatServerAndDeviceTell) {
  const client::RunEnvironment told = EnvironmentToReport({.host_id = "h", .builders = 3}, "h", 650.5);
  EXPECT_EQ(told.server_builders, 3u);
  EXPECT_EQ(told.shares_host_with_server, true);
  EXPECT_EQ(told.power_limit_watts, 650.5);
  EXPECT_EQ(EnvironmentToReport({.host_id = "h"}, "other", -1).shares_host_with_server, false);
  const client::RunEnvironment older = EnvironmentToReport({}, "h", -1);
  EXPECT_EQ(older.server_builders, std::nullopt);
  EXPECT_EQ(older.shares_host_with_server, std::nullopt);
  EXPECT_EQ(older.power_limit_watts, std::nullopt);
}

}  // namespace
}  // namespace packtrain::trainer
