// What a store keeps of an import that broke off, and that it goes on as if it had never done so.
#include "server/storage/kept_imports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/error_details.h"
#include "server/storage/import_journal.h"
#include "server/storage/import_session.h"
#include "server/storage/rocks_graph_store.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

namespace fs = std::filesystem;

using ::packtrain::testing::BlockOf;
using ::packtrain::testing::Eventually;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t kGraphs = 1000;
constexpr std::uint32_t kGraphsOfBlock = 100;
constexpr std::chrono::hours kDay{24};

v1::ImportHeader Header(std::uint64_t continue_at = 0, const std::string& digest = "d1") {
  v1::ImportHeader header;
  *header.mutable_schema() = MoleculeSchema();
  header.set_on_error(v1::ERROR_POLICY_SKIP);
  header.mutable_identity()->set_name("molecules");
  header.mutable_identity()->set_digest(digest);
  header.set_continue_at(continue_at);
  return header;
}

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  return entries;
}

void FlipBit(const fs::path& file, std::uint64_t at) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(at));
  const char byte = static_cast<char>(stream.get() ^ 1);
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(byte);
}

class KeptImportsTest : public ::testing::Test {
 protected:
  std::unique_ptr<RocksGraphStore> OpenStore(std::chrono::milliseconds keep = kDay) {
    return OpenStoreIn(folder_.path(), keep);
  }

  // Its pieces end about with each block.
  std::unique_ptr<RocksGraphStore> OpenStoreIn(const fs::path& folder, std::chrono::milliseconds keep = kDay) {
    RocksGraphStoreOptions options;
    options.kept = {.keep = keep, .min_piece_bytes = 4 << 10, .now_ms = [this] { return now_ms_.load(); }};
    auto store = RocksGraphStore::Open(folder, options);
    EXPECT_THAT(store, IsOk());
    return *std::move(store);
  }

  std::unique_ptr<ImportSession> Begin(GraphStore& store, const v1::ImportHeader& header) {
    auto session = ImportSession::Begin(store, header);
    EXPECT_THAT(session, IsOk());
    return *std::move(session);
  }

  // Adds the molecules of `all` from `begin` to `end` in blocks, each followed by a checkpoint.
  static void Add(ImportSession& session, const std::vector<Molecule>& all, std::size_t begin,
                  std::size_t end) {
    for (; begin < end; begin += kGraphsOfBlock) {
      const std::size_t count = std::min<std::size_t>(kGraphsOfBlock, end - begin);
      ASSERT_THAT(session.Add(BlockOf(std::span(all).subspan(begin, count))), IsOk());
      ASSERT_THAT(session.Checkpoint(/*all=*/false), IsOk());
    }
  }

  // An import that breaks off behind `graphs` graphs.
  void BreakOff(GraphStore& store, std::uint64_t graphs, const v1::ImportHeader& header = Header()) {
    const auto session = Begin(store, header);
    Add(*session, molecules_, header.continue_at(), graphs);
    EXPECT_THAT(session->Checkpoint(/*all=*/true), IsOk());
  }

  // Goes on with what is kept, to the end; the version.
  std::string GoOn(RocksGraphStore& store, std::uint64_t kept, const v1::ImportHeader& header) {
    const auto session = Begin(store, header);
    EXPECT_EQ(session->response().received(), kept);
    Add(*session, molecules_, kept, molecules_.size());
    EXPECT_EQ(session->response().received(), molecules_.size());
    const auto sealed = session->TakeWriter()->Seal(SealAs("molecules"));
    EXPECT_THAT(sealed, IsOk());
    return sealed->dataset.version();
  }
  std::string GoOn(RocksGraphStore& store, std::uint64_t kept) { return GoOn(store, kept, Header(kept)); }

  std::string VersionOfWhole() {
    const TemporaryFolder folder;
    return Import(*OpenStoreIn(folder.path()), molecules_, SealAs("molecules"))->dataset.version();
  }

  static std::uint64_t KeptIn(const GraphStore& store, const std::string& digest = "d1") {
    return store.FindKept(Header(0, digest))->graphs();
  }

  // The folder of the one import that is kept.
  fs::path KeptFolder() const {
    const std::vector<fs::path> entries = EntriesOf(staging());
    EXPECT_THAT(entries, SizeIs(1));
    return entries.front();
  }
  fs::path staging() const { return folder_.path() / "staging"; }

  const TemporaryFolder folder_;
  const std::vector<Molecule> molecules_ = ManyMolecules(kGraphs);
  std::atomic<std::int64_t> now_ms_ = 1'700'000'000'000;
};

TEST_F(KeptImportsTest, WhatBrokeOffGoesOnAndGivesTheVersionOfAWholeImport) {
  const auto store = OpenStore();
  BreakOff(*store, 450);
  EXPECT_EQ(KeptIn(*store), 450);
  EXPECT_EQ(store->kept_imports().imports, 1);
  EXPECT_GT(store->kept_imports().bytes, 450 * 100);
  EXPECT_THAT(store->Open("molecules"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(GoOn(*store, 450), VersionOfWhole());
  EXPECT_EQ(store->kept_imports().imports, 0);
  EXPECT_EQ(store->kept_imports().bytes, 0);
  EXPECT_THAT(EntriesOf(staging()), IsEmpty());
  const auto dataset = store->Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  EXPECT_THAT(Read(**dataset, {0, 449, 450, 999}), IsOk());
}

TEST_F(KeptImportsTest, ItGoesOnAfterARestartAndMoreThanOnce) {
  BreakOff(*OpenStore(), 300);
  {
    const auto store = OpenStore();
    EXPECT_EQ(KeptIn(*store), 300);
    BreakOff(*store, 700, Header(300));
    EXPECT_EQ(KeptIn(*store), 700);
  }
  const auto store = OpenStore();
  EXPECT_EQ(KeptIn(*store), 700);
  EXPECT_EQ(GoOn(*store, 700), VersionOfWhole());
}

TEST_F(KeptImportsTest, OneThatWasStagedToItsEndGoesOnWithItsSeal) {
  BreakOff(*OpenStore(), kGraphs);
  const auto store = OpenStore();
  EXPECT_EQ(GoOn(*store, kGraphs), VersionOfWhole());
}

// What a kill leaves: the folder as it is while the import goes on.
TEST_F(KeptImportsTest, AKilledServerKeepsTheFinishedPieces) {
  const TemporaryFolder left;
  {
    const auto store = OpenStore();
    const auto session = Begin(*store, Header());
    Add(*session, molecules_, 0, 450);
    ASSERT_THAT(session->Add(BlockOf(std::span(molecules_).subspan(450, 10))), IsOk());
    fs::copy(folder_.path(), left.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  const auto store = OpenStoreIn(left.path());
  const std::uint64_t kept = KeptIn(*store);
  EXPECT_GE(kept, 300);
  EXPECT_LE(kept, 450);
  EXPECT_EQ(kept % 50, 0);  // at the end of a block
  EXPECT_EQ(GoOn(*store, kept), VersionOfWhole());
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

TEST_F(KeptImportsTest, ItIsDroppedOnceItIsTooOld) {
  {
    const auto store = OpenStore();
    BreakOff(*store, 500);
    now_ms_ += std::chrono::milliseconds(kDay).count() - 1;
  }
  {
    const auto store = OpenStore();
    EXPECT_EQ(KeptIn(*store), 500);
    now_ms_ += 1;
  }
  const auto store = OpenStore();
  EXPECT_EQ(KeptIn(*store), 0);
  EXPECT_THAT(EntriesOf(staging()), IsEmpty());
}

TEST_F(KeptImportsTest, WhatHasBecomeTooOldIsDroppedWithoutBeingAsked) {
  const auto store = OpenStore(std::chrono::milliseconds(5));
  BreakOff(*store, 500);
  now_ms_ += 5;
  EXPECT_TRUE(Eventually([this] { return EntriesOf(staging()).empty(); }));
  EXPECT_EQ(store->kept_imports().imports, 0);
}

TEST_F(KeptImportsTest, AServerThatKeepsNothingDropsWhatItFinds) {
  BreakOff(*OpenStore(), 500);
  const auto store = OpenStore(std::chrono::milliseconds(0));
  EXPECT_THAT(EntriesOf(staging()), IsEmpty());
  BreakOff(*store, 500);
  EXPECT_EQ(KeptIn(*store), 0);
  EXPECT_THAT(EntriesOf(staging()), IsEmpty());
  EXPECT_THAT(ImportSession::Begin(*store, Header(500)), StatusIs(absl::StatusCode::kAborted));
}

TEST_F(KeptImportsTest, AnImportThatBeginsAnewDropsWhatIsKept) {
  const auto store = OpenStore();
  BreakOff(*store, 500);
  const auto anew = Begin(*store, Header());
  EXPECT_EQ(KeptIn(*store), 0);
  EXPECT_EQ(anew->response().received(), 0);
}

TEST_F(KeptImportsTest, OfTwoUnderWayTheOneThatBeganLastIsKept) {
  const auto store = OpenStore();
  auto first = Begin(*store, Header()), second = Begin(*store, Header());
  Add(*first, molecules_, 0, 600);
  Add(*second, molecules_, 0, 200);
  ASSERT_THAT(first->Checkpoint(true), IsOk());
  ASSERT_THAT(second->Checkpoint(true), IsOk());
  second.reset();
  EXPECT_EQ(KeptIn(*store), 200);
  first.reset();
  EXPECT_EQ(KeptIn(*store), 200);
  EXPECT_THAT(EntriesOf(staging()), SizeIs(1));
}

TEST_F(KeptImportsTest, OnceOneIsSealedNothingOfItsIdentityIsKept) {
  const auto store = OpenStore();
  auto other = Begin(*store, Header());
  Add(*other, molecules_, 0, 200);
  ASSERT_THAT(other->Checkpoint(true), IsOk());
  BreakOff(*store, 500);
  GoOn(*store, 500);
  other.reset();
  EXPECT_THAT(EntriesOf(staging()), IsEmpty());
}

TEST_F(KeptImportsTest, AContentThatWasThereAlreadyLeavesNothing) {
  const auto store = OpenStore();
  GoOn(*store, 0);
  BreakOff(*store, 500);
  GoOn(*store, 500);
  EXPECT_THAT(EntriesOf(staging()), IsEmpty());
  EXPECT_THAT(*store->List(), SizeIs(1));
}

TEST_F(KeptImportsTest, WhatIsToBeDroppedIsNotKept) {
  const auto store = OpenStore();
  {
    const auto session = Begin(*store, Header());
    Add(*session, molecules_, 0, 500);
    session->DropAtEnd();
  }
  EXPECT_EQ(KeptIn(*store), 0);
  EXPECT_THAT(EntriesOf(staging()), IsEmpty());
}

TEST_F(KeptImportsTest, ABlockThatFailedIsInNoPiece) {
  const auto store = OpenStore();
  {
    v1::ImportHeader header = Header();
    header.set_on_error(v1::ERROR_POLICY_STOP);
    const auto session = Begin(*store, header);
    Add(*session, molecules_, 0, 300);
    v1::GraphBlock block = BlockOf(std::span(molecules_).subspan(300, 10));
    block.set_source_ids(5, molecules_[0].id);
    ASSERT_THAT(session->Add(block), StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(session->Checkpoint(true), IsOk());
  }
  v1::ImportHeader header = Header();
  header.set_on_error(v1::ERROR_POLICY_STOP);
  const std::uint64_t kept = store->FindKept(header)->graphs();
  EXPECT_GE(kept, 200);
  EXPECT_LE(kept, 300);
}

TEST_F(KeptImportsTest, ItGoesOnOnlyUnderItsOwnHeaderAndAtItsOwnPlace) {
  const auto store = OpenStore();
  BreakOff(*store, 500);
  v1::ImportHeader other = Header();
  other.set_missing_target(v1::MISSING_TARGET_POLICY_NAN);
  EXPECT_EQ(store->FindKept(other)->graphs(), 0);
  EXPECT_TRUE(store->FindKept(other)->other_header());
  other.set_continue_at(500);
  EXPECT_THAT(ImportSession::Begin(*store, other), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(ImportSession::Begin(*store, Header(400)),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("500")));
  EXPECT_THAT(ImportSession::Begin(*store, Header(500, "d2")), StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(KeptIn(*store), 500);
}

TEST_F(KeptImportsTest, OthersOfTheNameAreToldTheLatestFirst) {
  const auto store = OpenStore();
  for (const char* digest : {"d2", "d3"}) {
    v1::ImportHeader header = Header(0, digest);
    v1::ImportSetting& setting = *header.mutable_identity()->add_settings();
    setting.set_name("--edges");
    setting.set_value(digest);
    now_ms_ += 1000;
    BreakOff(*store, 200, header);
  }
  v1::ImportHeader elsewhere = Header();
  elsewhere.mutable_identity()->set_name("elsewhere");
  BreakOff(*store, 200, elsewhere);
  const auto kept = store->FindKept(Header());
  EXPECT_EQ(kept->graphs(), 0);
  EXPECT_FALSE(kept->other_header());
  ASSERT_THAT(kept->others(), SizeIs(2));
  EXPECT_EQ(kept->others(0).identity().digest(), "d3");
  EXPECT_EQ(kept->others(0).identity().settings(0).value(), "d3");
  EXPECT_EQ(kept->others(0).graphs(), 200);
  EXPECT_EQ(kept->others(0).written_at_ms(), now_ms_);
  EXPECT_EQ(kept->others(1).identity().digest(), "d2");
}

TEST_F(KeptImportsTest, RefusedGraphsAndCountsAreThoseOfTheWholeInput) {
  std::vector<Molecule> molecules = molecules_;
  for (const std::size_t bad : {5, 150, 420, 640, 999}) molecules[bad].id = molecules[0].id;
  molecules[333].z.clear();
  molecules[333].pos.clear();
  const auto store = OpenStore();
  const auto whole = Begin(*store, Header(0, "aa"));
  Add(*whole, molecules, 0, kGraphs);
  {
    const auto session = Begin(*store, Header());
    Add(*session, molecules, 0, 450);
    ASSERT_THAT(session->Checkpoint(true), IsOk());
  }
  const auto session = Begin(*store, Header(450));
  Add(*session, molecules, 450, kGraphs);
  const v1::ImportGraphsResponse &expected = whole->response(), &response = session->response();
  EXPECT_EQ(response.received(), kGraphs);
  EXPECT_EQ(response.staged(), expected.staged());
  ASSERT_EQ(response.refused_size(), 6);
  for (int k = 0; k < 6; ++k) {
    EXPECT_EQ(response.refused(k).SerializeAsString(), expected.refused(k).SerializeAsString()) << k;
  }
  EXPECT_EQ(response.refused_by_reason().at("duplicate_id"), 5);
  EXPECT_EQ(response.refused_by_reason().at("no_nodes"), 1);
  EXPECT_EQ(session->TakeWriter()->Seal(SealAs("a"))->dataset.version(),
            whole->TakeWriter()->Seal(SealAs("b"))->dataset.version());
}

TEST_F(KeptImportsTest, AListOfRefusedGraphsHasItsLimitOverBothHalves) {
  std::vector<Molecule> molecules = molecules_;
  for (Molecule& molecule : molecules) molecule.id = "same";
  const auto store = OpenStore();
  constexpr std::uint64_t kLimit = 20'000;
  const auto begin = [&](const v1::ImportHeader& header) {
    return *ImportSession::Begin(*store, header, kLimit);
  };
  const auto whole = begin(Header(0, "aa"));
  Add(*whole, molecules, 0, kGraphs);
  ASSERT_TRUE(whole->response().refused_truncated());
  ASSERT_GT(whole->response().refused_size(), 100);
  {
    const auto session = begin(Header());
    Add(*session, molecules, 0, 100);
    ASSERT_THAT(session->Checkpoint(true), IsOk());
  }
  const auto session = begin(Header(100));
  Add(*session, molecules, 100, kGraphs);
  EXPECT_EQ(session->response().refused_size(), whole->response().refused_size());
  EXPECT_TRUE(session->response().refused_truncated());
}

TEST_F(KeptImportsTest, RepeatedIdsAreNumberedAsInAWholeImport) {
  std::vector<Molecule> molecules = molecules_;
  for (Molecule& molecule : molecules) molecule.id = "same";
  const auto store = OpenStore();
  const auto header = [](std::uint64_t continue_at, const char* digest) {
    v1::ImportHeader numbered = Header(continue_at, digest);
    numbered.set_duplicate_ids(v1::DUPLICATE_POLICY_NUMBER);
    return numbered;
  };
  const auto whole = Begin(*store, header(0, "aa"));
  Add(*whole, molecules, 0, kGraphs);
  {
    const auto session = Begin(*store, header(0, "d1"));
    Add(*session, molecules, 0, 450);
    ASSERT_THAT(session->Checkpoint(true), IsOk());
  }
  const auto session = Begin(*store, header(450, "d1"));
  Add(*session, molecules, 450, kGraphs);
  EXPECT_EQ(session->TakeWriter()->Seal(SealAs("a"))->dataset.version(),
            whole->TakeWriter()->Seal(SealAs("b"))->dataset.version());
}

TEST_F(KeptImportsTest, ItsMemoryIsAskedForWhileItIsReadAndWithinTheBounds) {
  const std::vector<Molecule> molecules = ManyMolecules(20'000);
  const auto store = OpenStore();
  {
    const auto session = Begin(*store, Header());
    Add(*session, molecules, 0, molecules.size());
    ASSERT_THAT(session->Checkpoint(true), IsOk());
  }
  std::vector<std::uint64_t> asked;
  const auto session = ImportSession::Begin(*store, Header(20'000), kMaxRefusedBytes, [&](std::uint64_t bytes) {
    asked.push_back(bytes);
    return absl::OkStatus();
  });
  ASSERT_THAT(session, IsOk());
  EXPECT_GE(asked.size(), 19);
  EXPECT_TRUE(std::ranges::is_sorted(asked));
  // 48 bytes a graph and 8 a target, beside what does not grow with them.
  EXPECT_LE((*session)->memory_bytes(), 20'000 * (48 + 8) + (64 << 10));
}

TEST_F(KeptImportsTest, WhereThereIsNoMemoryForItItStaysKept) {
  const std::vector<Molecule> molecules = ManyMolecules(5'000);
  const auto store = OpenStore();
  {
    const auto session = Begin(*store, Header());
    Add(*session, molecules, 0, molecules.size());
    ASSERT_THAT(session->Checkpoint(true), IsOk());
  }
  const auto refused = ImportSession::Begin(*store, Header(5'000), kMaxRefusedBytes, [](std::uint64_t) {
    return absl::ResourceExhaustedError("no memory");
  });
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(KeptIn(*store), 5'000);
  EXPECT_THAT(ImportSession::Begin(*store, Header(5'000)), IsOk());
}

TEST_F(KeptImportsTest, NoOtherDataSetGetsTheStorageIdOfWhatIsKept) {
  BreakOff(*OpenStore(), 500);
  const auto store = OpenStore();
  ASSERT_THAT(Import(*store, ManyMolecules(77), SealAs("other")), IsOk());
  EXPECT_EQ(GoOn(*store, 500), VersionOfWhole());
  EXPECT_THAT(Read(**store->Open("other"), {0, 76}), IsOk());
}

TEST_F(KeptImportsTest, WhatTheDatabaseHasTakenInIsNotKept) {
  BreakOff(*OpenStore(), 500);
  const auto id = std::stoull(KeptFolder().filename().string());
  const TemporaryFolder other;
  const auto kept = KeptImports::Open(staging(), {id}, {.keep = kDay});
  ASSERT_THAT(kept, IsOk());
  EXPECT_EQ((*kept)->use().imports, 0);
  EXPECT_THAT(EntriesOf(staging()), IsEmpty());
}

TEST_F(KeptImportsTest, BeyondALimitTheOldestIsDropped) {
  const auto store = OpenStore();
  for (int k = 0; k < 257; ++k) {
    now_ms_ += 1;
    const std::string digest = "a" + std::to_string(k);
    const auto session = Begin(*store, Header(0, digest));
    ASSERT_THAT(session->Add(BlockOf(std::span(molecules_).first(3))), IsOk());
    ASSERT_THAT(session->Checkpoint(true), IsOk());
  }
  EXPECT_EQ(store->kept_imports().imports, 256);
  EXPECT_EQ(KeptIn(*store, "a0"), 0);
  EXPECT_EQ(KeptIn(*store, "a1"), 3);
}

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

TEST(ImportIdentityTest, OneThatIsNotAsTheProtocolSaysIsRefused) {
  EXPECT_THAT(CheckIdentity(Header()), IsOk());
  EXPECT_THAT(CheckIdentity(Header(5)), IsOk());
  EXPECT_THAT(CheckIdentity(v1::ImportHeader()), IsOk());
  for (const char* digest : {"", "D1", "../d1", "d 1"}) {
    EXPECT_THAT(CheckIdentity(Header(0, digest)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("digest")));
  }
  v1::ImportHeader header = Header();
  header.mutable_identity()->set_name("../molecules");
  EXPECT_THAT(CheckIdentity(header), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("name")));
  header = Header();
  header.mutable_identity()->add_settings()->set_value(std::string(70'000, 'x'));
  EXPECT_THAT(CheckIdentity(header), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("settings")));
  header = v1::ImportHeader();
  header.set_continue_at(5);
  EXPECT_THAT(CheckIdentity(header), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("identity")));
}

}  // namespace
}  // namespace packtrain::storage
