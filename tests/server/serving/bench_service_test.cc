#include <gmock/gmock.h>
#include <grpcpp/client_context.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "packtrain/v1/bench.grpc.pb.h"
#include "proto/base/status_convert.h"
#include "server/node/server.h"
#include "tests/server/serving/serving_client.h"
#include "tests/testing/http.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"

namespace packtrain::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint32_t kMaxMessageBytes = 64 << 10;

class BenchServiceTest : public ::testing::Test {
 protected:
  static std::unique_ptr<TestServer> StartServer(bool enable_bench) {
    node::ServerOptions options;
    options.enable_bench = enable_bench;
    options.max_message_bytes = kMaxMessageBytes;
    options.metrics_port = "0";
    return TestServer::Start(options).value();
  }

  // Reads with generated code: the sizes of the bodies that came, at most `most`, and how the call ended.
  absl::Status Stream(const v1::StreamBytesRequest& request, std::vector<std::size_t>& bodies,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const auto stub = v1::BenchService::NewStub(server_->NewChannel());
    grpc::ClientContext context;
    const auto reader = stub->StreamBytes(&context, request);
    v1::StreamBytesResponse response;
    while (bodies.size() < most && reader->Read(&response)) bodies.push_back(response.body().size());
    if (bodies.size() == most) context.TryCancel();
    return base::FromGrpcStatus(reader->Finish());
  }

  absl::Status Refusal(const v1::StreamBytesRequest& request) {
    std::vector<std::size_t> bodies;
    absl::Status status = Stream(request, bodies);
    EXPECT_THAT(bodies, IsEmpty());
    return status;
  }

  static v1::StreamBytesRequest Request(const std::vector<std::uint32_t>& sizes, std::uint64_t messages) {
    v1::StreamBytesRequest request;
    request.mutable_sizes()->Add(sizes.begin(), sizes.end());
    request.set_messages(messages);
    return request;
  }

  std::unique_ptr<TestServer> server_ = StartServer(true);
};

TEST_F(BenchServiceTest, SendsTheSizesInTurnAsManyAsAskedFor) {
  std::vector<std::size_t> bodies;
  EXPECT_THAT(Stream(Request({1, 200, 30'000}, 5), bodies), IsOk());
  EXPECT_THAT(bodies, ElementsAre(1, 200, 30'000, 1, 200));
}

TEST_F(BenchServiceTest, AnEndlessStreamEndsWithItsClient) {
  std::vector<std::size_t> bodies;
  EXPECT_THAT(Stream(Request({1000}, 0), bodies, 10'000), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(BenchServiceTest, SizesThatAreNoneAreRefused) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(Refusal(Request({}, 1)), StatusIs(kInvalid, HasSubstr("at least one")));
  EXPECT_THAT(Refusal(Request({5, 0}, 1)), StatusIs(kInvalid, HasSubstr("size of 0")));
  EXPECT_THAT(Refusal(Request({kMaxMessageBytes}, 1)), StatusIs(kInvalid, HasSubstr("--max-message-bytes")));
  EXPECT_THAT(Refusal(Request({std::numeric_limits<std::uint32_t>::max()}, 1)), StatusIs(kInvalid));
  EXPECT_THAT(Refusal(Request(std::vector<std::uint32_t>(4097, 1), 1)), StatusIs(kInvalid, HasSubstr("4096")));
}

TEST_F(BenchServiceTest, RefusedStreamsAreCounted) {
  EXPECT_THAT(Refusal(Request({}, 1)), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Refusal(Request({0}, 1)), StatusIs(absl::StatusCode::kInvalidArgument));
  const auto samples = Scrape(server_->server().metrics_address());
  EXPECT_EQ(samples.at("packtrain_streams_ended_total{code=\"INVALID_ARGUMENT\"}"), 2);
}

TEST_F(BenchServiceTest, TheLargestMessageIsServed) {
  std::vector<std::size_t> bodies;
  EXPECT_THAT(Stream(Request({kMaxMessageBytes - 4}, 2), bodies), IsOk());
  EXPECT_THAT(bodies, ElementsAre(kMaxMessageBytes - 4, kMaxMessageBytes - 4));
}

TEST_F(BenchServiceTest, TheServerSaysThatItServesIt) {
  const auto info = ServingClient(server_->NewChannel()).GetServerInfo();
  ASSERT_THAT(info, IsOk());
  EXPECT_THAT(info->features(), Contains("bench"));
  EXPECT_LE(info->memory().used_bytes(), info->memory().cap_bytes());
}

TEST_F(BenchServiceTest, ItIsNotServedUnlessAskedFor) {
  server_ = StartServer(false);
  EXPECT_THAT(Refusal(Request({1}, 1)), StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(ServingClient(server_->NewChannel()).GetServerInfo()->features(), Not(Contains("bench")));
}

}  // namespace
}  // namespace packtrain::testing
