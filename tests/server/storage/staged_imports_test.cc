#include "server/storage/staged_imports.h"

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/testing/eventually.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::FakeGraphStore;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::StatusIs;
using std::chrono::minutes;
using ::testing::HasSubstr;

class StagedImportsTest : public ::testing::Test {
 protected:
  StagedImports::Import NewImport(StagedImports& imports) {
    return {*imports.Begin(), *memory_->TryReserve(limits::MemoryPart::kImports, 1000),
            *store_.NewDataset(MoleculeSchema())};
  }

  FakeGraphStore store_;
  const std::shared_ptr<limits::MemoryBudget> memory_ = limits::MemoryBudget::Undivided(std::uint64_t{1} << 40);
};

TEST_F(StagedImportsTest, AnImportIsTakenOnce) {
  StagedImports imports({});
  const std::string id = imports.Add(NewImport(imports));
  EXPECT_THAT(imports.Take(id), IsOk());
  EXPECT_THAT(imports.Take(id), StatusIs(absl::StatusCode::kNotFound, HasSubstr(id)));
}

TEST_F(StagedImportsTest, AnImportThatIsPutBackIsTakenAgain) {
  StagedImports imports({});
  const std::string id = imports.Add(NewImport(imports));
  imports.PutBack(id, *imports.Take(id));
  EXPECT_THAT(imports.Take(id), IsOk());
}

TEST_F(StagedImportsTest, NamesDiffer) {
  StagedImports imports({});
  EXPECT_NE(imports.Add(NewImport(imports)), imports.Add(NewImport(imports)));
}

TEST_F(StagedImportsTest, AnIdleImportIsDropped) {
  StagedImports imports({.idle_limit = minutes(10)});
  const std::string id = imports.Add(NewImport(imports));
  const auto added = StagedImports::Clock::now();
  imports.DropIdle(added + minutes(9));
  EXPECT_EQ(memory_->used_bytes(), 1000);
  imports.DropIdle(added + minutes(10));
  EXPECT_EQ(memory_->used_bytes(), 0);
  EXPECT_THAT(imports.Take(id), StatusIs(absl::StatusCode::kNotFound, HasSubstr("10 minutes")));
}

TEST_F(StagedImportsTest, ImportsAreDroppedWithoutBeingAsked) {
  StagedImports imports({.idle_limit = std::chrono::milliseconds(1), .max_imports = 1});
  imports.Add(NewImport(imports));
  EXPECT_TRUE(testing::Eventually([&imports] { return imports.Begin().ok(); }));
}

TEST_F(StagedImportsTest, AnImportHasItsSlotFromItsBeginningToItsSeal) {
  StagedImports imports({.max_imports = 1});
  const auto is_full = [&imports] { return absl::IsResourceExhausted(imports.Begin().status()); };
  std::optional<StagedImports::Import> import = NewImport(imports);
  EXPECT_TRUE(is_full());
  const std::string id = imports.Add(*std::move(import));
  EXPECT_TRUE(is_full());
  import = *imports.Take(id);
  EXPECT_TRUE(is_full());
  import.reset();
  EXPECT_FALSE(is_full());
}

TEST_F(StagedImportsTest, AnImportThatBreaksOffGivesItsSlotBack) {
  StagedImports imports({.max_imports = 1});
  EXPECT_THAT(imports.Begin(), IsOk());
  EXPECT_THAT(imports.Begin(), IsOk());
}

TEST_F(StagedImportsTest, WhatWaitsIsDroppedAtTheEnd) {
  {
    StagedImports imports({});
    imports.Add(NewImport(imports));
  }
  EXPECT_EQ(memory_->used_bytes(), 0);
}

}  // namespace
}  // namespace packtrain::storage
