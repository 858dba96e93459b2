#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "tests/server/serving/serving_client.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"

namespace packtrain::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class PlanServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = TestServer::Start();
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    client_ = std::make_unique<ServingClient>(server_->NewChannel());
    auto stored = client_->Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(60)));
    ASSERT_THAT(stored, IsOk());
    reference_ = *stored;
  }

  v1::GetPlanRequest Request() const {
    v1::GetPlanRequest request;
    request.set_dataset("molecules");
    request.mutable_spec()->set_policy(v1::POLICY_DYNAMIC);
    request.mutable_spec()->set_graphs(7);
    return request;
  }

  std::unique_ptr<TestServer> server_;
  std::unique_ptr<ServingClient> client_;
  std::string reference_;
};

TEST_F(PlanServiceTest, DescribesWhatTheStreamSends) {
  const auto plan = client_->GetPlan(Request());
  ASSERT_THAT(plan, IsOk());
  v1::StreamBatchesRequest request;
  request.set_dataset("molecules");
  *request.mutable_spec() = Request().spec();
  request.set_epochs(1);
  const ReceivedStream stream = client_->Stream(request);
  EXPECT_EQ(plan->dataset(), reference_);
  EXPECT_EQ(plan->graphs(), 60);
  EXPECT_EQ(plan->batches(), stream.batches.size());
  EXPECT_EQ(plan->steps(), stream.batches.size());
  ASSERT_THAT(plan->shapes(), SizeIs(1));
  const wire::BatchHeader& header = stream.batches[0].batch.header();
  EXPECT_EQ(plan->shapes(0).shape().nodes(), header.padded.nodes);
  EXPECT_EQ(plan->fingerprint(), header.fingerprint);
  EXPECT_EQ(plan->budget().graphs(), 7);
}

TEST_F(PlanServiceTest, APlannedBatchHasTheChecksumOfTheOneServed) {
  v1::StreamBatchesRequest stream_request;
  stream_request.set_dataset(reference_);
  *stream_request.mutable_spec() = Request().spec();
  stream_request.set_epochs(1);
  stream_request.set_rank(1);
  stream_request.set_world_size(2);
  stream_request.set_start_epoch(3);
  const ReceivedStream stream = client_->Stream(stream_request);
  ASSERT_THAT(stream.status, IsOk());
  v1::GetPlannedBatchRequest request;
  request.set_dataset("molecules");
  *request.mutable_spec() = Request().spec();
  request.set_world_size(2);
  request.set_epoch(3);
  request.set_index(3);
  const auto planned = client_->GetPlannedBatch(request);
  ASSERT_THAT(planned, IsOk());
  const wire::BatchHeader& header = stream.batches[1].batch.header();
  EXPECT_EQ(planned->body_crc32c(), header.body_crc32c);
  EXPECT_EQ(planned->step(), 1);
  EXPECT_EQ(planned->rank(), 1);
  EXPECT_THAT(planned->source_ids(), SizeIs(header.real.graphs));
  EXPECT_EQ(planned->source_ids(0), ManyMolecules(60)[stream.batches[1].graphs()[0]].id);
  EXPECT_THAT(planned->n_node(), SizeIs(header.real.graphs));
  v1::GetPlannedBatchResponse expected = *planned;
  expected.clear_body_crc32c();
  request.set_without_checksum(true);
  const auto without = client_->GetPlannedBatch(request);
  ASSERT_THAT(without, IsOk());
  EXPECT_EQ(without->SerializeAsString(), expected.SerializeAsString());
}

TEST_F(PlanServiceTest, ABatchPastTheEpochIsOutOfRange) {
  v1::GetPlannedBatchRequest request;
  request.set_dataset("molecules");
  *request.mutable_spec() = Request().spec();
  request.set_index(~std::uint64_t{0});
  EXPECT_THAT(client_->GetPlannedBatch(request), StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_F(PlanServiceTest, SkippedGraphsAreNamed) {
  v1::GetPlanRequest request = Request();
  request.mutable_spec()->set_nodes(5);  // of which 4 may be real: methane does not fit
  request.mutable_spec()->set_edges(20);
  request.mutable_spec()->set_oversize(v1::OVERSIZE_SKIP);
  const auto plan = client_->GetPlan(request);
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->oversize().action(), v1::OVERSIZE_SKIP);
  EXPECT_EQ(plan->oversize().count(), 12);
  EXPECT_THAT(plan->oversize().ids(), SizeIs(12));
  EXPECT_EQ(plan->oversize().ids(0), ManyMolecules(60)[4].id);
  EXPECT_FALSE(plan->oversize().truncated());
  request.mutable_spec()->set_oversize(v1::OVERSIZE_ERROR);
  EXPECT_THAT(client_->GetPlan(request),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(ManyMolecules(60)[4].id)));
}

TEST_F(PlanServiceTest, BalanceEvensTheRanksOut) {
  v1::GetPlanRequest request = Request();
  request.set_world_size(3);
  const auto none = client_->GetPlan(request);
  ASSERT_THAT(none, IsOk());
  request.mutable_spec()->set_balance(v1::BALANCE_COST);
  const auto balanced = client_->GetPlan(request);
  ASSERT_THAT(balanced, IsOk());
  EXPECT_GT(balanced->rank_load_mean_over_max(), none->rank_load_mean_over_max());
  EXPECT_NE(balanced->fingerprint(), none->fingerprint());
  request.mutable_spec()->mutable_cost()->set_edge(7);  // and nothing for graphs and nodes
  const auto by_edges = client_->GetPlan(request);
  ASSERT_THAT(by_edges, IsOk());
  EXPECT_NE(by_edges->fingerprint(), balanced->fingerprint());
}

TEST_F(PlanServiceTest, AContradictoryOrUnknownRequestIsRefused) {
  v1::GetPlanRequest request = Request();
  // Also where the plan of the sound part of the request is at hand.
  ASSERT_THAT(client_->GetPlan(request), IsOk());
  request.mutable_spec()->set_pad(v1::PAD_POW2);
  EXPECT_THAT(client_->GetPlan(request), StatusIs(absl::StatusCode::kInvalidArgument));
  request = Request();
  request.mutable_spec()->set_graphs(0);
  EXPECT_THAT(client_->GetPlan(request), StatusIs(absl::StatusCode::kInvalidArgument));
  request = Request();
  request.mutable_spec()->mutable_cost()->set_node(1);
  EXPECT_THAT(client_->GetPlan(request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--balance cost")));
  request = Request();
  request.mutable_spec()->set_balance(static_cast<v1::Balance>(9));
  EXPECT_THAT(client_->GetPlan(request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("spec.balance = 9")));
  request = Request();
  request.mutable_spec()->set_order(v1::ORDER_WINDOW);
  EXPECT_THAT(client_->GetPlan(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("window:K")));
  request.mutable_spec()->set_order_window(0);
  EXPECT_THAT(client_->GetPlan(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("window:0")));
  request = Request();
  request.mutable_spec()->set_ladder_rungs(8);
  EXPECT_THAT(client_->GetPlan(request), StatusIs(absl::StatusCode::kInvalidArgument));
  request = Request();
  request.set_dataset("nothing");
  EXPECT_THAT(client_->GetPlan(request), StatusIs(absl::StatusCode::kNotFound));
  v1::GetPlannedBatchRequest batch;
  batch.set_dataset("nothing");
  EXPECT_THAT(client_->GetPlannedBatch(batch), StatusIs(absl::StatusCode::kInvalidArgument));
  *batch.mutable_spec() = Request().spec();
  EXPECT_THAT(client_->GetPlannedBatch(batch), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace packtrain::testing
