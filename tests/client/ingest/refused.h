// Matches a refusal by its reason and a part of its message.
#ifndef PACKTRAIN_TESTS_CLIENT_INGEST_REFUSED_H_
#define PACKTRAIN_TESTS_CLIENT_INGEST_REFUSED_H_

#include <gmock/gmock.h>

#include <string>

#include "client/ingest/refusal.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::testing {

MATCHER_P2(Refused, reason, part,
           "is refused as " + std::string(reason) + " with '" + std::string(part) + "'") {
  const absl::Status& status = StatusOf(arg);
  *result_listener << "which is " << status.ToString();
  return ingest::IsRefusal(status) && ingest::ReasonOf(status) == reason &&
         std::string(status.message()).find(part) != std::string::npos;
}

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_INGEST_REFUSED_H_
