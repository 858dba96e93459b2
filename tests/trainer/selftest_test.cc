#include "trainer/selftest/selftest.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace packtrain::trainer {
namespace {

using ::testing::ElementsAre;

TEST(Selftest, WithoutATrialHasPassed) {
  const Selftest selftest([](const std::string&) {});
  EXPECT_TRUE(selftest.passed());
  EXPECT_EQ(selftest.ToJson().dump(), R"({"tests":0,"failed":0,"failures":[],"skipped":[]})");
}

TEST(Selftest, ErrorsAndExceptionsAreFailures) {
  std::vector<std::string> lines;
  Selftest selftest([&lines](const std::string& line) { lines.push_back(line); });
  selftest.Try("equal", [] { return absl::OkStatus(); });
  EXPECT_TRUE(selftest.passed());
  selftest.Try("near", [] { return absl::InternalError("1 is not 2"); });
  selftest.Try("there", []() -> absl::Status { throw std::runtime_error("no device\nstack"); });
  EXPECT_FALSE(selftest.passed());
  EXPECT_THAT(lines, ElementsAre("passed: equal", "FAILED: near: 1 is not 2", "FAILED: there: no device"));
  EXPECT_EQ(selftest.ToJson().dump(),
            R"({"tests":3,"failed":2,"failures":[{"name":"near","message":"1 is not 2"},)"
            R"({"name":"there","message":"no device"}],"skipped":[]})");
}

TEST(Selftest, WhatCannotBeTriedHereIsNoTestThatPassed) {
  std::vector<std::string> lines;
  Selftest selftest([&lines](const std::string& line) { lines.push_back(line); });
  selftest.Skip("sums", "1 card");
  EXPECT_TRUE(selftest.passed());
  EXPECT_EQ(selftest.tests(), 0);
  EXPECT_THAT(lines, ElementsAre("skipped: sums: 1 card"));
  EXPECT_EQ(selftest.ToJson().dump(),
            R"({"tests":0,"failed":0,"failures":[],"skipped":[{"name":"sums","reason":"1 card"}]})");
}

}  // namespace
}  // namespace packtrain::trainer
