// What tests of kept imports share: a header with an identity, and imports that break off and go on.
#ifndef PACKTRAIN_TESTS_SERVER_STORAGE_KEPT_IMPORTS_TESTING_H_
#define PACKTRAIN_TESTS_SERVER_STORAGE_KEPT_IMPORTS_TESTING_H_

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/storage/import_session.h"
#include "server/storage/rocks_graph_store.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {

inline constexpr std::uint32_t kGraphs = 1000;
inline constexpr std::uint32_t kGraphsOfBlock = 100;
inline constexpr std::chrono::hours kDay{24};

inline v1::ImportHeader Header(std::uint64_t continue_at = 0, const std::string& digest = "d1") {
  v1::ImportHeader header;
  *header.mutable_schema() = testing::MoleculeSchema();
  header.set_on_error(v1::ERROR_POLICY_SKIP);
  header.mutable_identity()->set_name("molecules");
  header.mutable_identity()->set_digest(digest);
  header.set_continue_at(continue_at);
  return header;
}

inline std::vector<std::filesystem::path> EntriesOf(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) entries.push_back(entry.path());
  return entries;
}

class KeptImportsTest : public ::testing::Test {
 protected:
  std::unique_ptr<RocksGraphStore> OpenStore(std::chrono::milliseconds keep = kDay) {
    return OpenStoreIn(folder_.path(), keep);
  }

  // Its pieces end about with each block.
  std::unique_ptr<RocksGraphStore> OpenStoreIn(const std::filesystem::path& folder,
                                               std::chrono::milliseconds keep = kDay) {
    RocksGraphStoreOptions options;
    options.kept = {.keep = keep, .min_piece_bytes = 4 << 10, .now_ms = [this] { return now_ms_.load(); }};
    auto store = RocksGraphStore::Open(folder, options);
    EXPECT_THAT(store, testing::IsOk());
    return *std::move(store);
  }

  std::unique_ptr<ImportSession> Begin(GraphStore& store, const v1::ImportHeader& header) {
    auto session = ImportSession::Begin(store, header);
    EXPECT_THAT(session, testing::IsOk());
    return *std::move(session);
  }

  // Adds the molecules of `all` from `begin` to `end` in blocks, each followed by a checkpoint.
  static void Add(ImportSession& session, const std::vector<testing::Molecule>& all, std::size_t begin,
                  std::size_t end) {
    for (; begin < end; begin += kGraphsOfBlock) {
      const std::size_t count = std::min<std::size_t>(kGraphsOfBlock, end - begin);
      ASSERT_THAT(session.Add(testing::BlockOf(std::span(all).subspan(begin, count))), testing::IsOk());
      ASSERT_THAT(session.Checkpoint(/*all=*/false), testing::IsOk());
    }
  }

  // An import that breaks off behind `graphs` graphs.
  void BreakOff(GraphStore& store, std::uint64_t graphs, const v1::ImportHeader& header = Header()) {
    const auto session = Begin(store, header);
    Add(*session, molecules_, header.continue_at(), graphs);
    EXPECT_THAT(session->Checkpoint(/*all=*/true), testing::IsOk());
  }

  // Goes on with what is kept, to the end; the version.
  std::string GoOn(RocksGraphStore& store, std::uint64_t kept, const v1::ImportHeader& header) {
    const auto session = Begin(store, header);
    EXPECT_EQ(session->response().received(), kept);
    Add(*session, molecules_, kept, molecules_.size());
    EXPECT_EQ(session->response().received(), molecules_.size());
    const auto sealed = session->TakeWriter()->Seal(SealAs("molecules"));
    EXPECT_THAT(sealed, testing::IsOk());
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
  std::filesystem::path KeptFolder() const {
    const std::vector<std::filesystem::path> entries = EntriesOf(staging());
    EXPECT_THAT(entries, ::testing::SizeIs(1));
    return entries.front();
  }
  std::filesystem::path staging() const { return folder_.path() / "staging"; }

  const TemporaryFolder folder_;
  const std::vector<testing::Molecule> molecules_ = testing::ManyMolecules(kGraphs);
  std::atomic<std::int64_t> now_ms_ = 1'700'000'000'000;
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_TESTS_SERVER_STORAGE_KEPT_IMPORTS_TESTING_H_
