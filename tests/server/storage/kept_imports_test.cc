// What a store keeps of an import that broke off, and that it goes on as if it had never done so.
#include "server/storage/kept_imports.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "server/storage/import_session.h"
#include "tests/server/storage/kept_imports_testing.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

namespace fs = std::filesystem;

using ::packtrain::testing::BlockOf;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

TEST_F(KeptImportsTest, PiecesEndInTheirOrderEachWithItsFile) {
  const auto store = OpenStore();
  BreakOff(*store, 450);
  const auto journal = ReadJournal(KeptFolder() / "JOURNAL");
  ASSERT_THAT(journal, IsOk());
  ASSERT_THAT(journal->pieces, SizeIs(5));
  for (std::size_t k = 0; k < journal->pieces.size(); ++k) {
    const ImportPiece& piece = journal->pieces[k];
    EXPECT_EQ(piece.progress.received(), std::min<std::size_t>((k + 1) * 100, 450));
    EXPECT_EQ(piece.file_bytes, fs::file_size(KeptFolder() / ("graphs-" + std::to_string(k) + ".sst")));
  }
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
