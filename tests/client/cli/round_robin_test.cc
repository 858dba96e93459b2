// Clients of several servers that hold the same data.
#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/batch_reader.h"
#include "client/connection.h"
#include "client/dataset_info.h"
#include "tests/client/cli/run_line.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::Each;
using testing::IsOk;
using testing::RunLine;
using testing::TestServer;

constexpr std::uint32_t kRanks = 3;
constexpr std::uint64_t kGraphs = 2778;
// More than connections hold, so that most is yet to come when a server ends.
constexpr std::uint64_t kEpochs = 4;

std::string PortOf(const TestServer& server) { return server.address().substr(server.address().rfind(':')); }

class RoundRobinTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    for (const auto& server : servers_) {
      const std::string sample = std::string(PACKTRAIN_TEST_DATA) + "/qm9/qm9_sample.xyz.gz";
      const testing::Printed printed = RunLine(
          {"import", "extxyz", sample, "--name", "mols", "--edges", "radius:5", "--server", server->address()});
      ASSERT_EQ(printed.exit_code, 0) << printed.err;
    }
  }

  std::unique_ptr<client::BatchReader> OpenRank(std::uint32_t rank) {
    client::ConnectionOptions options;
    options.server = "ipv4:127.0.0.1" + PortOf(*servers_[0]) + ",127.0.0.1" + PortOf(*servers_[1]);
    auto connection = client::Connection::Open(options).value();
    client::StreamRequest request;
    request.dataset = client::GetDatasetInfo(*connection, "mols")->reference;
    request.spec.policy = wire::Policy::kDynamic;
    request.spec.graphs = 15;
    request.rank = rank;
    request.world_size = kRanks;
    request.epochs = kEpochs;
    request.read_ahead.batches = 1;
    return client::BatchReader::Open(std::move(connection), request).value();
  }

  // Reads one batch; false at the end.
  bool Read(client::BatchReader& reader) {
    const auto batch = reader.Next();
    EXPECT_THAT(batch, IsOk());
    if (!batch.ok() || !batch->has_value()) return false;
    const auto graphs = (*batch)->Elements<std::uint64_t>("graph_index");
    EXPECT_THAT(graphs, IsOk());
    for (const std::uint64_t graph : *graphs) ++times_.at(graph);
    return true;
  }

  std::vector<std::unique_ptr<TestServer>> servers_ = [] {
    std::vector<std::unique_ptr<TestServer>> servers;
    for (int k = 0; k < 2; ++k) servers.push_back(TestServer::Start().value());
    return servers;
  }();
  std::vector<std::uint64_t> times_ = std::vector<std::uint64_t>(kGraphs);
};

TEST_P(RoundRobinTest, EpochsAreExactlyOnceThoughOneServerEndsInTheMiddle) {
  std::vector<std::unique_ptr<client::BatchReader>> ranks;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) ranks.push_back(OpenRank(rank));
  for (int step = 0; step < 20; ++step) {
    for (const auto& rank : ranks) EXPECT_TRUE(Read(*rank));
  }
  servers_[static_cast<std::size_t>(GetParam())]->Stop();
  for (const auto& rank : ranks) {
    while (Read(*rank)) {
    }
  }
  EXPECT_THAT(times_, Each(kEpochs));
}

INSTANTIATE_TEST_SUITE_P(Either, RoundRobinTest, ::testing::Values(0, 1));

}  // namespace
}  // namespace packtrain::cli
