// Pieces of an import whose n-th operation on the disk fails, for every n: the import fails or is sealed as a
// whole, and what is kept of it goes on to the same version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "tests/server/storage/kept_imports_testing.h"
#include "tests/testing/faulty_disk.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::BlockOf;
using ::packtrain::testing::FaultyDisk;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;

constexpr std::size_t kGraphsOfImport = 3 * kGraphsOfBlock;

class FailingPiecesTest : public KeptImportsTest,
                          public ::testing::WithParamInterface<packtrain::testing::FaultCase> {
 protected:
  std::unique_ptr<RocksGraphStore> OpenFaultyStore(const std::filesystem::path& folder) {
    RocksGraphStoreOptions options;
    options.database = {.reserve_bytes = 0, .env = disk_.env()};
    options.kept = {.keep = kDay, .min_piece_bytes = 4 << 10, .now_ms = [this] { return now_ms_.load(); }};
    auto store = RocksGraphStore::Open(folder, options);
    EXPECT_THAT(store, IsOk());
    return *std::move(store);
  }

  // The version of an import, from its first block that is not kept to its seal.
  absl::StatusOr<std::string> ImportFrom(std::uint64_t kept, GraphStore& store) {
    const auto session = ImportSession::Begin(store, Header(kept));
    if (!session.ok()) return session.status();
    for (std::size_t begin = kept; begin < kGraphsOfImport; begin += kGraphsOfBlock) {
      const auto block = BlockOf(std::span(molecules_).subspan(begin, kGraphsOfBlock));
      if (absl::Status added = (*session)->Add(block); !added.ok()) return added;
      if (absl::Status ended = (*session)->Checkpoint(/*all=*/false); !ended.ok()) return ended;
    }
    (*session)->Checkpoint(/*all=*/true).IgnoreError();  // the seal tries again
    const auto sealed = (*session)->TakeWriter()->Seal(SealAs("molecules"));
    if (!sealed.ok()) return sealed.status();
    return sealed->dataset.version();
  }

  // Whether an operation that failed is one of writing a piece.
  static bool IsOfAPiece(const std::string& operation) {
    return operation.starts_with("write graphs-") || operation.starts_with("sync graphs-") ||
           operation.starts_with("close graphs-");
  }

  FaultyDisk disk_;
};

TEST_P(FailingPiecesTest, TheImportIsSealedAsAWholeOrGoesOnBehindWholePieces) {
  const TemporaryFolder healthy;
  const std::string version = ImportFrom(0, *OpenFaultyStore(healthy.path())).value();
  for (std::uint64_t n = 0;; ++n) {
    const TemporaryFolder folder;
    const auto store = OpenFaultyStore(folder.path());
    disk_.Fail(n, GetParam().fault, GetParam().duration);
    const auto sealed = ImportFrom(0, *store);
    const std::string failed = disk_.Failed();
    disk_.Heal();
    if (failed.empty()) return;
    SCOPED_TRACE(failed + ", operation " + std::to_string(n));
    if (sealed.ok()) {
      EXPECT_EQ(*sealed, version);
      EXPECT_FALSE(IsOfAPiece(failed));
      continue;
    }
    EXPECT_THAT(store->Open("molecules"), StatusIs(absl::StatusCode::kNotFound));
    const std::uint64_t kept = KeptIn(*store);
    EXPECT_EQ(kept % kGraphsOfBlock, 0u);
    const auto again = ImportFrom(kept, *store);
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ(*again, version);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(, FailingPiecesTest, ::testing::ValuesIn(packtrain::testing::FaultCases()),
                         [](const auto& tried) { return std::string(tried.param.name); });

}  // namespace
}  // namespace packtrain::storage
