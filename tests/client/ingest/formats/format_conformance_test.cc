// What holds for each row of the table of formats.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "client/ingest/formats/format_table.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "tests/client/ingest/archives.h"
#include "tests/client/ingest/formats/format_samples.h"
#include "tests/client/ingest/formats/read_file.h"
#include "tests/client/ingest/gzip.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {

namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::FormatSample;
using testing::Gzip;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::ReadResult;
using testing::Refused;
using testing::SentGraph;
using testing::StatusIs;

class FormatConformanceTest : public ::testing::TestWithParam<Format> {
 protected:
  std::string FileOf(std::string_view content) { return folder_.Write(sample_.file_name, content); }

  ReadResult Read(std::string_view content, bool skip_refused = false) {
    ImportOptions options;
    options.skip_refused = skip_refused;
    return ReadPath(FileOf(content), options);
  }
  ReadResult ReadPath(const std::string& path, ImportOptions options = {}) {
    options.paths = {path};
    return testing::ReadBy(GetParam(), std::move(options));
  }
  void ExpectThree(const ReadResult& result) {
    EXPECT_THAT(result.status, IsOk());
    EXPECT_EQ(result.graphs, Three());
  }
  std::vector<SentGraph> Three() { return Read(sample_.three).graphs; }

  static std::unique_ptr<GraphReader> Opened(const std::string& path) {
    const ReadOptions options;
    return GetParam()
        .open_graphs(ByteSource::Open(path, options.limits.max_unpacked_bytes).value(), options)
        .value();
  }

  // Reads through a pipe whose writer gives `piece` bytes at a time.
  ReadResult ReadPiped(const std::string& content, std::size_t piece) {
    const std::string pipe = folder_.PathOf("pipe" + std::to_string(piece));
    EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] {
      std::ofstream out(pipe, std::ios::binary);
      for (std::size_t at = 0; at < content.size(); at += piece) {
        out << content.substr(at, piece) << std::flush;
      }
    });
    ReadResult result = ReadPath(pipe);
    writer.join();
    return result;
  }

  testing::TempFolder folder_;
  const FormatSample sample_ = testing::SampleOf(GetParam().name);
};

TEST_P(FormatConformanceTest, RecordsAreReadInOrder) {
  const ReadResult result = Read(sample_.three);
  EXPECT_THAT(result.status, IsOk());
  EXPECT_THAT(result.Ids(), ElementsAreArray(sample_.ids));
  EXPECT_EQ(result.ledger.read(), 3u);
  EXPECT_EQ(result.ledger.refused_graphs(), 0u);
}

TEST_P(FormatConformanceTest, FileOfOneRecordIsRead) {
  const ReadResult result = Read(sample_.one);
  EXPECT_THAT(result.status, IsOk());
  ASSERT_EQ(result.graphs.size(), 1u);
  SentGraph expected = Three()[0];
  if (!sample_.id_of_one.empty()) expected.id = sample_.id_of_one;
  EXPECT_EQ(result.graphs[0], expected);
}

TEST_P(FormatConformanceTest, RefusedRecordLeavesItsNeighboursAlone) {
  if (sample_.reason.empty()) GTEST_SKIP() << "the format takes a file whole or not at all";
  const ReadResult result = Read(sample_.second_is_bad, /*skip_refused=*/true);
  EXPECT_THAT(result.status, IsOk());
  EXPECT_THAT(result.graphs, ElementsAre(Three()[0], Three()[2]));
  EXPECT_EQ(result.ledger.read(), 3u);
  ASSERT_EQ(result.ledger.refused().size(), 1u);
  EXPECT_EQ(result.ledger.refused()[0].id, sample_.ids[1]);
  EXPECT_EQ(result.ledger.refused()[0].reason, sample_.reason);
  EXPECT_EQ(result.ledger.refused()[0].origin.record, 2u);
}

TEST_P(FormatConformanceTest, RefusalNamesFileRecordAndId) {
  if (sample_.reason.empty()) GTEST_SKIP() << "the format takes a file whole or not at all";
  const ReadResult result = Read(sample_.second_is_bad);
  EXPECT_THAT(result.status, Refused(sample_.reason, sample_.file_name + ":"));
  EXPECT_THAT(result.status, Refused(sample_.reason, " 2 (" + sample_.ids[1] + "): "));
}

// The last of several graphs may have lost digits, which nobody can see.
TEST_P(FormatConformanceTest, CutFileGivesNoOtherGraphsThanTheWholeOne) {
  const std::vector<SentGraph> whole = Three();
  for (std::size_t size = 0; size < sample_.three.size(); ++size) {
    const ReadResult result = Read(sample_.three.substr(0, size), /*skip_refused=*/true);
    if (!sample_.is_text) {
      EXPECT_THAT(result.status, StatusIs(absl::StatusCode::kInvalidArgument)) << size;
    }
    ASSERT_LE(result.graphs.size(), whole.size()) << size;
    for (std::size_t k = 0; k + 1 < result.graphs.size(); ++k) EXPECT_EQ(result.graphs[k], whole[k]) << size;
  }
}

TEST_P(FormatConformanceTest, DamagedFileEndsInGraphsAndRefusals) {
  for (std::size_t at = 0; at < sample_.three.size(); ++at) {
    for (const char byte : {'\0', ' ', '9', '\n', '\xff'}) {
      std::string damaged = sample_.three;
      damaged[at] = byte;
      const ReadResult result = Read(damaged, /*skip_refused=*/true);
      EXPECT_FALSE(absl::IsInternal(result.status)) << at << ": " << result.status;
      if (!result.status.ok()) continue;
      EXPECT_EQ(result.ledger.read(), result.graphs.size() + result.ledger.refused_graphs()) << at;
      const bool tells_all = result.graphs.size() >= 3 || result.ledger.refused_graphs() > 0;
      EXPECT_TRUE(tells_all || !sample_.why_records_may_merge.empty()) << at << ": '" << byte << "'";
    }
  }
}

TEST_P(FormatConformanceTest, BehindALineThatBelongsToNoRecordIsReadOnOrTheLedgerSaysSo) {
  if (sample_.reason.empty()) GTEST_SKIP() << "the format takes a file whole or not at all";
  const ReadResult result = Read(sample_.stray_line, /*skip_refused=*/true);
  EXPECT_THAT(result.status, IsOk());
  EXPECT_GE(result.ledger.refused_graphs(), 1u);
  const std::vector<SentGraph> three = Three();
  for (const SentGraph& graph : result.graphs) EXPECT_THAT(three, ::testing::Contains(graph));
  if (result.ledger.unread().empty()) {
    EXPECT_THAT(result.graphs, ::testing::Contains(three[2]));
  } else {
    EXPECT_THAT(result.ledger.refused().back().message, HasSubstr("nothing is read from there on"));
    EXPECT_GT(result.ledger.unread().back().line, 0u);
  }
}

TEST_P(FormatConformanceTest, FileThatEndsInTheMiddleOfItsBytesIsToldAsUnread) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  const ReadResult result = Read(sample_.three + '\0' + sample_.three, /*skip_refused=*/true);
  ASSERT_EQ(result.ledger.unread().size(), 1u);
  EXPECT_THAT(result.ledger.unread()[0].file, ::testing::EndsWith(sample_.file_name));
}

// As the lines before the place at which it cannot be read on.
std::uint64_t LineBehind(const std::string& text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

TEST_P(FormatConformanceTest, FileThatUnpacksToMoreThanTheLimitIsReadUpToIt) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  for (const std::string& content : {sample_.three, Gzip(sample_.three), testing::Xz(sample_.three)}) {
    for (std::size_t limit = 0; limit < sample_.three.size(); limit += 7) {
      ImportOptions options;
      options.skip_refused = true;
      options.read.limits.max_unpacked_bytes = limit;
      const ReadResult result = ReadPath(FileOf(content), options);
      ASSERT_EQ(result.ledger.refused().size(), 1u) << limit;
      EXPECT_EQ(result.ledger.refused()[0].reason, "unpacked_limit");
      EXPECT_EQ(result.ledger.refused()[0].origin.line, LineBehind(sample_.three.substr(0, limit))) << limit;
      ASSERT_EQ(result.ledger.unread().size(), 1u) << limit;
      EXPECT_EQ(result.ledger.unread()[0], result.ledger.refused()[0].origin);
    }
  }
}

TEST_P(FormatConformanceTest, LineThatIsTooLongIsNamedAndLeavesTheRest) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  ImportOptions options;
  options.skip_refused = true;
  options.read.limits.max_line_bytes = 1000;
  for (const std::string& before : {std::string(), sample_.three}) {
    const std::string text = before + std::string(1001, 'x') + "\n";
    for (const std::string& content : {text, Gzip(text)}) {
      const ReadResult result = ReadPath(FileOf(content), options);
      ASSERT_EQ(result.ledger.unread().size(), 1u);
      EXPECT_EQ(result.ledger.refused().back().reason, "line_too_long");
      EXPECT_EQ(result.ledger.unread()[0].line, LineBehind(before));
      EXPECT_GT(result.ledger.unread()[0].record, 0u);
    }
  }
}

TEST_P(FormatConformanceTest, FileThatIsNoDataHasNeitherLineNorRecord) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\n";
  for (const std::string& content : {pointer, std::string("BZh91AY&SY"),
                                     std::string("\xff\xfe"
                                                 "a\0",
                                                 4)}) {
    const ReadResult result = Read(content, /*skip_refused=*/true);
    ASSERT_EQ(result.ledger.refused().size(), 1u);
    EXPECT_EQ(result.ledger.refused()[0].origin, WholeFile(folder_.PathOf(sample_.file_name)));
    EXPECT_THAT(result.ledger.unread(), IsEmpty());
  }
}

TEST_P(FormatConformanceTest, RefusedArchiveIsNamedWithoutAGraph) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  ImportOptions options;
  options.skip_refused = true;
  options.read.limits.max_members = 1;
  const std::string path =
      folder_.Write("a.tar", testing::Tar({{sample_.file_name, sample_.three}, {"b", ""}}));
  const ReadResult result = ReadPath(path, options);
  EXPECT_EQ(result.graphs, Three());
  ASSERT_EQ(result.ledger.refused().size(), 1u);
  EXPECT_EQ(result.ledger.refused()[0].origin, WholeFile(path));
  EXPECT_EQ(result.ledger.refused()[0].id, "");
  EXPECT_EQ(result.ledger.refused()[0].reason, "too_many_members");
  EXPECT_EQ(result.ledger.unread().size(), 1u);
}

TEST_P(FormatConformanceTest, EmptyFileIsRefusedByName) {
  EXPECT_THAT(Read("").status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(sample_.file_name)));
  EXPECT_THAT(Read("", /*skip_refused=*/true).graphs, IsEmpty());
}

TEST_P(FormatConformanceTest, MissingFileIsNotFound) {
  ImportOptions options;
  options.skip_refused = true;
  EXPECT_THAT(ReadPath(folder_.PathOf("none"), options).status,
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
}

TEST_P(FormatConformanceTest, FolderWithoutFilesIsAnError) {
  EXPECT_FALSE(ReadPath(folder_.PathOf("")).status.ok());
}

TEST_P(FormatConformanceTest, LimitOfRecordsHolds) {
  if (GetParam().open_blocks != nullptr) GTEST_SKIP() << "the format takes a file whole or not at all";
  ImportOptions options;
  options.limit = 2;
  EXPECT_THAT(ReadPath(FileOf(sample_.three), options).graphs, ElementsAre(Three()[0], Three()[1]));
}

TEST_P(FormatConformanceTest, GzipIsReadAsPlainWhereverItsMembersAreCut) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  ExpectThree(Read(Gzip(sample_.three)));
  for (std::size_t cut = 1; cut < sample_.three.size(); ++cut) {
    ExpectThree(Read(Gzip(sample_.three.substr(0, cut)) + Gzip(sample_.three.substr(cut))));
  }
}

TEST_P(FormatConformanceTest, CutGzipIsRefusedOrGivesNoOtherGraphs) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  const std::string packed = Gzip(sample_.three);
  for (std::size_t size = 2; size < packed.size(); ++size) {
    EXPECT_THAT(Read(packed.substr(0, size)).status, Refused("truncated_gzip", sample_.file_name)) << size;
  }
}

TEST_P(FormatConformanceTest, PiecesOfAPipeChangeNothing) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  for (const std::size_t piece : {1, 3, 64}) ExpectThree(ReadPiped(sample_.three, piece));
}

TEST_P(FormatConformanceTest, LinesMayEndInAnyWay) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  std::string windows = "\xef\xbb\xbf";
  for (const char c : sample_.three) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  ExpectThree(Read(windows));
  ExpectThree(Read(sample_.three.substr(0, sample_.three.size() - 1)));
}

TEST_P(FormatConformanceTest, CarriageReturnsAloneEndLines) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  std::string old = sample_.three;
  std::replace(old.begin(), old.end(), '\n', '\r');
  ExpectThree(Read(old));
}

TEST_P(FormatConformanceTest, BytesThatAreNotUtf8AreHarmlessWhereTheyMeanNothing) {
  if (!sample_.why_no_latin1_comment.empty()) GTEST_SKIP() << sample_.why_no_latin1_comment;
  ExpectThree(Read(sample_.latin1_comment));
}

TEST_P(FormatConformanceTest, IdThatIsNotUtf8IsRefused) {
  if (!sample_.why_no_latin1_id.empty()) GTEST_SKIP() << sample_.why_no_latin1_id;
  EXPECT_THAT(Read(sample_.latin1_id).status, Refused("not_utf8", sample_.file_name + ":"));
  const ReadResult skipped = Read(sample_.latin1_id, /*skip_refused=*/true);
  EXPECT_THAT(skipped.graphs, ElementsAre(Three()[0], Three()[2]));
}

TEST_P(FormatConformanceTest, GitLfsPointerIsRefusedByName) {
  EXPECT_THAT(
      Read("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n").status,
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a Git LFS pointer in place of the data")));
}

TEST_P(FormatConformanceTest, Utf16IsRefusedByName) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  std::string wide = "\xff\xfe";
  for (const char c : sample_.three) wide += {c, '\0'};
  EXPECT_THAT(Read(wide).status, Refused("utf16_text", sample_.file_name));
  EXPECT_THAT(Read(wide.substr(2)).status, Refused("utf16_text", sample_.file_name));
}

TEST_P(FormatConformanceTest, NulBytesNeverMakeAnotherGraph) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  const std::vector<SentGraph> three = Three();
  for (std::size_t at = 0; at < sample_.three.size(); ++at) {
    std::string damaged = sample_.three;
    damaged[at] = '\0';
    const ReadResult result = Read(damaged, /*skip_refused=*/true);
    EXPECT_LT(result.graphs.size(), 3u) << at;
    for (const SentGraph& graph : result.graphs) EXPECT_THAT(three, ::testing::Contains(graph)) << at;
  }
}

TEST_P(FormatConformanceTest, XzIsReadAsPlain) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  ExpectThree(Read(testing::Xz(sample_.three)));
  EXPECT_THAT(Read(testing::Xz(sample_.three).substr(0, 40)).status,
              Refused("truncated_xz", sample_.file_name));
}

TEST_P(FormatConformanceTest, MembersOfArchivesAreReadAsFiles) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  const std::vector<testing::ArchiveMember> members = {
      {"README", "no records"}, {"folder/" + sample_.file_name, sample_.three}, {"more.unknown", "no records"}};
  for (const std::string& archive :
       {testing::Tar(members), Gzip(testing::Tar(members)), testing::Zip(members)}) {
    const ReadResult result = ReadPath(folder_.Write("archive", archive));
    ExpectThree(result);
    EXPECT_EQ(result.ledger.passed_over(), 2u);
  }
}

TEST_P(FormatConformanceTest, RefusalInAnArchiveNamesTheMember) {
  if (sample_.reason.empty()) GTEST_SKIP() << "the format takes a file whole or not at all";
  const std::string path = folder_.Write("a.zip", testing::Zip({{sample_.file_name, sample_.second_is_bad}}));
  EXPECT_THAT(ReadPath(path).status, Refused(sample_.reason, "a.zip/" + sample_.file_name + ":"));
}

TEST_P(FormatConformanceTest, CutArchiveIsRefused) {
  if (!sample_.is_text) GTEST_SKIP() << "the format is no text";
  const std::string tar = testing::UnendedTar({{sample_.file_name, sample_.three}});
  EXPECT_THAT(ReadPath(folder_.Write("cut.tar", tar)).status, Refused("truncated_archive", "cut.tar"));
  EXPECT_THAT(ReadPath(folder_.Write("cut.tar", tar.substr(0, 520))).status,
              Refused("truncated_archive", "cut.tar"));
}

TEST_P(FormatConformanceTest, EndOfTheFileStaysTheEnd) {
  if (GetParam().open_graphs == nullptr) GTEST_SKIP() << "the format is a source of blocks";
  const std::unique_ptr<GraphReader> reader = Opened(FileOf(sample_.one));
  SourceGraph graph(reader->layout());
  EXPECT_TRUE(reader->Next(&graph).value());
  for (int call = 0; call < 3; ++call) EXPECT_FALSE(reader->Next(&graph).value());
}

TEST_P(FormatConformanceTest, RecordsBringEdgesOnlyWhereTheRowSaysSo) {
  if (GetParam().open_graphs == nullptr) GTEST_SKIP() << "the format is a source of blocks";
  const std::unique_ptr<GraphReader> reader = Opened(FileOf(sample_.three));
  SourceGraph graph(reader->layout());
  while (reader->Next(&graph).value()) {
    EXPECT_TRUE(GetParam().may_bring_edges || graph.senders.empty());
  }
  EXPECT_TRUE(GetParam().may_bring_edges || reader->layout().edges.empty());
}

class FormatRowTest : public ::testing::TestWithParam<Format> {};

TEST_P(FormatRowTest, FuzzTargetHasSeeds) {
  const std::filesystem::path seeds =
      std::string(PACKTRAIN_TEST_DATA) + "/../fuzz/corpus/format_" + std::string(GetParam().name);
  ASSERT_TRUE(std::filesystem::is_directory(seeds)) << seeds;
  EXPECT_FALSE(std::filesystem::is_empty(seeds));
}

TEST_P(FormatRowTest, RowOpensOneKindAndSaysWhatItIs) {
  const Format& row = GetParam();
  EXPECT_EQ((row.open_graphs != nullptr) + (row.open_folder != nullptr) + (row.open_blocks != nullptr), 1);
  EXPECT_FALSE(GetParam().help.empty());
  EXPECT_EQ(FindFormat(GetParam().name)->name, GetParam().name);
  for (const FormatFlag& flag : GetParam().flags)
    EXPECT_THAT(std::string(flag.name), ::testing::StartsWith("--"));
}

std::string NameOf(const ::testing::TestParamInfo<Format>& row) {
  std::string name(row.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Formats whose data set is a folder have tests of their own.
std::vector<Format> FormatsOfFiles() {
  std::vector<Format> formats;
  for (const Format& format : Formats()) {
    if (format.open_folder == nullptr) formats.push_back(format);
  }
  return formats;
}

INSTANTIATE_TEST_SUITE_P(Formats, FormatConformanceTest, ::testing::ValuesIn(FormatsOfFiles()), NameOf);
INSTANTIATE_TEST_SUITE_P(Formats, FormatRowTest, ::testing::ValuesIn(Formats().begin(), Formats().end()),
                         NameOf);

TEST(FormatTableTest, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (const Format& format : Formats()) names.insert(format.name);
  EXPECT_EQ(names.size(), Formats().size());
  EXPECT_EQ(FindFormat("nothing"), nullptr);
}

}  // namespace
}  // namespace packtrain::ingest
