// What remains of an import that broke off where files of it are damaged or cut off.
#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "proto/base/error_details.h"
#include "server/storage/import_session.h"
#include "tests/server/storage/kept_imports_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

namespace fs = std::filesystem;

using ::packtrain::testing::StatusIs;
using ::testing::IsEmpty;

void FlipBit(const fs::path& file, std::uint64_t at) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(at));
  const char byte = static_cast<char>(stream.get() ^ 1);
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(byte);
}

TEST_F(KeptImportsTest, APieceThatWasCutOffIsSentAgainWithAllBehindIt) {
  BreakOff(*OpenStore(), 500);
  const fs::path torn = KeptFolder() / "graphs-2.sst";
  ASSERT_TRUE(fs::exists(torn));
  fs::resize_file(torn, fs::file_size(torn) - 1);
  const auto store = OpenStore();
  const std::uint64_t kept = KeptIn(*store);
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, 500);
  EXPECT_FALSE(fs::exists(torn));
  EXPECT_EQ(GoOn(*store, kept), VersionOfWhole());
}

TEST_F(KeptImportsTest, APieceThatIsNotAsItWasWrittenIsSentAgainWithAllBehindIt) {
  const auto store = OpenStore();
  BreakOff(*store, 500);
  FlipBit(KeptFolder() / "graphs-2.sst", 3000);
  const auto refused = ImportSession::Begin(*store, Header(500));
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(base::ReasonOf(refused.status()), "KEPT_IMPORT_CHANGED");
  const std::uint64_t kept = KeptIn(*store);
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, 500);
  EXPECT_EQ(base::MetadataOf(refused.status(), "graphs"), std::to_string(kept));
  EXPECT_EQ(GoOn(*store, kept), VersionOfWhole());
}

TEST_F(KeptImportsTest, AnImportWhoseFirstPieceIsDamagedIsDropped) {
  const auto store = OpenStore();
  BreakOff(*store, 500);
  FlipBit(KeptFolder() / "graphs-0.sst", 3000);
  EXPECT_THAT(ImportSession::Begin(*store, Header(500)), StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(KeptIn(*store), 0);
  EXPECT_THAT(EntriesOf(staging()), IsEmpty());
}

TEST_F(KeptImportsTest, AJournalCountsUpToItsLastWholeRecord) {
  BreakOff(*OpenStore(), 500);
  const fs::path journal = KeptFolder() / "JOURNAL";
  fs::resize_file(journal, fs::file_size(journal) - 1);
  std::uint64_t kept = 0;
  {
    const auto store = OpenStore();
    kept = KeptIn(*store);
    EXPECT_GT(kept, 0);
    EXPECT_LT(kept, 500);
    BreakOff(*store, 800, Header(kept));  // behind what was cut off, which is gone
  }
  const auto store = OpenStore();
  EXPECT_EQ(KeptIn(*store), 800);
  EXPECT_EQ(GoOn(*store, 800), VersionOfWhole());
}

TEST_F(KeptImportsTest, AFolderWithoutAJournalIsRemoved) {
  BreakOff(*OpenStore(), 500);
  fs::resize_file(KeptFolder() / "JOURNAL", 30);
  EXPECT_EQ(KeptIn(*OpenStore()), 0);
  EXPECT_THAT(EntriesOf(staging()), IsEmpty());
}

}  // namespace
}  // namespace packtrain::storage
