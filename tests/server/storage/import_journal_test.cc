#include "server/storage/import_journal.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/server/storage/kept_imports_testing.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

namespace fs = std::filesystem;

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::SizeIs;

TEST(ImportJournalTest, ItIsReadAsItWasWritten) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "JOURNAL";
  ImportBeginning beginning = {.storage_id = 7, .header_digest = HeaderDigest(Header()), .identity = {}};
  beginning.identity.set_name("molecules");
  ImportPiece piece = {.file_bytes = 4096, .written_at_ms = 1234, .progress = {}};
  piece.progress.set_received(10);
  piece.progress.set_staged(9);
  piece.progress.add_refused()->set_reason("no_nodes");
  std::ofstream(file, std::ios::binary)
      << EncodeBeginning(beginning) << EncodePiece(piece) << EncodePiece(piece);
  const auto journal = ReadJournal(file);
  ASSERT_THAT(journal, IsOk());
  EXPECT_EQ(journal->beginning.storage_id, 7);
  EXPECT_EQ(journal->beginning.header_digest, beginning.header_digest);
  EXPECT_EQ(journal->beginning.identity.name(), "molecules");
  ASSERT_THAT(journal->pieces, SizeIs(2));
  EXPECT_EQ(journal->pieces[1].file_bytes, 4096);
  EXPECT_EQ(journal->pieces[1].written_at_ms, 1234);
  EXPECT_EQ(journal->pieces[1].progress.SerializeAsString(), piece.progress.SerializeAsString());
  ASSERT_THAT(journal->ends, SizeIs(3));
  EXPECT_EQ(journal->ends.back(), fs::file_size(file));
  EXPECT_THAT(ReadJournal(file, 1)->pieces, SizeIs(1));
}

TEST(ImportJournalTest, CutOffAnywhereItHasNoRecordThatIsNotWhole) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "JOURNAL";
  const std::string begin =
      EncodeBeginning({.storage_id = 7, .header_digest = std::string(64, 'a'), .identity = {}});
  const std::string record = EncodePiece({.file_bytes = 4096, .written_at_ms = 1234, .progress = {}});
  const std::string whole = begin + record + record;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, size);
    const auto journal = ReadJournal(file);
    EXPECT_EQ(journal.ok(), size >= begin.size()) << size;
    if (!journal.ok()) continue;
    EXPECT_EQ(journal->pieces.size(), (size - begin.size()) / record.size()) << size;
  }
  EXPECT_THAT(ReadJournal(folder.path()), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(ReadJournal(folder.path() / "none"), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace packtrain::storage
