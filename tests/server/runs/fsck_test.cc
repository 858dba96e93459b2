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

std::vector<v1::FsckFinding> Check(const rocks::Database& database, std::uint64_t runs) {
  std::vector<v1::FsckFinding> findings;
  const auto take = [&findings](const v1::FsckResponse& event) {
    if (event.has_finding()) findings.push_back(event.finding());
    return absl::OkStatus();
  };
  rocks::CheckReport report(take);
  EXPECT_THAT(Fsck(database, report), IsOk());
  EXPECT_EQ(report.summary().runs(), runs);
  EXPECT_EQ(report.summary().findings(), findings.size());
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
    EXPECT_THAT(Check(store->database(), 2), IsEmpty());
  }
  {
    const auto database = *OpenRunDatabase(directory, {});
    ASSERT_THAT(database->Write({{Family::kSteps, StepBlockKey(damaged, 0), "\xff"},
                                 {Family::kRuns, EvaluationKey(damaged.run, v1::Evaluation()), "\xff"},
                                 {Family::kSamples, CorruptGraphsKey(damaged.run, {}), "\xff"}},
                                rocks::Durability::kDisk),
                IsOk());
  }
  const auto store = *RocksRunStore::Open(directory, {});
  const std::vector<v1::FsckFinding> findings = Check(store->database(), 2);
  ASSERT_THAT(findings, SizeIs(3));
  for (const v1::FsckFinding& finding : findings) {
    EXPECT_EQ(finding.kind(), v1::FSCK_KIND_RUN);
    EXPECT_EQ(finding.run(), damaged.run);
  }
  EXPECT_THAT(findings[0].message(), HasSubstr("steps: "));
  EXPECT_THAT(findings[1].message(), HasSubstr("evaluations: "));
  EXPECT_THAT(findings[2].message(), HasSubstr("corrupt graphs: "));
}

TEST(RunFsckTest, EachDamagedRowCounts) {
  const TempFolder folder;
  Reporter run;
  {
    const auto store = *RocksRunStore::Open(folder.PathOf("runs"), {});
    run = StartRun(*store, StartRequest("the only one"));
  }
  const auto database = *OpenRunDatabase(folder.PathOf("runs"), {});
  ASSERT_THAT(database->Write({{Family::kSteps, StepBlockKey(run, 0), "\xff"},
                               {Family::kSteps, StepBlockKey(run, 9), "\xff"},
                               {Family::kSteps, StepBlockKey(run, 20), "\xff"}},
                              rocks::Durability::kProcess),
              IsOk());
  const std::vector<v1::FsckFinding> findings = Check(*database, 1);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].message(), HasSubstr("and 2 more like it"));
}

TEST(RunFsckTest, RowsOfARunThatIsNotThereAreNamed) {
  const TempFolder folder;
  const auto database = *OpenRunDatabase(folder.PathOf("runs"), {});
  const Reporter steps{"gone-1", 0, 0}, samples{"gone-2", 0, 0};
  ASSERT_THAT(database->Write({{Family::kSteps, StepBlockKey(steps, 0), ""},
                               {Family::kSteps, StepBlockKey(steps, 5), ""},
                               {Family::kSamples, SampleKey(samples, 7), ""},
                               {Family::kRuns, IdempotencyKey("key"), "gone-3"},
                               {Family::kRuns, ProgressKey("gone-4"), ""}},
                              rocks::Durability::kProcess),
              IsOk());
  const std::vector<v1::FsckFinding> findings = Check(*database, 0);
  ASSERT_THAT(findings, SizeIs(4));
  for (std::size_t k = 0; k < findings.size(); ++k) {
    EXPECT_EQ(findings[k].kind(), v1::FSCK_KIND_RUN);
    EXPECT_EQ(findings[k].run(), "gone-" + std::to_string(k + 1));
    EXPECT_THAT(findings[k].message(), HasSubstr("no such run"));
  }
}

}  // namespace
}  // namespace packtrain::runs
