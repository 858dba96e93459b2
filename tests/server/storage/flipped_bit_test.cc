// One flipped bit in any file of a sealed store: the opening or the read says so, and names what is corrupt; no
// wrong bytes come out, nothing that was sealed is silently gone, and nothing crashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "server/storage/rocks_graph_store.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::uint32_t kGraphs = 200;
constexpr int kPositionsPerFile = 12;
constexpr std::uint32_t kSeed = 20231114;

// Of what a store is made; the rest is RocksDB's own log of messages, and the lock.
std::vector<std::string> DatabaseFiles(const std::filesystem::path& db) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(db)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("LO") && entry.file_size() > 0) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void FlipBit(const std::filesystem::path& path, std::uint64_t bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(bit / 8));
  const char flipped = static_cast<char>(file.peek() ^ (1 << bit % 8));
  file.write(&flipped, 1);
}

// `count` bits spread over a file of `bytes` bytes, one in each stretch of it, the same in every run.
std::vector<std::uint64_t> SpreadBits(std::uint64_t bytes, int count) {
  std::mt19937_64 random(kSeed);
  const std::uint64_t stretch = std::max<std::uint64_t>(bytes * 8 / count, 1);
  std::vector<std::uint64_t> bits;
  for (std::uint64_t begin = 0; begin + stretch <= bytes * 8; begin += stretch) {
    bits.push_back(begin + random() % stretch);
  }
  return bits;
}

class FlippedBitTest : public ::testing::Test {
 protected:
  // Two sealed data sets.
  void SetUp() override {
    auto store = RocksGraphStore::Open(whole_.path(), {});
    ASSERT_THAT(store, IsOk());
    ASSERT_THAT(Import(**store, molecules_, SealWithFractions("molecules", 800, 100, 100, 3)), IsOk());
    ASSERT_THAT(Import(**store, ManyMolecules(50), SealAs("others")), IsOk());
  }

  // Opens a copy of the store with one bit flipped, and reads everything.
  void Check(const std::string& name, std::uint64_t bit) {
    SCOPED_TRACE(name + ", bit " + std::to_string(bit) + " flipped");
    const TemporaryFolder folder;
    std::filesystem::copy(whole_.path(), folder.path(), std::filesystem::copy_options::recursive);
    FlipBit(folder.path() / "db" / name, bit);
    const auto store = RocksGraphStore::Open(folder.path(), {});
    if (!store.ok()) {
      EXPECT_THAT(std::string(store.status().message()), HasSubstr((folder.path() / "db").string()));
      return;
    }
    CheckReads(**store);
  }

  void CheckReads(RocksGraphStore& store) {
    const auto dataset = store.Open("molecules");
    if (!dataset.ok()) {
      EXPECT_THAT(dataset, StatusIs(absl::StatusCode::kDataLoss));
      return;
    }
    ASSERT_EQ((*dataset)->n_node().size(), kGraphs);
    EXPECT_EQ((*dataset)->Split("train")->size(), 160u);
    for (std::uint32_t graph = 0; graph < kGraphs; ++graph) {
      const auto record = Read(**dataset, {graph});
      if (record.ok()) {
        EXPECT_EQ((*record)[0], RecordOf(molecules_[graph]));
      } else {
        EXPECT_THAT(record, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph " + std::to_string(graph))));
      }
    }
  }

  const std::vector<Molecule> molecules_ = ManyMolecules(kGraphs);
  const TemporaryFolder whole_;
};

TEST_F(FlippedBitTest, IsToldAndNeverGivesWrongBytes) {
  const std::filesystem::path db = whole_.path() / "db";
  for (const std::string& name : DatabaseFiles(db)) {
    for (const std::uint64_t bit : SpreadBits(file_size(db / name), kPositionsPerFile)) {
      Check(name, bit);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace packtrain::storage
