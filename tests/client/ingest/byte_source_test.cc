#include "client/ingest/byte_source.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "proto/base/content_hash.h"
#include "tests/client/ingest/gzip.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using testing::Gzip;
using testing::IsOk;
using testing::Refused;
using testing::StatusIs;

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

absl::StatusOr<std::string> ReadAll(const std::string& path, std::uint64_t limit = kNoLimit,
                                    std::size_t piece = 1000) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = ByteSource::Open(path, limit);
  if (!source.ok()) return source.status();
  std::string text;
  std::vector<char> buffer(piece);
  while (true) {
    absl::StatusOr<std::size_t> count = (*source)->Read(buffer);
    if (!count.ok()) return count.status();
    if (*count == 0) return text;
    text.append(buffer.data(), *count);
  }
}

std::string LongText() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + '\n';
  return text;
}

class ByteSourceTest : public ::testing::Test {
 protected:
  testing::TempFolder folder_;
};

TEST_F(ByteSourceTest, PlainFilesComeAsTheyAre) {
  EXPECT_EQ(ReadAll(folder_.Write("a.xyz.gz", LongText())).value(), LongText());
}

TEST_F(ByteSourceTest, GzipIsKnownByItsContent) {
  EXPECT_EQ(ReadAll(folder_.Write("a.xyz", Gzip(LongText()))).value(), LongText());
}

TEST_F(ByteSourceTest, PiecesOfAnySizeGiveTheSameText) {
  const std::string path = folder_.Write("a.gz", Gzip("some text"));
  for (std::size_t piece = 1; piece < 12; ++piece)
    EXPECT_EQ(ReadAll(path, kNoLimit, piece).value(), "some text");
}

TEST_F(ByteSourceTest, GzipMembersFollowEachOther) {
  EXPECT_EQ(ReadAll(folder_.Write("a.gz", Gzip("one ") + Gzip("") + Gzip("two"))).value(), "one two");
}

TEST_F(ByteSourceTest, ZerosMayFollowTheLastMember) {
  EXPECT_EQ(ReadAll(folder_.Write("a.gz", Gzip("one") + std::string(600, '\0'))).value(), "one");
}

TEST_F(ByteSourceTest, GzipCutAnywhereIsTruncated) {
  const std::string packed = Gzip("a text that is packed");
  for (std::size_t size = 2; size < packed.size(); ++size) {
    EXPECT_THAT(ReadAll(folder_.Write("cut.gz", packed.substr(0, size))), Refused("truncated_gzip", "cut.gz"))
        << size;
  }
}

TEST_F(ByteSourceTest, SecondMemberCutIsTruncated) {
  const std::string second = Gzip("two");
  EXPECT_THAT(ReadAll(folder_.Write("cut.gz", Gzip("one") + second.substr(0, second.size() - 4))),
              Refused("truncated_gzip", "cut.gz"));
}

TEST_F(ByteSourceTest, ChangedByteIsCorrupt) {
  std::string packed = Gzip(LongText());
  packed[packed.size() - 6] ^= 0x55;  // of the checksum
  EXPECT_THAT(ReadAll(folder_.Write("bad.gz", packed)), Refused("corrupt_gzip", "bad.gz"));
}

TEST_F(ByteSourceTest, TextAfterTheLastMemberIsCorrupt) {
  EXPECT_THAT(ReadAll(folder_.Write("bad.gz", Gzip("one") + "tail")), Refused("corrupt_gzip", "bad.gz"));
}

TEST_F(ByteSourceTest, UnpackingStopsAtTheLimit) {
  const std::string bomb = folder_.Write("bomb.gz", Gzip(std::string(1'000'000, ' ')));
  EXPECT_THAT(ReadAll(bomb, 999'999), Refused("unpacked_limit", "--max-unpacked-bytes"));
  EXPECT_THAT(ReadAll(bomb, 1'000'000), IsOk());
}

TEST_F(ByteSourceTest, FailureRepeats) {
  auto source = ByteSource::Open(folder_.Write("cut.gz", Gzip("text").substr(0, 8)), kNoLimit).value();
  char byte;
  for (int call = 0; call < 3; ++call)
    EXPECT_THAT(source->Read({&byte, 1}), Refused("truncated_gzip", "cut.gz"));
}

TEST_F(ByteSourceTest, MissingFileAndFolderAreNamed) {
  EXPECT_THAT(ReadAll(folder_.PathOf("none.xyz")),
              StatusIs(absl::StatusCode::kNotFound, ::testing::HasSubstr("none.xyz")));
  EXPECT_THAT(ReadAll(folder_.PathOf("")),
              StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("directory")));
}

TEST_F(ByteSourceTest, DigestIsOfTheWholeFileOnDiskHoweverMuchWasRead) {
  const std::string packed = Gzip(LongText());
  for (const std::size_t read : {0, 1, 400'000}) {
    auto source = ByteSource::Open(folder_.Write("a.gz", packed), kNoLimit).value();
    std::vector<char> buffer(read);
    for (std::size_t had = 0; had < read; had += source->Read(std::span(buffer).subspan(had)).value()) {
    }
    const FileDigest digest = source->Digest().value();
    EXPECT_EQ(digest.bytes, packed.size());
    EXPECT_EQ(digest.sha256, base::HexSha256(packed));
  }
}

TEST_F(ByteSourceTest, EmptyFileHoldsNothing) { EXPECT_EQ(ReadAll(folder_.Write("empty", "")).value(), ""); }

}  // namespace
}  // namespace packtrain::ingest
