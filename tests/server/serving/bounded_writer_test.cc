// What ends a listing and what it may hold, by the example of AdminService.Fsck, whose events the test makes
// up.
#include "server/serving/bounded_writer.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "absl/synchronization/notification.h"
#include "proto/base/status_convert.h"
#include "server/serving/admin_service.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::serving {
namespace {

using ::packtrain::testing::StatusIs;
using std::chrono::milliseconds;

constexpr std::size_t kMessageBytes = 64 << 10;

class BoundedWriterTest : public ::testing::Test {
 protected:
  ~BoundedWriterTest() override { server_->Shutdown(); }

  // Serves a listing that has no end of its own.
  void Serve(milliseconds idle_limit) {
    idle_ = std::make_unique<IdleWatch>(idle_limit);
    service_ = std::make_unique<AdminService>(
        bounds_,
        [this](rocks::CheckReport& report) {
          absl::Status status;
          while (status.ok()) {
            status = report.Find(rocks::Finding(v1::FSCK_KIND_FILE, std::string(kMessageBytes, 'x')));
            ++written_;
          }
          end_ = status;
          ended_.Notify();
          return status;
        },
        *idle_);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // so that the window stays at 64 KiB
    stub_ = v1::AdminService::NewStub(grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                                                grpc::InsecureChannelCredentials(), arguments));
  }

  // Opens a listing and reads its first message.
  void Open() {
    reader_ = stub_->Fsck(&context_, v1::FsckRequest());
    ASSERT_TRUE(reader_->Read(&event_));
  }

  absl::Status ReadToTheEnd() {
    while (reader_->Read(&event_)) continue;
    return base::FromGrpcStatus(reader_->Finish());
  }

  std::atomic<int> written_ = 0;
  absl::Notification ended_;
  absl::Status end_;
  std::unique_ptr<IdleWatch> idle_;
  CallBounds bounds_{limits::MemoryBudget::Undivided(std::uint64_t{1} << 30)};
  std::unique_ptr<AdminService> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::AdminService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::FsckResponse>> reader_;
  v1::FsckResponse event_;
};

TEST_F(BoundedWriterTest, AClientThatStopsReadingStopsTheListingAndIsCutOff) {
  Serve(milliseconds(100));
  Open();
  ended_.WaitForNotification();
  EXPECT_THAT(end_, StatusIs(absl::StatusCode::kCancelled));
  // What the sockets and windows between the two took.
  EXPECT_LT(written_ * kMessageBytes, 32 << 20);
  EXPECT_THAT(ReadToTheEnd(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(BoundedWriterTest, AListingEndsWithItsClient) {
  Serve(std::chrono::minutes(10));
  Open();
  context_.TryCancel();
  ended_.WaitForNotification();
  EXPECT_THAT(end_, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(ReadToTheEnd(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(BoundedWriterTest, AListingEndsAtItsDeadline) {
  Serve(std::chrono::minutes(10));
  context_.set_deadline(std::chrono::system_clock::now() + milliseconds(500));
  Open();
  ended_.WaitForNotification();
  EXPECT_THAT(end_, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(ReadToTheEnd(), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(BoundedWriterTest, AListingEndsWithTheServersReason) {
  Serve(std::chrono::minutes(10));
  Open();
  service_->Drain();
  EXPECT_THAT(ReadToTheEnd(), StatusIs(absl::StatusCode::kUnavailable, ::testing::HasSubstr("shutting down")));
  ended_.WaitForNotification();
  EXPECT_THAT(end_, StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace packtrain::serving
