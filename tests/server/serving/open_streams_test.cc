// Streams beside each other: their places, what they hold in memory, and their ends.
#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/base/error_details.h"
#include "proto/wire/body_pool.h"
#include "server/batches/build_ahead.h"
#include "tests/server/serving/batch_service_testing.h"
#include "tests/server/serving/serving_client.h"
#include "tests/testing/eventually.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::testing {
namespace {

using ::testing::HasSubstr;

using OpenStreamsTest = BatchServiceTest;

TEST_F(OpenStreamsTest, ARequestThatContradictsItselfIsToldSoWhereNoPlaceIsFree) {
  v1::StreamBatchesRequest endless = Request(), wrong = Request();
  endless.set_epochs(0);
  wrong.set_rank(5);
  node::ServerOptions one_stream;
  one_stream.max_streams = 1;
  ASSERT_THAT(server_->StartAgain(one_stream), IsOk());
  OpenStream stream(server_->NewChannel(), endless);
  ASSERT_TRUE(stream.Read());
  EXPECT_THAT(client().Stream(wrong).status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 5")));
  EXPECT_THAT(client().Stream(Request()).status, StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(OpenStreamsTest, TwoStreamsOfOnePlaceCountAsOneAndAThirdIsRefused) {
  node::ServerOptions one_stream;
  one_stream.max_streams = 1;
  ASSERT_THAT(server_->StartAgain(one_stream), IsOk());
  v1::StreamBatchesRequest training = Request(), elsewhere = Request();
  training.set_epochs(0);
  training.set_place("sixteen characters");
  elsewhere.set_place("sixteen others ..");
  v1::StreamBatchesRequest evaluation = training;
  evaluation.set_epochs(1);
  OpenStream stream(server_->NewChannel(), training);
  ASSERT_TRUE(stream.Read());
  {
    OpenStream second(server_->NewChannel(), training);
    ASSERT_TRUE(second.Read());
    const absl::Status third = client().Stream(evaluation).status;
    EXPECT_THAT(third, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("place")));
    EXPECT_TRUE(base::RetryDelayOf(third).has_value());
    for (const v1::StreamBatchesRequest& other : {elsewhere, Request()}) {
      EXPECT_THAT(client().Stream(other).status,
                  StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--max-streams")));
    }
  }
  absl::Status again;
  do {
    again = client().Stream(evaluation).status;
  } while (again.code() == absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(again, IsOk());
  EXPECT_THAT(client().Stream(elsewhere).status, StatusIs(absl::StatusCode::kResourceExhausted))
      << "one is open yet";
}

TEST_F(OpenStreamsTest, APlaceIsNeitherShortNorLong) {
  v1::StreamBatchesRequest request = Request();
  for (const std::size_t size : {15u, 65u}) {
    request.set_place(std::string(size, 'x'));
    EXPECT_THAT(client().Stream(request).status,
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("place")));
  }
  request.set_place(std::string(64, 'x'));
  EXPECT_THAT(client().Stream(request).status, IsOk());
}

TEST_F(OpenStreamsTest, CancellingEndsAnEndlessStream) {
  v1::StreamBatchesRequest request = Request();
  request.set_epochs(0);
  node::ServerOptions one_stream;
  one_stream.max_streams = 1;
  ASSERT_THAT(server_->StartAgain(one_stream), IsOk());
  OpenStream stream(server_->NewChannel(), request);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(stream.Read());
  EXPECT_THAT(client().Stream(Request()).status,
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--max-streams")));
  stream.Cancel();
  EXPECT_THAT(stream.Finish(), StatusIs(absl::StatusCode::kCancelled));
  // The place is free as soon as the server has seen it.
  absl::Status status;
  ASSERT_TRUE(Eventually([&] {
    status = client().Stream(Request()).status;
    return !absl::IsResourceExhausted(status);
  }));
  EXPECT_THAT(status, IsOk());
}

TEST_F(OpenStreamsTest, ClientsThatDoNotReadHoldTwoBatchesEach) {
  ASSERT_THAT(client().Store("many", MoleculeSchema(), BlockOf(ManyMolecules(50'000))), IsOk());
  v1::StreamBatchesRequest request = Request(v1::POLICY_STATIC, 50'000);
  request.set_dataset("many");
  ASSERT_THAT(client().Stream(request).status, IsOk());  // so that the records are in memory before
  request.set_epochs(0);
  const std::uint64_t before = client().GetServerInfo()->memory().used_bytes();
  std::vector<std::unique_ptr<OpenStream>> streams;
  for (int i = 0; i < 5; ++i) {
    streams.push_back(std::make_unique<OpenStream>(server_->NewChannel(), request));
    ASSERT_TRUE(streams.back()->Read());
  }
  const std::uint64_t body_bytes = streams[0]->message().header().body_bytes();
  ASSERT_GT(2 * body_bytes, batches::kStreamWindowBytes);
  const auto info = client().GetServerInfo();
  ASSERT_THAT(info, IsOk());
  const std::uint64_t plans = 1 << 20;  // of three epochs, and more
  EXPECT_LE(info->memory().used_bytes(), before + 5 * 2 * wire::BodyPool::CapacityOf(body_bytes) + plans);
  EXPECT_LE(info->memory().used_bytes(), info->memory().cap_bytes());
}

TEST_F(OpenStreamsTest, AStreamCutAtAnyMessageLeavesNothingBehind) {
  node::ServerOptions one_stream;
  one_stream.max_streams = 1;
  ASSERT_THAT(server_->StartAgain(one_stream), IsOk());
  ASSERT_THAT(client().Store("many", MoleculeSchema(), BlockOf(ManyMolecules(600))), IsOk());
  v1::StreamBatchesRequest request = Request(v1::POLICY_STATIC, 200);
  request.set_dataset("many");
  request.set_max_message_bytes(4096);
  const ReceivedStream whole = client().Stream(request);
  ASSERT_THAT(whole.status, IsOk());
  std::size_t messages = 0;
  for (const ReceivedBatch& batch : whole.batches) messages += batch.parts;
  ASSERT_GT(messages, whole.batches.size());
  const auto memory = [this] { return client().GetServerInfo()->memory(); };
  ASSERT_TRUE(Eventually([&] { return memory().resident_dataset_bytes() > 0; }));
  std::uint64_t least = memory().used_bytes();
  for (std::size_t cut = 0; cut < messages; ++cut) {
    // The place of the stream before it is free again once gRPC has let go of that.
    ASSERT_TRUE(Eventually([&] {
      OpenStream stream(server_->NewChannel(), request);
      std::size_t read = 0;
      while (read < cut && stream.Read()) ++read;
      return read == cut;
    }));
    // Its own place is, and its bodies are freed, likewise.
    absl::Status next;
    ASSERT_TRUE(Eventually([&] {
      next = client().Stream(request).status;
      return !absl::IsResourceExhausted(next);
    }));
    ASSERT_THAT(next, IsOk());
    // Never more than after the streams before it; less, where those still held something.
    std::uint64_t used = 0;
    ASSERT_TRUE(Eventually([&] { return (used = memory().used_bytes()) <= least; })) << "cut " << cut;
    least = used;
  }
}

}  // namespace
}  // namespace packtrain::testing
