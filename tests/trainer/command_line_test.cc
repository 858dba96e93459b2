#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/wire/batch_spec.h"
#include "trainer/options.h"

namespace packtrain::trainer {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// What `parse` makes of a line that begins with `program`; what it prints is left out.
template <typename Line>
Line ParseSilently(Line (*parse)(const std::string&, int, const char* const*), const char* program,
                   std::vector<const char*> words) {
  words.insert(words.begin(), program);
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  Line line = parse("packtrain-trainer", static_cast<int>(words.size()), words.data());
  ::testing::internal::GetCapturedStdout();
  ::testing::internal::GetCapturedStderr();
  return line;
}

CommandLine Parse(std::vector<const char*> words) {
  return ParseSilently(&ParseCommandLine, "packtrain-trainer", std::move(words));
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

TEST(CommandLine, DescribeNeedsNoRun) {
  const CommandLine line = Parse({"--model", "schnet", "--describe", "--classes", "5"});
  EXPECT_FALSE(line.exit_code.has_value());
  EXPECT_EQ(line.options.training.classes, 5);
}

TEST(CommandLine, SaysWhatAModelIsToBe) {
  const CommandLine line =
      Parse({"--model", "ggnn", "--describe", "--classes", "4050", "--edge-types", "20", "--readout", "choice",
             "--hidden", "64", "--layers", "4", "--adjacency", "sparse", "--filter", "table"});
  ASSERT_FALSE(line.exit_code.has_value());
  const ModelFlags& flags = line.options.training.model_flags;
  EXPECT_EQ(flags.readout, "choice");
  EXPECT_EQ(flags.adjacency, "sparse");
  EXPECT_EQ(flags.filter, "table");
  EXPECT_EQ(flags.hidden, 64);
  EXPECT_EQ(flags.layers, 4);
  EXPECT_EQ(flags.edge_types, 20);
  const ModelFlags none = Parse(kWhole).options.training.model_flags;
  EXPECT_FALSE(none.readout || none.adjacency || none.filter || none.hidden || none.layers || none.edge_types);
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
  return ParseSilently(&ParsePredictLine, "predict", std::move(words));
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

}  // namespace
}  // namespace packtrain::trainer
