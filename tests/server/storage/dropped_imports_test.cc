// When a store drops what it kept of an import that broke off.
#include <gmock/gmock.h>

#include <chrono>
#include <span>
#include <string>

#include "server/storage/import_session.h"
#include "server/storage/kept_imports.h"
#include "tests/server/storage/kept_imports_testing.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::BlockOf;
using ::packtrain::testing::Eventually;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

}  // namespace
}  // namespace packtrain::storage
