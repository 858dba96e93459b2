#include "server/runs/fsck.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "server/runs/run_keys.h"
#include "tests/server/runs/run_fixtures.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::runs {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::TempFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<v1::FsckFinding> Check(const RunStore& store, std::uint64_t runs) {
  v1::FsckSummary summary;
  std::vector<v1::FsckFinding> findings;
  EXPECT_THAT(Fsck(store, summary,
                   [&findings](const v1::FsckResponse& event) {
                     if (event.has_finding()) findings.push_back(event.finding());
                     return absl::OkStatus();
                   }),
              IsOk());
  EXPECT_EQ(summary.runs(), runs);
  EXPECT_EQ(summary.findings(), findings.size());
  return findings;
}

TEST(RunFsckTest, RowsThatDoNotDecodeAreNamedByRunAndSort) {
  const TempFolder folder;
  const std::string directory = folder.PathOf("runs");
  Reporter damaged, whole;
  {
    const auto store = *RocksRunStore::Open(directory, {});
    damaged = StartRun(*store, StartRequest("damaged one"));
    whole = StartRun(*store, StartRequest("whole one"));
    for (const Reporter& reporter : {damaged, whole})
      ASSERT_THAT(store->AddSteps(reporter, Steps(0, 9)), IsOk());
    EXPECT_THAT(Check(*store, 2), IsEmpty());
  }
  {
    const auto database = *RunDatabase::Open(directory, {});
    ASSERT_THAT(database->Write({{Family::kSteps, StepBlockKey(damaged, 0), "\xff"},
                                 {Family::kRuns, EvaluationKey(damaged.run, 5, "val"), "\xff"}},
                                Durability::kDisk),
                IsOk());
  }
  const auto store = *RocksRunStore::Open(directory, {});
  const std::vector<v1::FsckFinding> findings = Check(*store, 2);
  ASSERT_THAT(findings, SizeIs(2));
  for (const v1::FsckFinding& finding : findings) {
    EXPECT_EQ(finding.kind(), v1::FSCK_KIND_RUN);
    EXPECT_EQ(finding.run(), damaged.run);
  }
  EXPECT_THAT(findings[0].message(), HasSubstr("steps: "));
  EXPECT_THAT(findings[1].message(), HasSubstr("evaluations: "));
}

}  // namespace
}  // namespace packtrain::runs
