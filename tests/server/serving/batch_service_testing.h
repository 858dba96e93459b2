// What tests of streams share: a server and what they ask it for.
#ifndef PACKTRAIN_TESTS_SERVER_SERVING_BATCH_SERVICE_TESTING_H_
#define PACKTRAIN_TESTS_SERVER_SERVING_BATCH_SERVICE_TESTING_H_

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tests/server/serving/serving_client.h"
#include "tests/testing/sample_chains.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"

namespace packtrain::testing {

inline constexpr std::uint32_t kMolecules = 60;

// A server that holds `molecules`, kMolecules graphs of 1 to 5 nodes, and `chains`, as many of 1 to 11 nodes,
// which are renumbered.
class BatchServiceTest : public ::testing::Test {
 protected:
  void SetUp() override { StartServer({}); }

  void StartServer(node::ServerOptions options) {
    auto server = TestServer::Start(std::move(options));
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    auto stored = client().Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(kMolecules)));
    ASSERT_THAT(stored, IsOk());
    reference_ = *stored;
    ASSERT_THAT(
        client().Store("chains", ChainSchema(), ChainBlock(ManyChains(kMolecules)), v1::RENUMBERING_RCM),
        IsOk());
  }

  ServingClient client() const { return ServingClient(server_->NewChannel()); }

  v1::StreamBatchesRequest Request(v1::Policy policy = v1::POLICY_DYNAMIC, std::uint32_t graphs = 7) const {
    v1::StreamBatchesRequest request;
    request.set_dataset("molecules");
    request.mutable_spec()->set_policy(policy);
    request.mutable_spec()->set_graphs(graphs);
    request.mutable_spec()->set_seed(3);
    request.set_epochs(1);
    if (policy != v1::POLICY_SUPERGRAPH) return request;
    request.set_dataset("chains");
    request.mutable_spec()->set_blocks(8);
    request.mutable_spec()->set_block_nodes(4);
    return request;
  }

  std::unique_ptr<TestServer> server_;
  std::string reference_;
};

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_SERVER_SERVING_BATCH_SERVICE_TESTING_H_
