#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "client/run_reporter.h"
#include "proto/wire/batch_spec.h"
#include "tests/client/cli/run_line.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;
using testing::Printed;
using testing::RunLine;
using testing::TestServer;

// Splits lines of CSV without quotes.
std::vector<std::vector<std::string>> ParseCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line + ",");
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  return rows;
}

wire::StepRecord Step(std::uint64_t step, std::uint64_t total_ns, std::uint32_t flags = 0) {
  wire::StepRecord record;
  record.step = step;
  record.real = {7, 130, 2100};
  record.padded = {8, 192, 2112};
  record.total_ns = total_ns;
  record.flags = flags;
  return record;
}

client::RunDescription Description(const std::string& policy) {
  client::RunDescription description;
  description.model = "schnet";
  description.dataset = "qm9@1";
  description.spec.policy = wire::ParseWord(policy, wire::kPolicyWords)->value;
  description.spec.graphs = 7;
  description.device = "cpu";
  description.hardware_name = "it's (R)";
  return description;
}

class RunCommandTest : public ::testing::Test {
 protected:
  std::unique_ptr<client::RunReporter> StartRun(const std::string& policy) {
    return StartRun(Description(policy));
  }
  std::unique_ptr<client::RunReporter> StartRun(const client::RunDescription& description) {
    client::ReporterOptions options;
    options.idempotency_key = std::to_string(10'000'000 + ++runs_);
    auto connection = client::Connection::Open({.server = server_->address()});
    return client::RunReporter::Start(connection.value(), description, options).value();
  }

  // A finished run of three steps, two of them steady.
  std::string AddRun(const std::string& policy, std::uint64_t total_ns) {
    return AddRun(Description(policy), total_ns);
  }
  std::string AddRun(const client::RunDescription& description, std::uint64_t total_ns) {
    const auto reporter = StartRun(description);
    reporter->AddStep(Step(9, 2 * total_ns));  // the last of the warm-up
    reporter->AddStep(Step(10, total_ns));
    reporter->AddStep(Step(11, total_ns + 1000));
    reporter->AddEvaluation({12, "test", 7, 1.0 / 3, 2.0 / 3, 0.1, 0.7, 123'456'789});
    EXPECT_THAT(reporter->Finish(false, ""), IsOk());
    return reporter->run();
  }

  void AddBothPolicies() {
    for (const std::uint64_t noise : {0u, 70'001u, 150'007u}) {
      AddRun("static", 1'000'003 + noise);
      AddRun("dynamic", 700'001 + noise);
    }
  }

  Printed Run(std::vector<std::string> words) {
    words.insert(words.end(), {"--server", server_->address()});
    return RunLine(std::move(words));
  }

  const std::unique_ptr<TestServer> server_ = TestServer::Start().value();
  int runs_ = 0;
};

TEST_F(RunCommandTest, StepsAreAllStepsInListShowAndSummary) {
  const std::string run = AddRun("static", 1'000'000);
  EXPECT_EQ(Run({"run", "list", "--json"}).Json()[0]["steps"], 3);
  for (const char* verb : {"show", "summary"}) {
    const nlohmann::json printed = Run({"run", verb, run, "--json"}).Json();
    EXPECT_EQ(printed["run"], run);
    EXPECT_EQ(printed["steps"], 3) << verb;
    EXPECT_EQ(printed["steady_steps"], 2) << verb;
    EXPECT_EQ(printed["whole"]["steps"], 3) << verb;
  }
  EXPECT_THAT(Run({"run", "summary", run}).out, HasSubstr("steady state: 2 of 3 steps"));
}

TEST_F(RunCommandTest, ARunWithoutAValidStepHasNoRates) {
  const auto reporter = StartRun("static");
  for (std::uint64_t step = 10; step < 13; ++step) {
    wire::StepRecord record = Step(step, 0);
    record.padded = {};
    record.loss = step == 10 ? std::numeric_limits<double>::infinity() : 0.5;
    reporter->AddStep(record);
  }
  reporter->AddEvaluation(
      {.step = 13, .split = "val", .mae = std::nan(""), .rmse = -std::numeric_limits<double>::infinity()});
  ASSERT_THAT(reporter->Finish(false, ""), IsOk());
  const std::string text = Run({"run", "summary", reporter->run()}).out;
  EXPECT_THAT(text, HasSubstr("no valid step\n"));
  EXPECT_THAT(text, HasSubstr("left out  3 steps, 3 of them steady"));
  EXPECT_THAT(text, HasSubstr("left out  1 losses and 1 evaluations: NaN or infinite\n"));
  EXPECT_THAT(text, HasSubstr("fill      nodes unknown, edges unknown; 0 distinct shapes\n"));
  EXPECT_THAT(text, Not(HasSubstr("graphs/s")));
  const nlohmann::json printed = Run({"run", "summary", reporter->run(), "--json"}).Json();
  for (const char* key :
       {"graphs_per_second", "nodes_per_second", "edges_per_second", "seconds_per_graph", "wait_share"}) {
    EXPECT_EQ(printed[key], nullptr) << key;
    EXPECT_EQ(printed["whole"][key], nullptr) << key;
  }
  EXPECT_EQ(printed["phases_us"]["total"]["mean"], nullptr);
  EXPECT_EQ(printed["fill"]["nodes"], nullptr);
  EXPECT_EQ(printed["losses_left_out"], 1);
  EXPECT_EQ(printed["evaluations_left_out"], 1);
  const nlohmann::json curve = Run({"run", "curve", reporter->run(), "--json"}).Json();
  EXPECT_EQ(curve[0]["mae"], "NaN");
  EXPECT_EQ(curve[0]["rmse"], "-Infinity");
}

TEST_F(RunCommandTest, ShowAndSummaryTellOfEvents) {
  const auto reporter = StartRun("static");
  reporter->AddEvent({.name = "checkpoint", .start_ns = 1, .duration_ns = 500'000'000});
  reporter->AddEvent({.name = "checkpoint", .start_ns = 2, .duration_ns = 1'000'000'000});
  ASSERT_THAT(reporter->Finish(false, ""), IsOk());
  for (const char* verb : {"show", "summary"}) {
    const nlohmann::json events = Run({"run", verb, reporter->run(), "--json"}).Json()["events"];
    EXPECT_EQ(events, nlohmann::json::parse(R"([{"name": "checkpoint", "count": 2, "seconds": 1.5}])"));
    EXPECT_THAT(Run({"run", verb, reporter->run()}).out,
                HasSubstr("event     checkpoint: 2 times, 1.5 s in all\n"));
  }
}

TEST_F(RunCommandTest, ShowAndSummaryListGraphsThatWereLeftOut) {
  const auto reporter = StartRun("static");
  reporter->AddCorruptGraphs({.step = 12, .epoch = 1, .batch_index = 4, .split = "train", .graphs = {7, 9}});
  ASSERT_THAT(reporter->Finish(false, ""), IsOk());
  for (const char* verb : {"show", "summary"}) {
    const nlohmann::json corrupt = Run({"run", verb, reporter->run(), "--json"}).Json()["corrupt_graphs"];
    EXPECT_EQ(corrupt, nlohmann::json::parse(R"({"count": 2, "graphs": 2, "truncated": false, "list": [
        {"epoch": 1, "step": 12, "batch": 4, "split": "train", "graph": 7},
        {"epoch": 1, "step": 12, "batch": 4, "split": "train", "graph": 9}]})"));
    EXPECT_THAT(Run({"run", verb, reporter->run()}).out,
                HasSubstr("corrupt   2 damaged graphs were left out, 2 times in all (--on-corrupt skip)\n"
                          "          graph 7: step 12, epoch 1, batch 4 of train\n"
                          "          graph 9: step 12, epoch 1, batch 4 of train\n"));
  }
  EXPECT_EQ(Run({"run", "show", reporter->run(), "--json"}).Json()["on_corrupt"], "stop");
}

TEST_F(RunCommandTest, ARunWithoutDamageListsNone) {
  const std::string run = AddRun("static", 1'000'000);
  EXPECT_EQ(Run({"run", "show", run, "--json"}).Json()["corrupt_graphs"],
            nlohmann::json::parse(R"({"count": 0, "graphs": 0, "truncated": false, "list": []})"));
  EXPECT_THAT(Run({"run", "show", run}).out, ::testing::Not(HasSubstr("corrupt")));
}

TEST_F(RunCommandTest, ComparisonNamesItsTest) {
  AddBothPolicies();
  const nlohmann::json welch = Run({"run", "compare", "--by", "policy", "--json"}).Json();
  EXPECT_EQ(welch["test"], "welch");
  EXPECT_FALSE(welch["cells"][0]["pairs"][0].contains("student_p"));
  const nlohmann::json student =
      Run({"run", "compare", "--by", "policy", "--test", "student", "--json"}).Json();
  EXPECT_EQ(student["test"], "student");
  const nlohmann::json& pair = student["cells"][0]["pairs"][0];
  EXPECT_EQ(pair["holm_p"], pair["student_p"]);
  EXPECT_EQ(pair["welch_p"], welch["cells"][0]["pairs"][0]["welch_p"]);
  EXPECT_NE(pair["ci95"], welch["cells"][0]["pairs"][0]["ci95"]);
}

TEST_F(RunCommandTest, ComparisonTellsNoRunFromNoDifference) {
  AddRun("static", 1'000'000);
  EXPECT_THAT(Run({"run", "compare", "--where", "dataset = nope", "--by", "policy"}).out,
              HasSubstr("no run matches"));
  EXPECT_THAT(Run({"run", "compare", "--by", "policy"}).out,
              HasSubstr("no two runs differ in this setting and agree in all factors"));
}

TEST_F(RunCommandTest, ComparisonQuotesValuesAsAFilterTakesThem) {
  AddBothPolicies();
  const std::string out = Run({"run", "compare", "--by", "policy"}).out;
  EXPECT_THAT(out, HasSubstr("hardware='it\\'s (R)'  input=served  model=schnet"));
  EXPECT_EQ(Run({"run", "list", "--where", "hardware = 'it\\'s (R)'", "--json"}).Json().size(), 6u);
}

TEST_F(RunCommandTest, ComparisonSumsUpTheRunsThatItLeavesOut) {
  AddBothPolicies();
  for (int k = 0; k < 7; ++k) StartRun("static");
  EXPECT_THAT(Run({"run", "compare", "--by", "policy"}).out,
              HasSubstr("left out: 2 more runs (--json lists all)\n"));
  EXPECT_EQ(Run({"run", "compare", "--by", "policy", "--json"}).Json()["excluded"].size(), 7u);
}

TEST_F(RunCommandTest, ComparisonAsCsvHasTheKeysAndTheDigitsOfJson) {
  AddBothPolicies();
  const nlohmann::json pair =
      Run({"run", "compare", "--by", "policy", "--json"}).Json()["cells"][0]["pairs"][0];
  const auto rows = ParseCsv(Run({"run", "compare", "--by", "policy", "--csv"}).out);
  ASSERT_EQ(rows.size(), 2u);
  const std::vector<std::string> keys = {"a",
                                         "b",
                                         "n_a",
                                         "n_b",
                                         "ratio",
                                         "ci95_low",
                                         "ci95_high",
                                         "welch_p",
                                         "mann_whitney_p",
                                         "holm_p",
                                         "effect",
                                         "verdict",
                                         "mixed",
                                         "also_differs",
                                         "copies",
                                         "shares_seeds"};
  const std::vector<std::string> factors = {"batch_graphs", "cpu",    "dataset", "engine",
                                            "hardware",     "input",  "model",   "precision",
                                            "skip_above",   "target", "version", "world_size"};
  std::vector<std::string> columns = factors;
  columns.insert(columns.end(), keys.begin(), keys.end());
  EXPECT_EQ(rows[0], columns);
  const std::vector<std::string> cells(rows[1].begin() + static_cast<std::ptrdiff_t>(factors.size()),
                                       rows[1].end());
  ASSERT_EQ(cells.size(), keys.size());
  EXPECT_EQ(cells[0], "dynamic");
  EXPECT_EQ(cells[1], "static-multiple");
  EXPECT_EQ(cells[2], "3");
  EXPECT_EQ(std::stod(cells[4]), pair["ratio"]);
  EXPECT_EQ(std::stod(cells[5]), pair["ci95"][0]);
  EXPECT_EQ(std::stod(cells[6]), pair["ci95"][1]);
  EXPECT_EQ(std::stod(cells[7]), pair["welch_p"]);
  EXPECT_EQ(cells[8], "");
  EXPECT_EQ(std::stod(cells[9]), pair["holm_p"]);
  EXPECT_EQ(std::stod(cells[10]), pair["effect"]);
  EXPECT_EQ(cells[11], "faster");
  EXPECT_EQ(cells[15], "false");
}

TEST_F(RunCommandTest, ComparisonWithholdsTheVerdictOfRunsThatWereNotMadeAlike) {
  AddBothPolicies();
  client::RunDescription other = Description("static");
  other.learning_rate = 0.01;
  other.spec.order = wire::Order::kNone;
  AddRun(other, 1'000'500);
  const nlohmann::json mixed =
      Run({"run", "compare", "--by", "policy", "--json"}).Json()["cells"][0]["pairs"][0];
  EXPECT_EQ(mixed["verdict"], "mixed");
  EXPECT_EQ(mixed["welch_p"], nullptr);
  EXPECT_EQ(mixed["ci95"], nullptr);
  EXPECT_EQ(mixed["mixed"], nlohmann::json::parse(R"([
      {"key": "learning_rate", "a": ["0"], "b": ["0", "0.01"]},
      {"key": "order", "a": ["full"], "b": ["full", "none"]}])"));
  EXPECT_THAT(
      Run({"run", "compare", "--by", "policy"}).out,
      HasSubstr("=> no verdict on dynamic and static-multiple: runs of one side differ in learning_rate"));
  const nlohmann::json allowed = Run({"run", "compare", "--by", "policy", "--allow-mixed", "learning_rate",
                                      "--allow-mixed", "order", "--json"})
                                     .Json()["cells"][0]["pairs"][0];
  EXPECT_EQ(allowed["verdict"], "faster");
  EXPECT_EQ(allowed["n_b"], 4);
  EXPECT_EQ(allowed["mixed"], nlohmann::json::array());
  EXPECT_THAT(Run({"run", "compare", "--by", "policy", "--allow-mixed", "policy"}).err,
              HasSubstr("not a condition"));
}

TEST_F(RunCommandTest, ComparisonNamesCopies) {
  for (int i = 0; i < 3; ++i) AddRun("dynamic", 700'001);
  for (const std::uint64_t noise : {0u, 70'001u, 150'007u}) AddRun("static", 1'000'003 + noise);
  const nlohmann::json pair =
      Run({"run", "compare", "--by", "policy", "--json"}).Json()["cells"][0]["pairs"][0];
  EXPECT_EQ(pair["verdict"], "too few runs");
  EXPECT_EQ(pair["n_a"], 1);
  ASSERT_EQ(pair["copies"].size(), 2u);
  EXPECT_EQ(pair["copies"][0]["of"], pair["copies"][1]["of"]);
  EXPECT_EQ(pair["shares_seeds"], false);
}

TEST_F(RunCommandTest, ComparisonByStudentHasItsColumn) {
  AddBothPolicies();
  const auto rows = ParseCsv(Run({"run", "compare", "--by", "policy", "--test", "student", "--csv"}).out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0], Contains("student_p"));
  EXPECT_EQ(rows[1].size(), rows[0].size());
}

TEST_F(RunCommandTest, CurveAsCsvHasAllDigits) {
  const std::string run = AddRun("static", 1'000'000);
  const auto rows = ParseCsv(Run({"run", "curve", run, "--csv"}).out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1], (std::vector<std::string>{"12", "test", "7", "0.3333333333333333", "0.6666666666666666",
                                               "", "0.1", "0.7", "", "", "0.123456789"}));
}

}  // namespace
}  // namespace packtrain::cli
