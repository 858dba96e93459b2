#include "server/serving/staged_imports.h"

#include <gmock/gmock.h>

#include <memory>
#include <utility>

#include "tests/testing/fake_graph_store.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::serving {
namespace {

using ::packtrain::testing::FakeGraphStore;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::StatusIs;
using std::chrono::minutes;
using ::testing::HasSubstr;

class StagedImportsTest : public ::testing::Test {
 protected:
  std::unique_ptr<storage::DatasetWriter> NewImport() { return *store_.NewDataset(MoleculeSchema()); }

  FakeGraphStore store_;
};

TEST_F(StagedImportsTest, AnImportIsTakenOnce) {
  StagedImports imports({});
  const auto id = imports.Add(NewImport());
  ASSERT_THAT(id, IsOk());
  EXPECT_THAT(imports.Take(*id), IsOk());
  EXPECT_THAT(imports.Take(*id), StatusIs(absl::StatusCode::kNotFound, HasSubstr(*id)));
}

TEST_F(StagedImportsTest, NamesDiffer) {
  StagedImports imports({});
  EXPECT_NE(*imports.Add(NewImport()), *imports.Add(NewImport()));
}

TEST_F(StagedImportsTest, AnIdleImportIsDropped) {
  StagedImports imports({.idle_limit = minutes(10)});
  const auto id = imports.Add(NewImport());
  ASSERT_THAT(id, IsOk());
  const auto added = StagedImports::Clock::now();
  imports.DropIdle(added + minutes(9));
  imports.DropIdle(added + minutes(10));
  EXPECT_THAT(imports.Take(*id), StatusIs(absl::StatusCode::kNotFound, HasSubstr("10 minutes")));
}

TEST_F(StagedImportsTest, ImportsAreDroppedWithoutBeingAsked) {
  StagedImports imports({.idle_limit = std::chrono::milliseconds(1), .max_imports = 1});
  ASSERT_THAT(imports.Add(NewImport()), IsOk());
  while (!imports.CheckRoom().ok()) std::this_thread::yield();
}

TEST_F(StagedImportsTest, ThereIsRoomForSoMany) {
  StagedImports imports({.max_imports = 1});
  const auto id = imports.Add(NewImport());
  ASSERT_THAT(id, IsOk());
  EXPECT_THAT(imports.CheckRoom(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(imports.Add(NewImport()), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(imports.Take(*id), IsOk());
  EXPECT_THAT(imports.CheckRoom(), IsOk());
}

}  // namespace
}  // namespace packtrain::serving
