#include "client/ingest/archive_reader.h"

#include <gmock/gmock.h>

#include <array>
#include <utility>

#include "tests/client/ingest/archives.h"
#include "tests/client/ingest/gzip.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using testing::ArchiveMember;
using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::Pair;
using testing::Refused;
using testing::Tar;
using testing::UnendedTar;
using testing::Xz;
using testing::Zip;

constexpr std::array<std::string_view, 1> kXyz = {".xyz"};

const std::vector<ArchiveMember> kMembers = {
    {"b.xyz", "second by name"}, {"README", "no record"}, {"folder/a.xyz", "first"}, {"folder/none.xyz", ""}};

class ArchiveReaderTest : public ::testing::Test {
 protected:
  // Names and contents of the members, or "" and the reason of a refusal.
  std::vector<std::pair<std::string, std::string>> Outcomes(const std::string& name, std::string_view archive,
                                                            const ReadLimits& limits = {}) {
    const std::string path = folder_.Write(name, archive);
    reader_ = OpenFileOrArchive(DiskFile::Open(path).value(), kXyz, limits).value().archive;
    std::vector<std::pair<std::string, std::string>> outcomes;
    while (outcomes.size() < 10) {
      const absl::StatusOr<std::shared_ptr<PackedBytes>> member = reader_->Next();
      if (member.ok() && *member == nullptr) break;
      const absl::StatusOr<std::string> text = member.ok() ? ReadAll(*member) : member.status();
      status_ = text.status();
      if (text.ok()) {
        outcomes.emplace_back(reader_->member_path().substr(path.size() + 1), *text);
      } else {
        outcomes.emplace_back("", ReasonOf(text.status()));
      }
    }
    return outcomes;
  }

  absl::StatusOr<std::string> ReadAll(const std::shared_ptr<PackedBytes>& member) {
    if (absl::Status status = member->Fill(); !status.ok()) return status;
    ByteSource source(member, reader_->budget());
    std::string text;
    std::array<char, 7> piece;
    while (true) {
      const absl::StatusOr<std::size_t> count = source.Read(piece);
      if (!count.ok()) return count.status();
      if (*count == 0) return text;
      text.append(piece.data(), *count);
    }
  }

  auto AllMembers() {
    return ElementsAre(Pair("b.xyz", "second by name"), Pair("folder/a.xyz", "first"),
                       Pair("folder/none.xyz", ""));
  }

  testing::TempFolder folder_;
  std::unique_ptr<ArchiveReader> reader_;
  absl::Status status_;  // of the last member
};

TEST_F(ArchiveReaderTest, MembersComeAsTheArchiveHasThem) {
  EXPECT_THAT(Outcomes("a.tar", Tar(kMembers)), AllMembers());
  EXPECT_EQ(reader_->passed_over().count, 1u);
  EXPECT_THAT(reader_->passed_over().names, ElementsAre("README"));
  EXPECT_THAT(Outcomes("a.tar.gz", Gzip(Tar(kMembers))), AllMembers());
  EXPECT_THAT(Outcomes("a.tar.xz", Xz(Tar(kMembers))), AllMembers());
  EXPECT_THAT(Outcomes("a.zip", Zip(kMembers)), AllMembers());
  EXPECT_EQ(reader_->passed_over().count, 1u);
}

TEST_F(ArchiveReaderTest, ArchivesAreKnownByTheirContent) {
  EXPECT_THAT(Outcomes("a.dat", Tar(kMembers)), AllMembers());
  EXPECT_THAT(Outcomes("b.dat", Gzip(Tar(kMembers))), AllMembers());
  EXPECT_THAT(Outcomes("c.dat", Zip(kMembers)), AllMembers());
}

TEST_F(ArchiveReaderTest, MembersMayBePackedThemselves) {
  const std::vector<ArchiveMember> members = {{"a.xyz.gz", Gzip("one")}, {"b.xyz.xz", Xz("two")}};
  EXPECT_THAT(Outcomes("a.tar", Tar(members)), ElementsAre(Pair("a.xyz.gz", "one"), Pair("b.xyz.xz", "two")));
  EXPECT_THAT(Outcomes("a.zip", Zip(members)), ElementsAre(Pair("a.xyz.gz", "one"), Pair("b.xyz.xz", "two")));
}

TEST_F(ArchiveReaderTest, ArchivesWrittenOneBehindTheOtherAreOne) {
  EXPECT_THAT(Outcomes("a.tar", Tar({{"a.xyz", "one"}}) + Tar({{"b.xyz", "two"}})),
              ElementsAre(Pair("a.xyz", "one"), Pair("b.xyz", "two")));
}

TEST_F(ArchiveReaderTest, NamesInUtf8AreReadInAnyLocale) {
  const std::vector<ArchiveMember> members = {{"βενζόλιο.xyz", "one"}, {"苯.xyz", "two"}};
  EXPECT_THAT(Outcomes("a.tar", Tar(members)), ElementsAre(Pair("βενζόλιο.xyz", "one"), Pair("苯.xyz", "two")));
  EXPECT_THAT(Outcomes("a.zip", Zip(members)), ElementsAre(Pair("βενζόλιο.xyz", "one"), Pair("苯.xyz", "two")));
}

TEST_F(ArchiveReaderTest, WhatMacosKeepsBesideFilesIsPassedOver) {
  EXPECT_THAT(Outcomes("a.tar", Tar({{"._a.xyz", "\x05\x16\x07"}, {"./a.xyz", "one"}})),
              ElementsAre(Pair("a.xyz", "one")));
  EXPECT_EQ(reader_->passed_over().count, 1u);
}

TEST_F(ArchiveReaderTest, NamesThatLeadOutOfTheArchiveAreRefused) {
  for (const char* name : {"../a.xyz", "/etc/a.xyz", "x/../../a.xyz", "..", "/README"}) {
    EXPECT_THAT(Outcomes("a.tar", Tar({{name, "evil"}, {"b.xyz", "good"}})),
                ElementsAre(Pair("", "unsafe_name"), Pair("b.xyz", "good")))
        << name;
  }
}

TEST_F(ArchiveReaderTest, LinksAreRefusedAndNotFollowed) {
  const std::vector<ArchiveMember> members = {
      {"a.xyz", "", "/etc/passwd"}, {"b.xyz", "good"}, {"README", "", "b.xyz"}};
  EXPECT_THAT(Outcomes("a.tar", Tar(members)), ElementsAre(Pair("", "archive_link"), Pair("b.xyz", "good")));
  EXPECT_THAT(Outcomes("a.zip", Zip(members)), ElementsAre(Pair("", "archive_link"), Pair("b.xyz", "good")));
  EXPECT_EQ(reader_->passed_over().count, 1u);
}

TEST_F(ArchiveReaderTest, NameThatIsNotUtf8IsRefused) {
  EXPECT_THAT(Outcomes("a.tar", Tar({{"b\xe9nz.xyz", "one"}, {"b.xyz", "good"}})),
              ElementsAre(Pair("", "member_name"), Pair("b.xyz", "good")));
}

TEST_F(ArchiveReaderTest, TarCutAnywhereIsRefused) {
  const std::string tar = Tar({{"a.xyz", "one"}, {"b.xyz", "two"}});
  for (std::size_t size = 0; size + 512 < tar.size(); size += 64) {
    const auto outcomes = Outcomes("cut.tar", tar.substr(0, size));
    ASSERT_FALSE(outcomes.empty());
    EXPECT_EQ(outcomes.back().first, "") << size;
    EXPECT_THAT(status_, Refused(outcomes.back().second, "cut.tar"));
  }
  const auto outcomes = Outcomes("cut.tar", UnendedTar({{"a.xyz", "one"}}));
  EXPECT_THAT(outcomes, ElementsAre(Pair("a.xyz", "one"), Pair("", "truncated_archive")));
}

TEST_F(ArchiveReaderTest, PackedTarCutAnywhereIsRefused) {
  for (const std::string& packed : {Gzip(Tar(kMembers)), Xz(Tar(kMembers))}) {
    for (std::size_t size = 20; size < packed.size(); size += 5) {
      const auto outcomes = Outcomes("cut.tar.gz", packed.substr(0, size));
      ASSERT_FALSE(outcomes.empty());
      EXPECT_EQ(outcomes.back().first, "") << size;
    }
  }
}

TEST_F(ArchiveReaderTest, ZipCutAnywhereIsRefused) {
  const std::string zip = Zip(kMembers);
  for (std::size_t size = 4; size < zip.size(); size += 5) {
    const auto outcomes = Outcomes("cut.zip", zip.substr(0, size));
    ASSERT_EQ(outcomes.size(), 1u) << size;
    EXPECT_THAT(status_, Refused("truncated_archive", "cut.zip: the file is cut off, or is no zip archive"))
        << size;
  }
}

TEST_F(ArchiveReaderTest, ChangedByteOfAMemberIsFound) {
  std::string text;
  for (int k = 0; k < 1000; ++k) text += std::to_string(k * k);
  std::string zip = Zip({{"a.xyz", text}, {"b.xyz", "good"}});
  const std::size_t in_a = zip.find("b.xyz") - 200;
  zip[in_a] = static_cast<char>(zip[in_a] ^ 0x55);
  EXPECT_EQ(Outcomes("bad.zip", zip).front().first, "");
}

TEST_F(ArchiveReaderTest, ArchiveWithoutMembersIsRefused) {
  EXPECT_THAT(Outcomes("a.tar.gz", Gzip(std::string(102'400, '\0'))), ElementsAre(Pair("", "empty_archive")));
  EXPECT_THAT(Outcomes("a.zip", Zip({})), ElementsAre(Pair("", "empty_archive")));
  EXPECT_THAT(Outcomes("a.tar", Tar({{"README", "x"}})), ElementsAre(Pair("", "no_members")));
  EXPECT_THAT(status_, Refused("no_members", "a.tar: the archive holds no *.xyz file, but 1 other"));
}

TEST_F(ArchiveReaderTest, LimitOfMembersHolds) {
  ReadLimits limits;
  limits.max_members = 3;
  EXPECT_THAT(Outcomes("a.tar", Tar(kMembers), limits).back(), Pair("", "too_many_members"));
  limits.max_members = 4;
  EXPECT_THAT(Outcomes("a.tar", Tar(kMembers), limits), AllMembers());
}

TEST_F(ArchiveReaderTest, UnpackingStopsAtTheLimitOfTheWholeArchive) {
  ReadLimits limits;
  limits.max_unpacked_bytes = 1 << 20;
  const std::string half(600'000, ' ');
  const std::vector<ArchiveMember> members = {{"a.xyz", half}, {"b.xyz", half}, {"c.xyz", half}};
  EXPECT_EQ(Outcomes("a.tar.gz", Gzip(Tar(members)), limits).back().second, "unpacked_limit");
  EXPECT_THAT(Outcomes("a.zip", Zip(members), limits),
              ElementsAre(Pair("a.xyz", half), Pair("", "unpacked_limit")));
  const std::vector<ArchiveMember> packed = {{"a.xyz.gz", Gzip(half)}, {"b.xyz.gz", Gzip(half)}};
  EXPECT_THAT(Outcomes("a.tar", Tar(packed), limits),
              ElementsAre(Pair("a.xyz.gz", half), Pair("", "unpacked_limit")));
}

}  // namespace
}  // namespace packtrain::ingest
