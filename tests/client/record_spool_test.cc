#include "client/internal/record_spool.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kMuch = std::uint64_t{1} << 30;

// Files of this process end here, as if the disk were full, until it goes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uint64_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*const handler_)(int);
  rlimit before_{};
};

SpooledBlock Block(std::string request) {
  SpooledBlock block{.kind = 1, .records = 2, .end = request.size()};
  block.request = std::move(request);
  return block;
}

std::vector<std::string> Contents(const RecordSpool& spool) {
  std::vector<std::string> requests;
  EXPECT_THAT(spool.ForEach([&](const SpooledBlock& block) { requests.push_back(block.request); }), IsOk());
  return requests;
}

std::vector<std::string> Drain(RecordSpool& spool) {
  std::vector<std::string> requests;
  for (absl::StatusOr<SpooledBlock> block; (block = spool.Front()).ok(); spool.Pop()) {
    requests.push_back(block->request);
  }
  return requests;
}

TEST(RecordSpool, GivesBlocksInTheOrderTheyCame) {
  RecordSpool spool({.folder = ::testing::TempDir(), .max_bytes = kMuch});
  EXPECT_THAT(spool.Front(), StatusIs(absl::StatusCode::kNotFound));
  for (const char* request : {"one", "", "three"}) EXPECT_THAT(spool.Append(Block(request)), IsOk());
  const SpooledBlock first = spool.Front().value();
  EXPECT_EQ(first.kind, 1u);
  EXPECT_EQ(first.records, 2u);
  EXPECT_EQ(first.end, 3u);
  EXPECT_THAT(Contents(spool), ElementsAre("one", "", "three"));
  EXPECT_THAT(Drain(spool), ElementsAre("one", "", "three"));
  EXPECT_THAT(spool.Append(Block("four")), IsOk());
  EXPECT_THAT(Drain(spool), ElementsAre("four"));
}

TEST(RecordSpool, TakesNoMoreThanItsLimitAndMoreOnceBlocksAreGone) {
  const std::string large(40'000, 'x');
  RecordSpool spool({.folder = ::testing::TempDir(), .max_bytes = 100'000});
  EXPECT_THAT(spool.Append(Block(large)), IsOk());
  EXPECT_THAT(spool.Append(Block(large)), IsOk());
  EXPECT_THAT(spool.Append(Block(large)), StatusIs(absl::StatusCode::kResourceExhausted,
                                                   HasSubstr("at most 100000 bytes (--report-spool-bytes)")));
  EXPECT_THAT(Contents(spool), ElementsAre(large, large));
  spool.Pop();
  spool.Pop();
  EXPECT_THAT(spool.Append(Block(large)), IsOk());
}

TEST(RecordSpool, GivesTheSpaceOfWhatIsTakenBack) {
  const std::string large(40'000, 'x');
  RecordSpool spool({.folder = ::testing::TempDir(), .max_bytes = 130'000});
  EXPECT_THAT(spool.Append(Block(large)), IsOk());
  for (int round = 0; round < 100; ++round) {
    ASSERT_THAT(spool.Append(Block(large)), IsOk()) << round;
    spool.Pop();
  }
}

TEST(RecordSpool, AWriteThatIsCutAnywhereLeavesTheQueueAsItWas) {
  constexpr std::uint64_t kBlockBytes = 32 + 10;
  for (std::uint64_t cut = 0; cut < kBlockBytes; ++cut) {
    RecordSpool spool({.folder = ::testing::TempDir(), .max_bytes = kMuch});
    ASSERT_THAT(spool.Append(Block("first one.")), IsOk());
    {
      const FileSizeLimit limit(kBlockBytes + cut);
      EXPECT_FALSE(spool.Append(Block("second one")).ok()) << cut;
    }
    EXPECT_THAT(Contents(spool), ElementsAre("first one."));
    EXPECT_THAT(spool.Append(Block("third one.")), IsOk());
    EXPECT_THAT(Drain(spool), ElementsAre("first one.", "third one."));
  }
}

TEST(RecordSpool, OtherCallsGoOnWhileItsBlocksAreLookedAt) {
  RecordSpool spool({.folder = ::testing::TempDir(), .max_bytes = kMuch});
  for (const char* request : {"one", "two", "three"}) ASSERT_THAT(spool.Append(Block(request)), IsOk());
  std::vector<std::string> seen;
  const auto look = [&](const SpooledBlock& block) {
    seen.push_back(block.request);
    if (block.request != "one") return;
    spool.Pop();
    spool.Pop();
    EXPECT_THAT(spool.Append(Block("four")), IsOk());
  };
  EXPECT_THAT(spool.ForEach(look), IsOk());
  EXPECT_THAT(seen, ElementsAre("one", "three"));
  EXPECT_THAT(Drain(spool), ElementsAre("three", "four"));
}

TEST(RecordSpool, BlocksThatComeAfterAllWereTakenOffAreNotTakenForThoseBefore) {
  RecordSpool spool({.folder = ::testing::TempDir(), .max_bytes = kMuch});
  for (const char* request : {"one", "two"}) ASSERT_THAT(spool.Append(Block(request)), IsOk());
  std::vector<std::string> seen;
  const auto look = [&](const SpooledBlock& block) {
    seen.push_back(block.request);
    Drain(spool);
    for (const char* request : {"new", "six"}) EXPECT_THAT(spool.Append(Block(request)), IsOk());
  };
  EXPECT_THAT(spool.ForEach(look), IsOk());
  EXPECT_THAT(seen, ElementsAre("one"));
  EXPECT_THAT(Contents(spool), ElementsAre("new", "six"));
}

TEST(RecordSpool, AFullDiskIsSaidAndPasses) {
  RecordSpool spool({.folder = ::testing::TempDir(), .max_bytes = kMuch});
  {
    const FileSizeLimit limit(0);
    EXPECT_THAT(spool.Append(Block("one")).message(), HasSubstr("the file of unsent records"));
  }
  EXPECT_THAT(Contents(spool), IsEmpty());
  EXPECT_THAT(spool.Append(Block("one")), IsOk());
  EXPECT_THAT(Drain(spool), ElementsAre("one"));
}

TEST(RecordSpool, LiesAmongTheTemporaryFilesWhereItsFolderIsNotThere) {
  RecordSpool spool({.folder = "/no/such/folder", .max_bytes = kMuch});
  EXPECT_THAT(spool.Append(Block("one")), IsOk());
  EXPECT_THAT(Drain(spool), ElementsAre("one"));
}

}  // namespace
}  // namespace packtrain::client
