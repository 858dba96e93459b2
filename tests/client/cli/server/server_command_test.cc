#include <gmock/gmock.h>

#include "proto/base/host_id.h"
#include "tests/client/cli/run_line.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using testing::Printed;
using testing::RunLine;
using testing::TestServer;

TEST(ServerCommandTest, InfoShowsVersionLimitsMemoryAndFeatures) {
  const std::unique_ptr<TestServer> server = TestServer::Start().value();
  const Printed printed = RunLine({"server", "info", "--server", server->address(), "--json"});
  ASSERT_EQ(printed.exit_code, 0) << printed.out;
  const nlohmann::json info = printed.Json();
  EXPECT_EQ(info["api"], "v1");
  EXPECT_FALSE(info["version"].get<std::string>().empty());
  EXPECT_GT(info["limits"]["max_batch_bytes"], 0);
  EXPECT_GT(info["memory"]["cap_bytes"], info["memory"]["used_bytes"]);
  EXPECT_EQ(info["memory"]["resident_dataset_bytes"], 0);
  EXPECT_GT(info["memory"]["process_rss_bytes"], 1 << 20);
  EXPECT_THAT(info["features"], ::testing::Contains("edges.full"));
}

TEST(ServerCommandTest, InfoTellsItsBuildersAndTheHostThatItSharesWithThisProcess) {
  node::ServerOptions options;
  options.builders = 3;
  const std::unique_ptr<TestServer> server = TestServer::Start(options).value();
  const nlohmann::json info = RunLine({"server", "info", "--server", server->address(), "--json"}).Json();
  EXPECT_EQ(info["limits"]["builders"], 3);
  EXPECT_FALSE(base::HostId().empty());
  EXPECT_EQ(info["host_id"], base::HostId());
}

TEST(ServerCommandTest, ARequestAboveTheMessageLimitIsToldWithItsFlag) {
  node::ServerOptions options;
  options.max_message_bytes = 64 << 10;
  const std::unique_ptr<TestServer> server = TestServer::Start(options).value();
  const Printed printed =
      RunLine({"run", "show", std::string(100'000, 'x'), "--server", server->address(), "--json"});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.Json()["error"]["code"], "RESOURCE_EXHAUSTED");
  EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(),
              ::testing::AllOf(::testing::HasSubstr("65536"), ::testing::HasSubstr("--max-message-bytes")));
}

TEST(ServerCommandTest, InfoReadsWellToo) {
  const std::unique_ptr<TestServer> server = TestServer::Start().value();
  const Printed printed = RunLine({"server", "info", "--server", server->address()});
  EXPECT_THAT(printed.out, ::testing::StartsWith("packtraind "));
  EXPECT_THAT(printed.out, ::testing::HasSubstr(server->address()));
}

}  // namespace
}  // namespace packtrain::cli
