#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "client/connection.h"
#include "client/run_reporter.h"
#include "proto/wire/batch_spec.h"
#include "tests/client/cli/run_line.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::Printed;
using testing::RunLine;
using testing::TestServer;

constexpr char kFour[] =
    "1\nid=a\nC 0 0 0\n2\nid=b\nC 0 0 0\nO 0 0 1\n3\nid=c\nO 0 0 0\nH 0 0 1\nH 0 1 0\n1\nid=d\nH 0 0 0\n";

wire::StepRecord Step(std::uint64_t step, std::uint64_t epoch, std::uint64_t batch, const wire::Shape& real) {
  wire::StepRecord record;
  record.step = step;
  record.epoch = epoch;
  record.batch_index = batch;
  record.real = real;
  record.padded = {3, 8, 16};
  record.total_ns = 51'000;
  record.loss = 0.25;
  return record;
}

// A run of two ranks on the data set "mols" of kFour, in whose batches are a and b, c and d.
class BatchCommandTest : public ::testing::Test {
 protected:
  BatchCommandTest() {
    const Printed imported = RunLine({"import", "extxyz", folder_.Write("m.xyz", kFour), "--name", "mols",
                                      "--edges", "full", "--server", server_->address(), "--json"});
    description_.dataset = "mols@" + imported.Json()["version"].get<std::string>();
    description_.spec.policy = wire::Policy::kStatic;
    description_.spec.graphs = 2;
    description_.spec.order = wire::Order::kNone;
    description_.world_size = 2;
    description_.device = "cpu";
    description_.plan_fingerprint =
        Ask({"plan", "--dataset", "mols", "--policy", "static", "--graphs", "2", "--order", "none"})
            .Json()["fingerprint"]
            .get<std::string>();
  }

  // Its name. The steps are those of rank `rank`.
  std::string AddRun(const std::vector<wire::StepRecord>& steps, std::uint32_t rank = 0) {
    client::ReporterOptions options;
    options.idempotency_key = "a run of this test";
    options.rank = rank;
    auto connection = client::Connection::Open({.server = server_->address()});
    const auto reporter = client::RunReporter::Start(connection.value(), description_, options).value();
    for (const wire::StepRecord& step : steps) reporter->AddStep(step);
    EXPECT_THAT(reporter->Finish(false, ""), IsOk());
    return reporter->run();
  }

  Printed Ask(std::vector<std::string> line, bool json = true) {
    line.insert(line.end(), {"--server", server_->address()});
    if (json) line.emplace_back("--json");
    return RunLine(line);
  }

  testing::TempFolder folder_;
  std::unique_ptr<TestServer> server_ = TestServer::Start().value();
  client::RunDescription description_;
};

TEST_F(BatchCommandTest, ShowsTheGraphsOfAStep) {
  const std::string run = AddRun({Step(0, 0, 0, {2, 3, 2}), Step(1, 1, 0, {2, 3, 2})});
  const nlohmann::json shown = Ask({"run", "batch", run, "--step", "1"}).Json();
  EXPECT_EQ(shown["run"], run);
  EXPECT_EQ(shown["step"], 1);
  EXPECT_EQ(shown["rank"], 0);
  EXPECT_EQ(shown["epoch"], 1);
  EXPECT_EQ(shown["batch"], 0);
  EXPECT_EQ(shown["ids"], (nlohmann::json{"a", "b"}));
  EXPECT_EQ(shown["n_node"], (nlohmann::json{1, 2}));
  EXPECT_EQ(shown["n_edge"], (nlohmann::json{0, 2}));
  EXPECT_EQ(shown["shape"], (nlohmann::json{{"graphs", 3}, {"nodes", 64}, {"edges", 64}}));
  EXPECT_EQ(shown["fill"], (nlohmann::json{{"graphs", 2. / 3}, {"nodes", 3. / 64}, {"edges", 2. / 64}}));
  EXPECT_EQ(shown["total_ns"], 51'000);
  EXPECT_EQ(shown["loss"], 0.25);
  const Printed text = Ask({"run", "batch", run, "--step", "1"}, false);
  EXPECT_THAT(text.out, HasSubstr("step 1, rank 0: batch 0 of epoch 1; 2 of 3 graphs, 3 of 64 nodes, 2 of 64 "
                                  "edges; 51 us, loss 0.25"));
  EXPECT_EQ(Ask({"run", "batch", run, "--step", "1", "--csv"}, false).out, "id,n_node,n_edge\na,1,0\nb,2,2\n");
}

TEST_F(BatchCommandTest, EachRankHasItsOwn) {
  const std::string run = AddRun({Step(0, 0, 1, {2, 4, 6})}, 1);
  EXPECT_EQ(Ask({"run", "batch", run, "--step", "0", "--rank", "1"}).Json()["ids"], (nlohmann::json{"c", "d"}));
  const Printed other = Ask({"run", "batch", run, "--step", "0"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.Json()["error"]["message"].get<std::string>(),
              HasSubstr("has no record of step 0 (--step) of rank 0 (--rank)"));
  const Printed none = Ask({"run", "batch", run, "--step", "0", "--rank", "2"});
  EXPECT_EQ(none.Json()["error"]["code"], "NOT_FOUND");
  EXPECT_THAT(none.Json()["error"]["message"].get<std::string>(),
              HasSubstr("has no rank 2 (--rank): it has 2, counted from 0"));
}

TEST_F(BatchCommandTest, AStepThatWasNotMadeIsNamed) {
  const Printed printed = Ask({"run", "batch", AddRun({Step(0, 0, 0, {2, 3, 2})}), "--step", "7"});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.Json()["error"]["code"], "NOT_FOUND");
  EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(), HasSubstr("step 7"));
}

TEST_F(BatchCommandTest, ABatchThatThePlanDoesNotTellIsNotShown) {
  const Printed counts = Ask({"run", "batch", AddRun({Step(0, 0, 0, {2, 4, 2})}), "--step", "0"});
  EXPECT_EQ(counts.exit_code, 1);
  EXPECT_THAT(counts.Json()["error"]["message"].get<std::string>(),
              HasSubstr("has 3 nodes and 2 edges, and the step was made on 4 nodes and 2 edges"));
}

TEST_F(BatchCommandTest, GraphsThatWereSkippedAreCounted) {
  description_.on_corrupt = client::OnCorrupt::kSkip;
  const std::string run = AddRun({Step(0, 0, 0, {1, 2, 2})});
  EXPECT_EQ(Ask({"run", "batch", run, "--step", "0"}).Json()["ids"], (nlohmann::json{"a", "b"}));
  EXPECT_THAT(Ask({"run", "batch", run, "--step", "0"}, false).out,
              HasSubstr("1 of the graphs were skipped as corrupt"));
}

TEST_F(BatchCommandTest, ASyntheticRunIsRefused) {
  description_.input = "synthetic";
  const Printed printed = Ask({"run", "batch", AddRun({Step(0, 0, 0, {2, 3, 2})}), "--step", "0"});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.Json()["error"]["code"], "FAILED_PRECONDITION");
  EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(), HasSubstr("--synthetic"));
}

TEST_F(BatchCommandTest, AnotherPlanIsNamed) {
  description_.plan_fingerprint = "0123456789abcdef";
  const Printed printed = Ask({"run", "batch", AddRun({Step(0, 0, 0, {2, 3, 2})}), "--step", "0"});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(),
              HasSubstr("the run had plan 0123456789abcdef"));
}

TEST_F(BatchCommandTest, TheDataMayBeOnAnotherServer) {
  const std::string run = AddRun({Step(0, 0, 0, {2, 3, 2})});
  const std::unique_ptr<TestServer> empty = TestServer::Start().value();
  const Printed there = Ask({"run", "batch", run, "--step", "0", "--data-server", empty->address()});
  EXPECT_EQ(there.Json()["error"]["code"], "NOT_FOUND");
  EXPECT_THAT(there.Json()["error"]["message"].get<std::string>(), HasSubstr("--data-server"));
  const Printed here = Ask({"run", "batch", run, "--step", "0", "--data-server", server_->address()});
  EXPECT_EQ(here.Json()["ids"], (nlohmann::json{"a", "b"}));
}

}  // namespace
}  // namespace packtrain::cli
