#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/client/cli/run_line.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Printed;
using testing::RunLine;
using testing::TestServer;

const std::string kData = PACKTRAIN_TEST_DATA;

// A server that holds the sample of QM9, 2,778 graphs.
class BenchCommandTest : public ::testing::Test {
 protected:
  BenchCommandTest() {
    serving::ServerOptions options;
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
                           "first_batch_seconds", "server_rss_bytes"}) {
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
  serving::ServerOptions without;
  ASSERT_TRUE(server_->StartAgain(without).ok());
  const Printed printed = Bench({"--policy", "static", "--graphs", "31"});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.Json()["error"]["code"], "FAILED_PRECONDITION");
  EXPECT_THAT(printed.out, HasSubstr("--enable-bench"));
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

}  // namespace
}  // namespace packtrain::cli
