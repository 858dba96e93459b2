#include "client/internal/unary_call.h"

#include <gmock/gmock.h>
#include <grpcpp/support/status.h>

#include <string>

#include "proto/base/error_details.h"
#include "proto/base/request_status.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::StatusIs;

TEST(OutcomeOf, AMessageThatIsTooLargeNamesTheLimit) {
  const grpc::Status refused(grpc::StatusCode::RESOURCE_EXHAUSTED,
                             "Received message larger than max (5000 vs. 4096)");
  EXPECT_THAT(OutcomeOf(refused),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--max-message-bytes")));
}

TEST(OutcomeOf, ACallThatWasResetForWantOfMemorySaysWhenToComeAgain) {
  const grpc::Status reset(grpc::StatusCode::RESOURCE_EXHAUSTED, "Received RST_STREAM with error code 11");
  const absl::Status outcome = OutcomeOf(reset);
  EXPECT_THAT(outcome, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--memory")));
  EXPECT_EQ(base::ReasonOf(outcome), base::kMemoryLimit);
  EXPECT_TRUE(base::RetryDelayOf(outcome).has_value());
}

TEST(OutcomeOf, ACallWhoseRequestTheServerStoppedReceivingKeepsItsMessageAndSaysWhenToComeAgain) {
  const absl::Status stopped = base::StoppedReceiving(2'000, 1'000);
  const absl::Status outcome =
      OutcomeOf(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, std::string(stopped.message())));
  EXPECT_THAT(outcome, StatusIs(stopped.code(), std::string(stopped.message())));
  EXPECT_EQ(base::ReasonOf(outcome), base::kMemoryLimit);
  EXPECT_TRUE(IsRefusedForMemory(outcome));
  EXPECT_FALSE(IsReset(outcome));
}

TEST(OutcomeOf, ACallOnAConnectionThatTheServerClosesSaysWhyAndWhenToComeAgain) {
  const absl::Status outcome = OutcomeOf(grpc::Status(grpc::StatusCode::UNAVAILABLE, "GOAWAY received"));
  EXPECT_THAT(outcome, StatusIs(absl::StatusCode::kUnavailable,
                                AllOf(HasSubstr("closed the connection"), HasSubstr("--memory"))));
  EXPECT_TRUE(base::RetryDelayOf(outcome).has_value());
  EXPECT_TRUE(IsTransient(outcome));
  EXPECT_FALSE(IsFailingServer(outcome));
}

TEST(OutcomeOf, OtherOutcomesStayAsTheyAre) {
  EXPECT_EQ(OutcomeOf(grpc::Status::OK), absl::OkStatus());
  EXPECT_EQ(OutcomeOf(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "disk full")),
            absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(OutcomeOf(grpc::Status(grpc::StatusCode::UNAVAILABLE, "Connection reset by peer")),
            absl::UnavailableError("Connection reset by peer"));
  EXPECT_EQ(OutcomeOf(grpc::Status(grpc::StatusCode::NOT_FOUND, "x")), absl::NotFoundError("x"));
}

}  // namespace
}  // namespace packtrain::client
