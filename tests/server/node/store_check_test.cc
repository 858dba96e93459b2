// The check of both stores, in use and while nobody has them open.
#include "server/node/store_check.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/server/runs/run_fixtures.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::node {
namespace {

namespace fs = std::filesystem;
using packtrain::testing::IsOk;
using packtrain::testing::ManyMolecules;
using packtrain::testing::StatusIs;
using storage::TemporaryFolder;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Checked {
  absl::Status status;
  v1::FsckSummary summary;
  std::vector<v1::FsckFinding> findings;
  std::vector<v1::FsckProgress> progress;
};

Checked RunCheck(const StoreCheck& check) {
  Checked checked;
  const auto take = [&checked](const v1::FsckResponse& event) {
    if (event.has_finding()) checked.findings.push_back(event.finding());
    if (event.has_progress()) checked.progress.push_back(event.progress());
    return absl::OkStatus();
  };
  rocks::CheckReport report(take);
  checked.status = check(report);
  checked.summary = report.summary();
  EXPECT_EQ(checked.summary.findings(), checked.findings.size());
  return checked;
}

Checked RunOnFolder(const fs::path& data) {
  return RunCheck([&data](rocks::CheckReport& report) { return CheckFolder(data, report); });
}

// Files that findings name.
std::set<std::string> FilesIn(const std::vector<v1::FsckFinding>& findings) {
  std::set<std::string> files;
  for (const v1::FsckFinding& finding : findings) {
    if (finding.kind() == v1::FSCK_KIND_FILE) files.insert(finding.file());
  }
  return files;
}

// "000012.sst" as ".sst", "MANIFEST-000004" as "MANIFEST", "CURRENT" as it is; empty for what is not covered.
std::string KindOf(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.starts_with("MANIFEST-")) return "MANIFEST";
  if (name == "CURRENT" || path.extension() == ".sst" || path.extension() == ".log") {
    return name == "CURRENT" ? name : path.extension().string();
  }
  return "";
}

void FlipBit(const fs::path& path, std::uint64_t byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(byte));
  const char flipped = static_cast<char>(file.peek() ^ 0x10);
  file.write(&flipped, 1);
}

class StoreCheckTest : public ::testing::Test {
 protected:
  // As a killed server leaves it: two data sets, and a run of which some steps lie in sorted files, others in
  // the log.
  void SetUp() override {
    const TemporaryFolder running;
    OpenStores(running.path());
    ASSERT_THAT(
        storage::Import(*graphs_, ManyMolecules(200), storage::SealWithFractions("a", 800, 100, 100, 3)),
        IsOk());
    ASSERT_THAT(storage::Import(*graphs_, ManyMolecules(50), storage::SealAs("b")), IsOk());
    const runs::Reporter reporter = runs::StartRun(*runs_, runs::StartRequest("the only one"));
    ASSERT_THAT(runs_->AddSteps(reporter, runs::Steps(0, 99)), IsOk());
    CloseStores();
    OpenStores(running.path());
    ASSERT_THAT(runs_->AddSteps(reporter, runs::Steps(100, 199)), IsOk());
    fs::copy(running.path(), data(), fs::copy_options::recursive);
    CloseStores();
  }

  void OpenStores() { OpenStores(data()); }
  void OpenStores(const fs::path& folder) {
    graphs_ = *storage::RocksGraphStore::Open(folder / kGraphsFolder, {});
    runs_ = *runs::RocksRunStore::Open((folder / kRunsFolder).string(), {});
  }
  void CloseStores() {
    graphs_.reset();
    runs_.reset();
  }
  const fs::path& data() const { return folder_.path(); }

  const TemporaryFolder folder_;
  std::unique_ptr<storage::RocksGraphStore> graphs_;
  std::unique_ptr<runs::RocksRunStore> runs_;
};

TEST_F(StoreCheckTest, WholeStoresHaveNoFindingInUseOrNot) {
  const Checked closed = RunOnFolder(data());
  EXPECT_THAT(closed.status, IsOk());
  EXPECT_THAT(closed.findings, IsEmpty());
  EXPECT_EQ(closed.summary.graphs(), 250);
  EXPECT_EQ(closed.summary.runs(), 1);
  EXPECT_GT(closed.summary.files(), 6);
  EXPECT_EQ(closed.summary.unused(), 0);
  OpenStores();
  const Checked open = RunCheck(CheckOf(*graphs_, *runs_));
  EXPECT_THAT(open.status, IsOk());
  EXPECT_THAT(open.findings, IsEmpty());
  EXPECT_EQ(open.summary.graphs(), 250);
  EXPECT_GT(open.summary.files(), 6);
}

TEST_F(StoreCheckTest, ProgressGrowsTowardsItsTotal) {
  const Checked checked = RunOnFolder(data());
  ASSERT_THAT(checked.progress, Not(IsEmpty()));
  std::uint64_t before = 0;
  for (const v1::FsckProgress& progress : checked.progress) {
    EXPECT_GE(progress.read_bytes(), before);
    EXPECT_GT(progress.total_bytes(), 0);
    before = progress.read_bytes();
  }
  EXPECT_GT(checked.progress.back().read_bytes(), 0);
  EXPECT_GE(checked.summary.bytes(), checked.progress.back().read_bytes());
}

TEST_F(StoreCheckTest, AStoreInUseIsRefusedByTheCheckOfAFolder) {
  OpenStores();
  const Checked checked = RunOnFolder(data());
  EXPECT_THAT(checked.status,
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(std::to_string(getpid()))));
}

TEST_F(StoreCheckTest, AFolderWithoutStoresIsNotFoundAndStaysEmpty) {
  const TemporaryFolder empty;
  EXPECT_THAT(RunOnFolder(empty.path()).status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(fs::is_empty(empty.path()));
}

TEST_F(StoreCheckTest, AStoreThatIsAwayIsNamed) {
  fs::remove_all(data() / kRunsFolder);
  const Checked checked = RunOnFolder(data());
  ASSERT_EQ(checked.findings.size(), 1);
  EXPECT_EQ(checked.findings[0].kind(), v1::FSCK_KIND_STORE);
  EXPECT_EQ(checked.findings[0].file(), (data() / kRunsFolder).string());
}

// In each file of each kind, wherever the bit is, and though the damage may keep the store from being served.
TEST_F(StoreCheckTest, AFlippedBitIsFoundInTheFileThatHasIt) {
  std::set<std::string> kinds;
  for (const auto& entry : fs::recursive_directory_iterator(data())) {
    const std::string kind = KindOf(entry.path());
    if (kind.empty() || entry.file_size() == 0) continue;
    for (const std::uint64_t byte : {std::uint64_t{0}, entry.file_size() / 2, entry.file_size() - 1}) {
      SCOPED_TRACE(entry.path().string() + ", byte " + std::to_string(byte));
      FlipBit(entry.path(), byte);
      const Checked checked = RunOnFolder(data());
      EXPECT_THAT(checked.status, IsOk());
      EXPECT_THAT(FilesIn(checked.findings), Contains(entry.path().string()));
      FlipBit(entry.path(), byte);
    }
    kinds.insert(kind);
  }
  EXPECT_EQ(kinds, (std::set<std::string>{".log", ".sst", "CURRENT", "MANIFEST"}));
  EXPECT_THAT(RunOnFolder(data()).findings, IsEmpty());
}

TEST_F(StoreCheckTest, DamageOfOneFileHidesNoGraphsOfOthers) {
  fs::path largest;
  for (const auto& entry : fs::directory_iterator(data() / kGraphsFolder / "db")) {
    if (entry.path().extension() != ".sst") continue;
    if (largest.empty() || entry.file_size() > fs::file_size(largest)) largest = entry.path();
  }
  FlipBit(largest, fs::file_size(largest) - 1);  // the file can't be opened any more
  const Checked checked = RunOnFolder(data());
  EXPECT_THAT(FilesIn(checked.findings), Contains(largest.string()));
  EXPECT_GE(checked.summary.graphs(), 50);
  EXPECT_EQ(checked.summary.runs(), 1);
}

TEST_F(StoreCheckTest, AFlippedBitIsFoundWhileTheStoreIsInUse) {
  OpenStores();
  std::set<std::string> kinds;
  for (const auto& entry : fs::recursive_directory_iterator(data())) {
    const std::string kind = KindOf(entry.path());
    if (kind.empty() || entry.file_size() == 0) continue;
    FlipBit(entry.path(), entry.file_size() / 2);
    EXPECT_THAT(FilesIn(RunCheck(CheckOf(*graphs_, *runs_)).findings), Contains(entry.path().string()));
    FlipBit(entry.path(), entry.file_size() / 2);
    kinds.insert(kind);
  }
  EXPECT_THAT(kinds, Contains("MANIFEST"));
  EXPECT_THAT(kinds, Contains(".sst"));
}

TEST_F(StoreCheckTest, NothingIsChangedByACheck) {
  const auto list = [this] {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(data())) {
      files.insert(entry.path().string() + " " + std::to_string(entry.is_directory() ? 0 : entry.file_size()));
    }
    return files;
  };
  const std::set<std::string> before = list();
  EXPECT_THAT(RunOnFolder(data()).status, IsOk());
  EXPECT_EQ(list(), before);
}

}  // namespace
}  // namespace packtrain::node
