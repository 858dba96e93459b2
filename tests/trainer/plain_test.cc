#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proto/wire/batch_spec.h"
#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "trainer/data/target.h"
#include "trainer/engine/precision.h"
#include "trainer/options.h"
#include "trainer/ranks/world.h"
#include "trainer/run/prediction_table.h"
#include "trainer/run/process_sampler.h"
#include "trainer/run/reported_settings.h"
#include "trainer/run/run_settings.h"
#include "trainer/run/step_statistics.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::Molecules;
using packtrain::testing::MoleculesInfo;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

absl::StatusOr<World> WorldOf(const std::map<std::string, std::string>& variables) {
  return WorldFromEnvironment([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(World, IsOneProcessWithoutAnEnvironment) {
  const absl::StatusOr<World> world = WorldOf({{"MASTER_ADDR", "elsewhere"}});
  ASSERT_THAT(world, IsOk());
  EXPECT_EQ(world->rank, 0);
  EXPECT_EQ(world->size, 1);
}

TEST(World, IsThatOfTorchrun) {
  const absl::StatusOr<World> world = WorldOf({{"RANK", "5"},
                                               {"WORLD_SIZE", "8"},
                                               {"LOCAL_RANK", "1"},
                                               {"LOCAL_WORLD_SIZE", "4"},
                                               {"MASTER_ADDR", "node0"},
                                               {"MASTER_PORT", "4711"}});
  ASSERT_THAT(world, IsOk());
  EXPECT_EQ(world->rank, 5);
  EXPECT_EQ(world->size, 8);
  EXPECT_EQ(world->local_rank, 1);
  EXPECT_EQ(world->local_size, 4);
  EXPECT_EQ(world->master_address, "node0");
  EXPECT_EQ(world->master_port, 4711);
}

TEST(World, RefusesHalfOrImpossibleEnvironments) {
  EXPECT_THAT(WorldOf({{"RANK", "0"}}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("WORLD_SIZE")));
  EXPECT_THAT(WorldOf({{"WORLD_SIZE", "2"}}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("RANK")));
  for (const auto& [rank, size] :
       std::map<std::string, std::string>{{"2", "2"}, {"-1", "2"}, {"x", "2"}, {"0", "0"}}) {
    EXPECT_THAT(WorldOf({{"RANK", rank}, {"WORLD_SIZE", size}}), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(WorldOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "70000"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("MASTER_PORT")));
}

TEST(World, RanksOfSeveralHostsNeedAnAddressToMeetAt) {
  EXPECT_THAT(WorldOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "1"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("MASTER_ADDR")));
  EXPECT_THAT(WorldOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}}), IsOk());
}

TEST(World, SharesTheCoresOfItsHost) {
  EXPECT_EQ(ThreadsPerProcess({.size = 8, .local_size = 4}, 16), 4);
  EXPECT_EQ(ThreadsPerProcess({.size = 8, .local_size = 4}, 2), 1);
}

TEST(World, AProcessTakesTheCardOfItsLocalRankOrTheOnlyOne) {
  EXPECT_EQ(CardOf(2, 4).value(), 2u);
  EXPECT_EQ(CardOf(3, 1).value(), 0u);
  EXPECT_THAT(CardOf(4, 2),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("LOCAL_RANK is 4 and 2 GPUs are visible (CUDA_VISIBLE_DEVICES)")));
  EXPECT_THAT(CardOf(0, 0), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("0 GPUs are visible")));
}

TEST(Target, IsTheFirstOneUnlessNamed) {
  EXPECT_EQ(NamesOf(*ChooseTargets(MoleculesInfo(), "train", "")), "energy");
  const absl::StatusOr<std::vector<Target>> dipole = ChooseTargets(MoleculesInfo(), "train", "dipole");
  ASSERT_THAT(dipole, IsOk());
  ASSERT_EQ(dipole->size(), 1);
  EXPECT_EQ(dipole->front().column, 1);
  EXPECT_EQ(dipole->front().columns, 2);
}

TEST(Target, SeveralAreChosenInTheOrderOfTheirNames) {
  const absl::StatusOr<std::vector<Target>> both = ChooseTargets(MoleculesInfo(), "train", "dipole,energy");
  ASSERT_THAT(both, IsOk());
  EXPECT_EQ(NamesOf(*both), "dipole,energy");
  EXPECT_EQ(both->front().unit, "D");
  EXPECT_NE(both->front().scale, both->back().scale) << "each is normalised by itself";
  EXPECT_THAT(ChooseTargets(MoleculesInfo(), "train", "dipole,gap"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no target 'gap'")));
  EXPECT_THAT(ChooseTargets(MoleculesInfo(), "train", "dipole,"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no target ''")));
  EXPECT_THAT(ChooseTargets(MoleculesInfo(), "train", "dipole,dipole"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'dipole' twice")));
}

TEST(Target, MayHaveCommasInItsName) {
  client::DatasetInfo info = MoleculesInfo();
  info.splits[1].targets[1].target = "energy,dipole";
  EXPECT_EQ(ChooseTargets(info, "train", "energy,dipole")->size(), 1);
}

TEST(Target, AnUnknownOneIsAnsweredWithTheKnownOnes) {
  EXPECT_THAT(ChooseTargets(MoleculesInfo(), "train", "gap"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("energy, dipole")));
}

TEST(Target, ThatNoGraphHasIsRefused) {
  client::DatasetInfo info = MoleculesInfo();
  info.splits[1].targets[0].count = 0;
  EXPECT_THAT(ChooseTargets(info, "train", "energy"), StatusIs(absl::StatusCode::kFailedPrecondition));
  info.splits[1].targets.clear();
  EXPECT_THAT(ChooseTargets(info, "train", ""), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(Target, OfAnEmptySplitIsRefused) {
  client::DatasetInfo info = MoleculesInfo();
  info.splits[1].graphs = 0;
  EXPECT_THAT(
      ChooseTargets(info, "train", "energy"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("split 'train' of molecules@1 is empty")));
}

TEST(Target, WhoseValuesAreTooGreatToBeNormalisedIsRefused) {
  for (double client::TargetStatistics::*figure :
       {&client::TargetStatistics::mean, &client::TargetStatistics::stddev}) {
    client::DatasetInfo info = MoleculesInfo();
    info.splits[1].targets[0].*figure = std::numeric_limits<double>::infinity();
    EXPECT_THAT(ChooseTargets(info, "train", "energy"),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("target 'energy' of molecules@1")));
  }
}

TEST(Target, ThatIsConstantIsNotScaled) {
  client::DatasetInfo info = MoleculesInfo();
  info.splits[1].targets[0].stddev = 0;
  EXPECT_EQ(ChooseTargets(info, "train", "energy")->front().scale, 1);
}

TEST(Target, HasTheMeanForItsMedianWhereThatIsNotKnown) {
  client::DatasetInfo info = MoleculesInfo();
  info.splits[1].targets[0].median = 2.5;
  EXPECT_EQ(ChooseTargets(info, "train", "energy")->front().median, 2.5);
  info.splits[1].targets[0].median = std::nullopt;
  EXPECT_EQ(ChooseTargets(info, "train", "energy")->front().median, info.splits[1].targets[0].mean);
}

TEST(Split, IsTrainWhereThereIsOne) {
  client::DatasetInfo info = MoleculesInfo();
  EXPECT_EQ(*ResolveSplit(info, ""), "train");
  EXPECT_THAT(ResolveSplit(info, "test"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("all, train")));
  info.splits.pop_back();
  EXPECT_EQ(*ResolveSplit(info, ""), "all");
}

TEST(ClassTable, FollowsTheAtomicNumbers) {
  const ClassTable table = testing::MoleculesClasses();
  EXPECT_EQ(table[1], 0);
  EXPECT_EQ(table[6], 1);
  EXPECT_EQ(table[8], 3);
  EXPECT_EQ(table[9], -1);
}

TEST(ClassTable, RefusesNumbersThatNoAtomHas) {
  client::DatasetInfo info = MoleculesInfo();
  info.classes.push_back(300);
  EXPECT_THAT(MakeClassTable(info), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("300")));
}

TEST(StepStatistics, GoesOnFromTotals) {
  wire::StepRecord step;
  step.real.graphs = 10;
  step.total_ns = 1000;
  StepStatistics whole, first;
  for (int i = 0; i < 5; ++i) whole.Add(step);
  for (int i = 0; i < 2; ++i) first.Add(step);
  StepStatistics second(first.totals());
  for (int i = 2; i < 5; ++i) second.Add(step);
  EXPECT_EQ(second.totals().steps, 5);
  EXPECT_EQ(second.totals().graphs, whole.totals().graphs);
  EXPECT_EQ(second.totals().steady, whole.totals().steady);
}

TEST(StepStatistics, LeavesOutUnsteadySteps) {
  StepStatistics statistics;
  for (std::uint32_t i = 0; i < 8; ++i) {
    wire::StepRecord step;
    step.real.graphs = 10;
    step.loss = 1.0 / (i + 1);
    step.total_ns = i < 3 ? 1'000'000 : 1000 * (i + 1);
    step.wait_ns = 500;
    step.flags = i < 3 ? wire::kWarmUp : wire::kShortBatch;
    statistics.Add(step);
  }
  const SteadyFigures steady = statistics.Steady();
  EXPECT_EQ(statistics.totals().steps, 8);
  EXPECT_EQ(statistics.totals().graphs, 80);
  EXPECT_EQ(steady.steps, 5);
  EXPECT_EQ(steady.graphs, 50);
  EXPECT_DOUBLE_EQ(steady.mean_us, 6);
  EXPECT_NEAR(steady.median_us, 6, 6 * TimeHistogram::kMaxRelativeError);
  EXPECT_NEAR(steady.p5_us, 4.2, 4.2 * TimeHistogram::kMaxRelativeError);
  EXPECT_NEAR(steady.p95_us, 7.8, 7.8 * TimeHistogram::kMaxRelativeError);
  EXPECT_DOUBLE_EQ(steady.seconds, 30e-6);
  EXPECT_NEAR(steady.wait_share, 2500.0 / 30000, 1e-12);
  EXPECT_DOUBLE_EQ(statistics.totals().last_loss, 1.0 / 8);
}

TEST(TimeHistogram, KnowsEveryTimeByItsRelativeError) {
  for (std::uint64_t ns = 1; ns < std::uint64_t{1} << 62; ns += 1 + ns / 97) {
    for (const std::uint64_t time :
         {ns, std::uint64_t{std::bit_floor(ns)}, std::uint64_t{std::bit_floor(ns)} - 1}) {
      TimeHistogram times;
      times.Add(time);
      EXPECT_NEAR(times.Quantile(0.5), static_cast<double>(time),
                  static_cast<double>(time) * TimeHistogram::kMaxRelativeError);
      EXPECT_EQ(times.sum_ns(), time);
    }
  }
  TimeHistogram greatest;
  greatest.Add(~std::uint64_t{0});
  EXPECT_LT(greatest.buckets().front().index, 7'424u);
}

TEST(TimeHistogram, QuantilesLieBetweenNeighbours) {
  TimeHistogram times;
  EXPECT_TRUE(std::isnan(times.Quantile(0.5)));
  for (const std::uint64_t ns : {10, 100, 20, 40}) times.Add(ns);
  EXPECT_DOUBLE_EQ(times.Quantile(0), 10);
  EXPECT_DOUBLE_EQ(times.Quantile(0.5), 30);
  EXPECT_DOUBLE_EQ(times.Quantile(1), 100);
  EXPECT_EQ(times.count(), 4);
}

TEST(TimeHistogram, IsRestoredFromItsBucketsAndFromNoOthers) {
  TimeHistogram times, restored;
  for (const std::uint64_t ns : {5, 5, 1'000'000, 7'000'000}) times.Add(ns);
  EXPECT_TRUE(restored.Restore(times.sum_ns(), times.buckets()));
  EXPECT_EQ(restored, times);
  using Buckets = std::vector<TimeHistogram::Bucket>;
  for (const Buckets& bad : {Buckets{{7'424, 1}}, Buckets{{1, 0}}, Buckets{{2, 1}, {2, 1}},
                             Buckets{{2, 1}, {1, 1}}, Buckets{{1, ~std::uint64_t{0}}, {2, 1}}}) {
    EXPECT_FALSE(restored.Restore(1, bad));
    EXPECT_EQ(restored, times);
  }
}

TEST(StepStatistics, WithoutSteadyStepsHasNoFigures) {
  StepStatistics statistics;
  wire::StepRecord step;
  step.flags = wire::kWarmUp;
  step.loss = std::nan("");
  statistics.Add(step);
  EXPECT_TRUE(std::isnan(statistics.Steady().median_us));
  EXPECT_TRUE(std::isnan(statistics.totals().last_loss));
}

TEST(SampleProcess, ReadsTimeProcessorAndMemory) {
  const client::Sample sample = SampleProcess();
  EXPECT_GE(sample.monotonic_ns, 0);
  EXPECT_LE(sample.monotonic_ns, SampleProcess().monotonic_ns);
  EXPECT_GT(sample.time_ns, 1'600'000'000'000'000'000);
  EXPECT_GT(sample.process_cpu_ns, 0);
  EXPECT_GT(sample.rss_bytes, 1 << 20);
}

TEST(ProcessSampler, SamplesOnceAtLeast) {
  std::vector<client::Sample> samples;
  {
    const ProcessSampler sampler(
        [] { return DeviceReading{.memory_bytes = 5, .use = 0.5, .energy_uj = 7, .id = "GPU-1"}; },
        [&](const client::Sample& sample) { samples.push_back(sample); });
  }
  ASSERT_FALSE(samples.empty());
  EXPECT_EQ(samples.front().device_memory_bytes, 5);
  EXPECT_EQ(samples.front().device_use, 0.5);
  EXPECT_EQ(samples.front().device_energy_uj, 7);
  EXPECT_EQ(samples.front().device_id, "GPU-1");
}

CommandLine Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "packtrain-trainer");
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  CommandLine line = ParseCommandLine("packtrain-trainer", static_cast<int>(words.size()), words.data());
  ::testing::internal::GetCapturedStdout();
  ::testing::internal::GetCapturedStderr();
  return line;
}

const std::vector<const char*> kWhole = {"--dataset", "qm9",    "--model", "schnet", "--policy",     "dynamic",
                                         "--graphs",  "31",     "--steps", "100",    "--lr",         "1e-3",
                                         "--labels",  "a=b,c=", "--seed",  "3",      "--model-seed", "4"};

TEST(CommandLine, OfATrainingRun) {
  const CommandLine line = Parse(kWhole);
  ASSERT_FALSE(line.exit_code.has_value());
  EXPECT_EQ(line.options.training.dataset, "qm9");
  EXPECT_EQ(line.options.training.spec.policy, wire::Policy::kDynamic);
  EXPECT_EQ(line.options.training.spec.graphs, 31);
  EXPECT_EQ(line.options.training.spec.seed, 3);
  EXPECT_EQ(line.options.training.model_seed, 4);
  EXPECT_EQ(line.options.training.steps, 100);
  EXPECT_EQ(line.options.training.learning_rate, 1e-3);
  EXPECT_THAT(line.options.training.labels, UnorderedElementsAre(Pair("a", "b"), Pair("c", "")));
}

TEST(CommandLine, SaysWhatBecomesOfADamagedGraph) {
  std::vector<const char*> words = kWhole;
  EXPECT_EQ(Parse(words).options.training.on_corrupt, client::OnCorrupt::kStop);
  words.insert(words.end(), {"--on-corrupt", "skip"});
  EXPECT_EQ(Parse(words).options.training.on_corrupt, client::OnCorrupt::kSkip);
  words.back() = "stop";
  EXPECT_EQ(Parse(words).options.training.on_corrupt, client::OnCorrupt::kStop);
  words.back() = "drop";
  EXPECT_EQ(Parse(words).exit_code, 2);
}

TEST(CommandLine, ReportsToAServerOfItsOwn) {
  std::vector<const char*> words = kWhole;
  EXPECT_EQ(Parse(words).options.training.run_server, "");
  words.insert(words.end(), {"--server", "replica:7077", "--run-server", "primary:7077"});
  EXPECT_EQ(Parse(words).options.training.server, "replica:7077");
  EXPECT_EQ(Parse(words).options.training.run_server, "primary:7077");
  words.back() = "";
  EXPECT_EQ(Parse(words).exit_code, 2);
}

TEST(CommandLine, SaysHowLongRanksMeetAndHowMuchWaitsForTheServer) {
  std::vector<const char*> words = kWhole;
  EXPECT_EQ(Parse(words).options.training.meet_timeout, std::chrono::seconds(120));
  EXPECT_EQ(Parse(words).options.training.report_spool_bytes, std::uint64_t{1} << 30);
  words.insert(words.end(), {"--meet-timeout", "2.5", "--report-spool-bytes", "3K"});
  EXPECT_EQ(Parse(words).options.training.meet_timeout, std::chrono::milliseconds(2'500));
  EXPECT_EQ(Parse(words).options.training.report_spool_bytes, 3'072u);
  for (const char* bytes : {"", "K", "-1", "3k", "3KK", "2000000G", "1e3"}) {
    words.back() = bytes;
    EXPECT_EQ(Parse(words).exit_code, 2) << bytes;
  }
}

TEST(CommandLine, WithoutWhatARunNeedsIsWrongUsage) {
  for (std::size_t i = 0; i < 10; i += 2) {
    std::vector<const char*> words = kWhole;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    EXPECT_EQ(Parse(words).exit_code, 2) << "without " << kWhole[i];
  }
}

TEST(CommandLine, SupergraphsNeedBlocksAndNoNumberOfGraphs) {
  std::vector<const char*> words = {"--dataset", "great", "--model",       "ggnn", "--policy", "supergraph",
                                    "--steps",   "9",     "--block-nodes", "16",   "--blocks", "8"};
  const CommandLine line = Parse(words);
  ASSERT_FALSE(line.exit_code.has_value());
  EXPECT_EQ(line.options.training.spec.blocks, 8);
  EXPECT_EQ(line.options.training.spec.block_nodes, 16);
}

TEST(CommandLine, WithAFlagThatIsNotThereIsWrongUsage) {
  for (const std::vector<const char*>& extra :
       std::vector<std::vector<const char*>>{{"--world-size", "2"},
                                             {"--precision", "f16"},
                                             {"--engine", "fast"},
                                             {"--max-captures", "0"},
                                             {"--read-ahead", "0"},
                                             {"--classes", "0"},
                                             {"--hidden", "0"},
                                             {"--hidden", "4097"},
                                             {"--layers", "0"},
                                             {"--edge-types", "0"},
                                             {"--lr", "nan"},
                                             {"--lr", "inf"},
                                             {"--give-up", "nan"},
                                             {"--meet-timeout", "0.5"},
                                             {"--meet-timeout", "86401"},
                                             {"--steps", "-1"},
                                             {"--evaluate-every", "0"},
                                             {"--resume"},
                                             {"--checkpoint-every", "5"},
                                             {"--synthetic", "--checkpoint", "DIR"},
                                             {"--synthetic", "--write-steps", "DIR"},
                                             {"--checkpoint", "DIR", "--resume", "--write-steps", "DIR"},
                                             {"--precision", "f64", "--checkpoint", "DIR"},
                                             {"--checkpoint", "", "--resume"},
                                             {"--checkpoint=", "--resume"},
                                             {"--checkpoint", "DIR", "--checkpoint-every", "0"}}) {
    std::vector<const char*> words = kWhole;
    words.insert(words.end(), extra.begin(), extra.end());
    EXPECT_EQ(Parse(words).exit_code, 2) << extra.front();
  }
}

TEST(CommandLine, LeavesTheLabelInputToSynthetic) {
  std::vector<const char*> words = kWhole;
  words[13] = "input=real";
  EXPECT_FALSE(Parse(words).exit_code.has_value());
  words.push_back("--synthetic");
  EXPECT_EQ(Parse(words).exit_code, 2);
}

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

TEST(CommandLine, DescribeNeedsNoRun) {
  const CommandLine line = Parse({"--model", "schnet", "--describe", "--classes", "5"});
  EXPECT_FALSE(line.exit_code.has_value());
  EXPECT_EQ(line.options.training.classes, 5);
}

TEST(CommandLine, SaysWhatAModelIsToBe) {
  const CommandLine line =
      Parse({"--model", "ggnn", "--describe", "--classes", "4050", "--edge-types", "20", "--readout", "choice",
             "--hidden", "64", "--layers", "4", "--adjacency", "sparse"});
  ASSERT_FALSE(line.exit_code.has_value());
  const ModelFlags& flags = line.options.training.model_flags;
  EXPECT_EQ(flags.readout, "choice");
  EXPECT_EQ(flags.adjacency, "sparse");
  EXPECT_EQ(flags.hidden, 64);
  EXPECT_EQ(flags.layers, 4);
  EXPECT_EQ(flags.edge_types, 20);
  const ModelFlags none = Parse(kWhole).options.training.model_flags;
  EXPECT_FALSE(none.readout || none.adjacency || none.hidden || none.layers || none.edge_types);
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

TEST(CommandLine, SaysHowTheLearningRateGoesOn) {
  std::vector<const char*> words = kWhole;
  EXPECT_EQ(Parse(words).options.training.schedule, RateSchedule::kStaircase);
  EXPECT_EQ(Parse(words).options.training.warmup_steps, 0);
  words.insert(words.end(), {"--warmup-steps", "99", "--lr-schedule", "cosine"});
  EXPECT_EQ(Parse(words).options.training.schedule, RateSchedule::kCosine);
  EXPECT_EQ(Parse(words).options.training.warmup_steps, 99);
  words.back() = "constant";
  EXPECT_EQ(Parse(words).options.training.schedule, RateSchedule::kConstant);
  words.back() = "linear";
  EXPECT_EQ(Parse(words).exit_code, 2);
  words.resize(kWhole.size());
  words.insert(words.end(), {"--warmup-steps", "100"});
  EXPECT_EQ(Parse(words).exit_code, 2) << "no step has the whole rate";
}

PredictLine ParsePredict(std::vector<const char*> words) {
  words.insert(words.begin(), "predict");
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  PredictLine line = ParsePredictLine("packtrain-trainer", static_cast<int>(words.size()), words.data());
  ::testing::internal::GetCapturedStdout();
  ::testing::internal::GetCapturedStderr();
  return line;
}

TEST(PredictLine, SaysWhichModelPredictsWhat) {
  std::vector<const char*> words = {"--checkpoint", "kept", "--dataset", "qm9", "-o", "out.csv"};
  const PredictLine line = ParsePredict(words);
  ASSERT_FALSE(line.exit_code.has_value());
  EXPECT_EQ(line.options.checkpoint, "kept");
  EXPECT_EQ(line.options.dataset, "qm9");
  EXPECT_EQ(line.options.split, "all");
  EXPECT_EQ(line.options.output, "out.csv");
  EXPECT_EQ(line.options.device, "cpu");
  words.insert(words.end(), {"--split", "test", "--server", "node:1", "--give-up", "2", "--threads", "3"});
  const PredictLine other = ParsePredict(words);
  EXPECT_EQ(other.options.split, "test");
  EXPECT_EQ(other.options.server, "node:1");
  EXPECT_EQ(other.options.give_up, std::chrono::seconds(2));
  EXPECT_EQ(other.threads, 3);
  for (const char* flag : {"--checkpoint", "--dataset", "-o"}) {
    std::vector<const char*> fewer = {"--checkpoint", "kept", "--dataset", "qm9", "-o", "out.csv"};
    const auto found = std::ranges::find(fewer, std::string_view(flag));
    fewer.erase(found, found + 2);
    EXPECT_EQ(ParsePredict(fewer).exit_code, 2) << flag;
  }
  EXPECT_EQ(ParsePredict({"--help"}).exit_code, 0);
}

TEST(PredictionTable, HasAColumnForEachTargetAndEachPrediction) {
  EXPECT_EQ(PredictionHeader({"gap", "U0"}), "id,gap,U0,predicted_gap,predicted_U0\n");
  EXPECT_EQ(PredictionHeader({"a \"b\", c"}), "id,\"a \"\"b\"\", c\",\"predicted_a \"\"b\"\", c\"\n");
}

TEST(PredictionTable, HasValuesAsTheyAreAndNothingWhereThereIsNone) {
  const std::vector<double> values = {0.1, std::numeric_limits<double>::quiet_NaN(), -12.024000000000001};
  EXPECT_EQ(PredictionRow("a,b", values, std::vector<double>{1.0 / 3}),
            "\"a,b\",0.1,,-12.024000000000001,0.333333333\n");
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
