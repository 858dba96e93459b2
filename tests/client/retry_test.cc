#include "client/internal/retry.h"

#include <gmock/gmock.h>

#include "proto/base/error_details.h"
#include "tests/client/scripted_services.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Le;
using testing::OptionsFor;
using testing::StatusIs;

TEST(Backoff, DoublesUpToItsLongestDelayAndBeginsAgain) {
  Backoff backoff;
  milliseconds ceiling{50};
  for (int attempt = 0; attempt < 20; ++attempt) {
    EXPECT_THAT(backoff.Next(), AllOf(Ge(ceiling / 2), Le(ceiling)));
    ceiling = std::min(ceiling * 2, milliseconds(5'000));
  }
  backoff.Reset();
  EXPECT_LE(backoff.Next(), milliseconds(50));
}

TEST(Retry, ReturnsAtOnceWhatTryingAgainCannotMend) {
  const ConnectionOptions options = OptionsFor("a:1", milliseconds(60'000));
  StopSignal stop;
  Retry retry(options, stop);
  for (const absl::Status& status :
       {absl::NotFoundError("x"), absl::DataLossError("x"), absl::FailedPreconditionError("x"),
        absl::ResourceExhaustedError("x"), absl::InternalError("x"), absl::DeadlineExceededError("x")}) {
    EXPECT_EQ(retry.WaitAfter(status), status);
  }
}

TEST(Retry, GivesUpNamingServerTimeFlagAndCause) {
  const ConnectionOptions options = OptionsFor("node-3:7077", milliseconds(1));
  StopSignal stop;
  Retry retry(options, stop);
  absl::Status status;
  EXPECT_TRUE(testing::Eventually([&] {
    status = retry.WaitAfter(absl::UnavailableError("connection refused"));
    return !status.ok();
  }));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                               AllOf(HasSubstr("node-3:7077"), HasSubstr("0.001 s"), HasSubstr("--give-up"),
                                     HasSubstr("connection refused"))));
}

TEST(Retry, BeginsANewWaitAfterAnAnswer) {
  const ConnectionOptions options = OptionsFor("a:1", milliseconds(1));
  StopSignal stop;
  Retry retry(options, stop);
  for (int failure = 0; failure < 3; ++failure) {
    EXPECT_THAT(retry.WaitAfter(absl::UnavailableError("x")), IsOk());
    retry.Succeeded();
  }
}

TEST(Retry, NeverComesBeforeTheDelayThatTheServerAsksFor) {
  const ConnectionOptions options = OptionsFor("a:1", milliseconds(60'000));
  StopSignal stop;
  Retry retry(options, stop);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(retry.WaitAfter(base::WithRetryDelay(absl::UnavailableError("x"), milliseconds(200))), IsOk());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(200));
}

TEST(Retry, WaitsOutARefusalForWantOfMemoryAndReturnsItInTheEnd) {
  const absl::Status refused = base::WithRetryDelay(
      base::WithReason(absl::ResourceExhaustedError("x"), base::kMemoryLimit), milliseconds(1));
  StopSignal stop;
  const ConnectionOptions patient = OptionsFor("a:1", milliseconds(60'000)),
                          hasty = OptionsFor("a:1", milliseconds(1));
  EXPECT_THAT(Retry(patient, stop).WaitAfter(refused), IsOk());
  Retry retry(hasty, stop);
  absl::Status status;
  EXPECT_TRUE(testing::Eventually([&] {
    status = retry.WaitAfter(refused);
    return !status.ok();
  }));
  EXPECT_EQ(status, refused);
}

TEST(Retry, EndsWhenStopped) {
  const ConnectionOptions options = OptionsFor("a:1", milliseconds(60'000));
  StopSignal stop;
  stop.Stop();
  Retry retry(options, stop);
  EXPECT_THAT(retry.WaitAfter(absl::UnavailableError("x")), StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace packtrain::client
