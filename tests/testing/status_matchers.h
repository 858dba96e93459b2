// Matchers for absl::Status and absl::StatusOr: EXPECT_THAT(Open(path), StatusIs(kNotFound, HasSubstr("x"))).
#ifndef PACKTRAIN_TESTS_TESTING_STATUS_MATCHERS_H_
#define PACKTRAIN_TESTS_TESTING_STATUS_MATCHERS_H_

#include <gmock/gmock.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace packtrain::testing {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, negation ? "is an error" : "is OK") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

// `message` is a matcher of std::string.
MATCHER_P2(StatusIs, code, message,
           "has code " + absl::StatusCodeToString(code) + " and a message that " +
               ::testing::DescribeMatcher<std::string>(message, negation)) {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).code() == code && ::testing::Matches(message)(std::string(StatusOf(arg).message()));
}

inline auto StatusIs(absl::StatusCode code) { return StatusIs(code, ::testing::A<std::string>()); }

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TESTING_STATUS_MATCHERS_H_
