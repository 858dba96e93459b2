#include "server/runs/run_keys.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;

const Reporter kReporter = {"20240105-101112-abcd", 3, 0x01020304};

TEST(RunKeys, TheReporterIsReadBackFromAKey) {
  for (const auto& reporter :
       {ReporterOfAttemptKey(AttemptKey(kReporter)), ReporterOfStepBlockKey(StepBlockKey(kReporter, 7)),
        ReporterOfSampleKey(SampleKey(kReporter, 7))}) {
    ASSERT_THAT(reporter, IsOk());
    EXPECT_EQ(reporter->run, kReporter.run);
    EXPECT_EQ(reporter->rank, kReporter.rank);
    EXPECT_EQ(reporter->attempt, kReporter.attempt);
  }
}

TEST(RunKeys, AKeyOfAnyOtherFormIsDataLoss) {
  const std::string attempt = AttemptKey(kReporter);
  const std::string block = StepBlockKey(kReporter, 7);
  for (const std::string& key : {std::string(), std::string("a"), attempt.substr(1), attempt + "x",
                                 attempt.substr(0, attempt.size() - 1), DescriptionKey(kReporter.run)}) {
    EXPECT_THAT(ReporterOfAttemptKey(key), StatusIs(absl::StatusCode::kDataLoss));
  }
  for (const std::string& key : {std::string(), block + "x", block.substr(0, block.size() - 1), attempt}) {
    EXPECT_THAT(ReporterOfStepBlockKey(key), StatusIs(absl::StatusCode::kDataLoss));
  }
  const std::string sample = SampleKey(kReporter, 7);
  for (const std::string& key : {std::string(), std::string("s"), sample + "x", sample.substr(1),
                                 sample.substr(0, sample.size() - 1), EventKey(kReporter, 7, "")}) {
    EXPECT_THAT(ReporterOfSampleKey(key), StatusIs(absl::StatusCode::kDataLoss));
  }
}

}  // namespace
}  // namespace packtrain::runs
