#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/client/cli/run_line.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Printed;
using testing::RunLine;
using testing::TestServer;

const std::string kData = PACKTRAIN_TEST_DATA;

// A server that holds the sample of QM9, 2,778 graphs.
class BenchCommandTest : public ::testing::Test {
 protected:
  BenchCommandTest() {
    node::ServerOptions options;
    options.enable_bench = true;
    server_ = TestServer::Start(options).value();
    const Printed printed = RunLine({"import", "extxyz", kData + "/qm9/qm9_sample.xyz.gz", "--name", "qm9",
                                     "--server", server_->address()});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
  }

  Printed Bench(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"bench", "stream", "--dataset", "qm9", "--seconds", "0.2", "--json",
                                 "--server", server_->address()});
    return RunLine(std::move(flags));
  }

  std::unique_ptr<TestServer> server_;
};

TEST_F(BenchCommandTest, ShowsWhatScriptsRelyOn) {
  const Printed printed = Bench({"--policy", "static", "--graphs", "31"});
  ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
  const nlohmann::json result = printed.Json();
  for (const char* rate : {"graphs_per_second", "bytes_per_second", "raw_bytes_per_second", "ratio_to_raw",
                           "plan_seconds", "first_batch_seconds", "server_rss_bytes"}) {
    EXPECT_GT(result[rate].get<double>(), 0) << rate;
  }
  EXPECT_GT(result["batches"], 0);
  EXPECT_EQ(result["crc_checked"], result["batches"]);
  EXPECT_GT(result["graphs"], result["batches"]);
  EXPECT_LE(result["graphs"], 31 * result["batches"].get<int>());
  EXPECT_LE(result["batch_bytes"]["mean"].get<double>(), result["batch_bytes"]["max"].get<double>());
  EXPECT_TRUE(result["resident"].is_boolean());
  EXPECT_DOUBLE_EQ(result["ratio_to_raw"].get<double>(),
                   result["bytes_per_second"].get<double>() / result["raw_bytes_per_second"].get<double>());
}

TEST_F(BenchCommandTest, TheEpochIsPlannedBeforeItsStreamsOpen) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--policy", "packed", "--graphs", "127", "--drop-last"},
        {"--policy", "static", "--graphs", "31", "--clients", "2", "--shared-epoch", "--balance", "cost"}}) {
    const Printed printed = Bench(flags);
    ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
    EXPECT_GT(printed.Json()["plan_seconds"].get<double>(), 0);
    EXPECT_EQ(printed.Json()["crc_checked"], printed.Json()["batches"]);
  }
}

TEST_F(BenchCommandTest, ManyClientsReadAnEpochEachOrShareOne) {
  for (const bool shared : {false, true}) {
    std::vector<std::string> flags = {"--policy",  "dynamic", "--graphs",   "127",
                                      "--clients", "3",       "--no-expand"};
    if (shared) flags.push_back("--shared-epoch");
    const Printed printed = Bench(flags);
    ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
    EXPECT_GT(printed.Json()["graphs"], 0);
  }
}

TEST_F(BenchCommandTest, ReadsWellToo) {
  const Printed printed = RunLine({"bench", "stream", "--dataset", "qm9", "--seconds", "0.1", "--policy",
                                   "static", "--graphs", "31", "--server", server_->address()});
  EXPECT_THAT(printed.out, AllOf(HasSubstr("graphs/s"), HasSubstr("bare bytes")));
}

TEST_F(BenchCommandTest, AServerThatDoesNotServeTheBareStreamIsRefusedWithTheFlag) {
  node::ServerOptions without;
  ASSERT_TRUE(server_->StartAgain(without).ok());
  const Printed printed = Bench({"--policy", "static", "--graphs", "31"});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.Json()["error"]["code"], "FAILED_PRECONDITION");
  EXPECT_THAT(printed.out, AllOf(HasSubstr("--enable-bench"), HasSubstr("--no-raw")));
}

TEST_F(BenchCommandTest, BatchesAloneNeedNoBareStream) {
  node::ServerOptions without;
  ASSERT_TRUE(server_->StartAgain(without).ok());
  const Printed printed = Bench({"--policy", "static", "--graphs", "31", "--no-raw"});
  ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
  EXPECT_GT(printed.Json()["graphs_per_second"].get<double>(), 0);
  for (const char* of : {"raw_bytes_per_second", "raw_setting", "ratio_to_raw"}) {
    EXPECT_TRUE(printed.Json().at(of).is_null()) << of;
  }
  const Printed text = RunLine({"bench", "stream", "--dataset", "qm9", "--seconds", "0.1", "--policy", "static",
                                "--graphs", "31", "--no-raw", "--server", server_->address()});
  EXPECT_THAT(text.out, AllOf(HasSubstr("graphs/s"), Not(HasSubstr("bare bytes"))));
}

TEST_F(BenchCommandTest, AnUnknownDataSetIsNotFound) {
  const Printed printed = RunLine({"bench", "stream", "--dataset", "zinc", "--policy", "static", "--graphs",
                                   "31", "--json", "--server", server_->address()});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.Json()["error"]["code"], "NOT_FOUND");
}

TEST_F(BenchCommandTest, WrongUsageIsRefused) {
  EXPECT_EQ(Bench({"--policy", "static"}).exit_code, 2);
  EXPECT_EQ(Bench({"--policy", "static", "--graphs", "31", "--clients", "0"}).exit_code, 2);
  EXPECT_EQ(Bench({"--policy", "static", "--graphs", "31", "--seconds", "nan"}).exit_code, 2);
  EXPECT_EQ(RunLine({"bench"}).exit_code, 2);
}

Printed BenchPlan(std::vector<std::string> flags) {
  flags.insert(flags.begin(),
               {"bench", "plan", "--sizes", kData + "/sizes/pcqm4mv2_heavy_sizes.txt", "--json"});
  return RunLine(std::move(flags));
}

TEST(BenchPlanTest, ShowsWhatScriptsRelyOn) {
  const Printed printed = BenchPlan({"--repeat", "3", "--policy", "dynamic", "--graphs", "31"});
  ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
  const nlohmann::json result = printed.Json();
  EXPECT_EQ(result["count"], 3 * 500);
  EXPECT_GE(result["passes"], 3);
  EXPECT_GE(result["threads"], 1);
  EXPECT_GT(result["batches"], 3 * 500 / 31);
  EXPECT_GE(result["cpu_seconds"].get<double>(), 0);
  EXPECT_GT(result["first_batch_seconds"].get<double>(), 0);
  EXPECT_LE(result["first_batch_seconds"].get<double>(), result["seconds"].get<double>());
  EXPECT_LE(result["seconds_min"].get<double>(), result["seconds"].get<double>());
  EXPECT_LE(result["seconds"].get<double>(), result["seconds_max"].get<double>());
  EXPECT_DOUBLE_EQ(result["ns_per_graph"].get<double>(),
                   result["seconds"].get<double>() * 1e9 / result["count"].get<double>());
  EXPECT_GE(result["plan_bytes"], 4 * 3 * 500);
  EXPECT_GE(result["peak_bytes"], result["plan_bytes"]);
  for (const char* of : {"graphs", "nodes", "edges"}) {
    EXPECT_GT(result["fill"][of].get<double>(), 0.5) << of;
    EXPECT_LE(result["fill"][of].get<double>(), 1) << of;
  }
}

// The same batches as `plan` shows, of the epoch that is planned last.
TEST(BenchPlanTest, PlansAnotherEpochInEachPass) {
  const nlohmann::json bench = BenchPlan({"--policy", "dynamic", "--graphs", "31", "--epoch", "7"}).Json();
  const std::uint64_t last = 7 + bench["passes"].get<std::uint64_t>() - 1;
  const Printed plan = RunLine({"plan", "--sizes", kData + "/sizes/pcqm4mv2_heavy_sizes.txt", "--json",
                                "--policy", "dynamic", "--graphs", "31", "--epoch", std::to_string(last)});
  EXPECT_EQ(bench["fill"], plan.Json()["fill"]);
  EXPECT_EQ(bench["batches"], plan.Json()["batches"]);
}

TEST(BenchPlanTest, ReadsWellToo) {
  const Printed printed = RunLine({"bench", "plan", "--sizes", kData + "/sizes/pcqm4mv2_heavy_sizes.txt",
                                   "--policy", "static", "--graphs", "31"});
  EXPECT_THAT(printed.out, AllOf(HasSubstr("ns a graph"), HasSubstr("in the plan")));
}

// Sanitizers map more than any limit allows.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(BenchPlanTest, TooLittleMemoryIsAFailureWithAMessage) {
  const std::string line = "ulimit -v 1000000; " + std::string(PACKTRAIN_PROGRAM) + " bench plan --sizes " +
                           kData + "/sizes/hiv_sizes.txt --policy static --graphs 1 --repeat 8000000 --json";
  std::FILE* const program = popen(line.c_str(), "r");
  ASSERT_NE(program, nullptr);
  std::string out(1000, '\0');
  out.resize(std::fread(out.data(), 1, out.size(), program));
  EXPECT_EQ(WEXITSTATUS(pclose(program)), 1);
  EXPECT_THAT(out, HasSubstr(R"("code":"RESOURCE_EXHAUSTED","message":"there is not enough memory for that")"));
}
#endif

TEST(BenchPlanTest, WrongUsageIsRefused) {
  const std::vector<std::string> spec = {"--policy", "static", "--graphs", "31"};
  const auto with = [&spec](std::vector<std::string> flags) {
    flags.insert(flags.end(), spec.begin(), spec.end());
    return BenchPlan(flags);
  };
  EXPECT_EQ(with({"--repeat", "0"}).exit_code, 2);
  EXPECT_EQ(with({"--threads", "0"}).exit_code, 2);
  EXPECT_EQ(with({"--split", "train"}).exit_code, 2);
  const Printed many = with({"--repeat", "8589935"});  // of 500 graphs
  EXPECT_EQ(many.exit_code, 2);
  EXPECT_THAT(many.out, HasSubstr("--repeat 8589935 of 500 graphs is more than 4294967295 graphs"));
  EXPECT_EQ(
      RunLine({"bench", "plan", "--sizes", "/no/such/file", "--policy", "static", "--graphs", "31"}).exit_code,
      1);
}

}  // namespace
}  // namespace packtrain::cli
