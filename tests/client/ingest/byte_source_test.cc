#include "client/ingest/byte_source.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "tests/client/ingest/archives.h"
#include "tests/client/ingest/gzip.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using testing::Gzip;
using testing::IsOk;
using testing::Refused;
using testing::StatusIs;
using testing::Xz;

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

TEST_F(ByteSourceTest, XzIsKnownByItsContent) {
  EXPECT_EQ(ReadAll(folder_.Write("a.xyz", Xz(LongText()))).value(), LongText());
  EXPECT_EQ(ReadAll(folder_.Write("b.xz", Xz("one ") + Xz("two"))).value(), "one two");
}

TEST_F(ByteSourceTest, XzCutAnywhereIsTruncated) {
  const std::string packed = Xz("a text that is packed");
  for (std::size_t size = 6; size < packed.size(); ++size) {
    EXPECT_THAT(ReadAll(folder_.Write("cut.xz", packed.substr(0, size))), Refused("truncated_xz", "cut.xz"))
        << size;
  }
}

TEST_F(ByteSourceTest, ChangedByteOfXzIsCorrupt) {
  std::string packed = Xz(LongText());
  packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x55);
  EXPECT_THAT(ReadAll(folder_.Write("bad.xz", packed)), Refused("corrupt_xz", "bad.xz"));
}

TEST_F(ByteSourceTest, XzThatNeedsTooMuchMemoryIsRefused) {
  EXPECT_THAT(ReadAll(folder_.Write("a.xz", Xz("text", 512 << 20))), Refused("xz_memory", "bytes of memory"));
}

TEST_F(ByteSourceTest, BytesBeforeAFailureAreGiven) {
  const std::string text = LongText();
  const std::string packed = Gzip(text);
  auto source =
      ByteSource::Open(folder_.Write("cut.gz", packed.substr(0, packed.size() - 8)), kNoLimit).value();
  std::vector<char> buffer(text.size());
  std::size_t had = 0;
  absl::StatusOr<std::size_t> count = 0;
  while ((count = source->Read(std::span(buffer).subspan(had, 1000))).ok() && *count > 0) {
    had += *count;
    if (had == text.size()) break;
  }
  EXPECT_GT(had, text.size() / 2);
  EXPECT_EQ(text.substr(0, had), std::string(buffer.data(), had));
}

TEST_F(ByteSourceTest, GitLfsPointerIsRefusedByName) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\n"
      "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
  EXPECT_THAT(ReadAll(folder_.Write("a.xyz", pointer)), Refused("git_lfs_pointer",
                                                                "a.xyz: a Git LFS pointer in place of "
                                                                "the data (12345 bytes)"));
}

TEST_F(ByteSourceTest, PackingsThatAreNotReadAreNamed) {
  EXPECT_THAT(ReadAll(folder_.Write("a.bz2", "BZh91AY&SY\x9d\xff")), Refused("unread_packing", "bzip2"));
  EXPECT_THAT(ReadAll(folder_.Write("a.zst", "\x28\xb5\x2f\xfd...")), Refused("unread_packing", "zstd"));
  EXPECT_THAT(ReadAll(folder_.Write("a.gz", Gzip(Gzip("text")))), Refused("unread_packing", "gzip twice"));
}

TEST_F(ByteSourceTest, ArchivesAreNoFiles) {
  EXPECT_THAT(ReadAll(folder_.Write("a.csv", testing::Zip({{"b.csv", "1"}}))),
              Refused("archive", "a zip archive"));
  EXPECT_THAT(ReadAll(folder_.Write("a.csv", testing::Tar({{"b.csv", "1"}}))),
              Refused("archive", "a tar archive"));
}

TEST_F(ByteSourceTest, TextInUtf16IsRefusedByName) {
  using namespace std::string_literals;
  for (const std::string& text : {"\xff\xfe"s
                                  "1\0\n\0"s,
                                  "\xfe\xff\0"s
                                  "1\0\n"s,
                                  "1\0\n\0"s,
                                  "\0"s
                                  "1\0\n"s}) {
    EXPECT_THAT(ReadAll(folder_.Write("a.xyz", text)), Refused("utf16_text", "a.xyz: the text is UTF-16"));
  }
}

TEST_F(ByteSourceTest, EmptyFileHoldsNothing) { EXPECT_EQ(ReadAll(folder_.Write("empty", "")).value(), ""); }

}  // namespace
}  // namespace packtrain::ingest
