// Requests for streams that are refused.
#include <gmock/gmock.h>

#include <cstdint>

#include "tests/server/serving/batch_service_testing.h"
#include "tests/server/serving/serving_client.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using RefusedStreamTest = BatchServiceTest;

TEST_F(RefusedStreamTest, UnknownDataSetAndSplitAreNotFound) {
  v1::StreamBatchesRequest request = Request();
  request.set_dataset("nothing");
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("nothing")));
  request.set_dataset("molecules@0000");
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kNotFound));
  request = Request();
  request.mutable_spec()->set_split("holdout");
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("holdout")));
  request.set_dataset("");
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("dataset")));
}

TEST_F(RefusedStreamTest, AGraphAboveTheBudgetIsRefusedBeforeTheFirstBatch) {
  v1::StreamBatchesRequest request = Request();
  request.mutable_spec()->set_nodes(4);
  const ReceivedStream stream = client().Stream(request);
  EXPECT_THAT(stream.status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(stream.batches, IsEmpty());
  request.mutable_spec()->set_oversize(v1::OVERSIZE_ALONE);
  EXPECT_THAT(client().Stream(request).status, IsOk());
}

TEST_F(RefusedStreamTest, AnotherFingerprintIsRefused) {
  v1::StreamBatchesRequest request = Request();
  request.set_expected_fingerprint("00000000000000000000000000000000");
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("fingerprint")));
  request.clear_expected_fingerprint();
  const ReceivedStream stream = client().Stream(request);
  request.set_expected_fingerprint(stream.batches[0].batch.header().fingerprint);
  EXPECT_THAT(client().Stream(request).status, IsOk());
}

TEST_F(RefusedStreamTest, PositionsAndRanksOutsideAreRefused) {
  v1::StreamBatchesRequest request = Request();
  request.set_start_step(1'000'000);
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("1000000")));
  request = Request();
  request.set_rank(2);
  request.set_world_size(2);
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 2")));
  request = Request();
  request.set_max_message_bytes(4095);
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_message_bytes")));
}

TEST_F(RefusedStreamTest, UnknownEnumValuesAreRefused) {
  v1::StreamBatchesRequest request = Request();
  request.mutable_spec()->set_policy(static_cast<v1::Policy>(99));
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("policy")));
  request.mutable_spec()->set_policy(v1::POLICY_UNSPECIFIED);
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--policy")));
  request = Request();
  request.mutable_spec()->set_order(static_cast<v1::Order>(-1));
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("order")));
}

TEST_F(RefusedStreamTest, HugeNumbersAreAnsweredNotObeyed) {
  constexpr std::uint32_t kHuge32 = 0xffffffff;
  constexpr std::uint64_t kHuge64 = 0xffffffffffffffff;
  v1::StreamBatchesRequest request = Request();
  request.set_start_epoch(kHuge64);
  request.set_epochs(0);
  EXPECT_THAT(client().Stream(request).status, IsOk());  // the last epoch there is
  request = Request();
  request.set_start_step(kHuge64);
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kOutOfRange));
  request = Request();
  request.set_world_size(kHuge32);
  request.set_rank(kHuge32 - 1);
  const ReceivedStream empty = client().Stream(request);
  ASSERT_THAT(empty.status, IsOk());
  ASSERT_THAT(empty.batches, SizeIs(1));
  EXPECT_TRUE(empty.batches[0].batch.header().empty);
  request = Request();
  request.set_max_message_bytes(kHuge32);
  EXPECT_THAT(client().Stream(request).status, IsOk());
  request = Request(v1::POLICY_STATIC, kHuge32);
  request.mutable_spec()->set_pad(v1::PAD_CONSTANT);
  const absl::StatusCode code = client().Stream(request).status.code();
  EXPECT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kInvalidArgument) << code;
}

TEST_F(RefusedStreamTest, ABatchAboveTheServersLimitIsRefused) {
  ASSERT_THAT(client().Store("many", MoleculeSchema(), BlockOf(ManyMolecules(2000))), IsOk());
  node::ServerOptions options;
  options.max_batch_bytes = 4096;
  ASSERT_THAT(server_->StartAgain(options), IsOk());
  v1::StreamBatchesRequest request = Request(v1::POLICY_STATIC, 2000);
  request.set_dataset("many");
  EXPECT_THAT(
      client().Stream(request).status,
      StatusIs(absl::StatusCode::kResourceExhausted, AllOf(HasSubstr("4096"), HasSubstr("--max-batch-bytes"))));
}

TEST_F(RefusedStreamTest, AnEpochWithoutAStepIsRefused) {
  v1::StreamBatchesRequest request = Request();
  request.set_world_size(1000);
  request.mutable_spec()->set_drop_last(true);
  request.set_epochs(0);
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--drop-last")));
}

}  // namespace
}  // namespace packtrain::testing
