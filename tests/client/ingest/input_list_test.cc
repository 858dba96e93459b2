#include "client/ingest/input_list.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <utility>

#include "client/ingest/refusal.h"
#include "proto/base/content_hash.h"
#include "tests/client/ingest/archives.h"
#include "tests/client/ingest/bond_reader.h"
#include "tests/client/ingest/gzip.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;
using testing::Tar;
using testing::Zip;

// A line with the id of a molecule, in the format of BondReader.
std::string Molecule(const std::string& id) { return id + " C,C 0-1:1 e=1\n"; }

// A format of folders: its reader gives the lines of all files.
class FolderReader : public GraphReader {
 public:
  static absl::StatusOr<std::unique_ptr<GraphReader>> Open(InputFolder& folder, const ReadOptions& options) {
    auto reader = std::make_unique<FolderReader>();
    for (const std::string& name : folder.names()) {
      absl::StatusOr<std::unique_ptr<ByteSource>> file = folder.Open(name);
      if (!file.ok()) return file.status();
      EXPECT_THAT((*file)->path(), ::testing::EndsWith("/" + name));
      reader->files_.emplace_back(std::move(*file), options.limits);
    }
    return reader;
  }

  const GraphLayout& layout() const override { return layout_; }
  absl::StatusOr<bool> Next(SourceGraph* graph) override {
    std::string_view line;
    while (next_ < files_.size()) {
      absl::StatusOr<bool> more = files_[next_].Next(&line);
      if (!more.ok()) return more.status();
      if (*more) {
        graph->id = line;
        return true;
      }
      ++next_;
    }
    return false;
  }

 private:
  const GraphLayout layout_ = {};
  std::vector<LineReader> files_;
  std::size_t next_ = 0;
};

const Format kFolders = {
    .name = "folders", .help = "lines of folders", .extensions = {".txt"}, .open_folder = FolderReader::Open};

class InputListTest : public ::testing::Test {
 protected:
  absl::Status Open(const std::vector<std::string>& paths, const Format& format = testing::kBondFormat,
                    const ReadOptions& options = {}) {
    absl::StatusOr<std::unique_ptr<InputList>> inputs = InputList::Create(format, paths, options);
    if (!inputs.ok()) return inputs.status();
    inputs_ = *std::move(inputs);
    return absl::OkStatus();
  }
  // Ids of all graphs, and reasons of refused inputs.
  std::vector<std::string> ReadAll() {
    std::vector<std::string> ids;
    paths_.clear();
    while (true) {
      absl::StatusOr<std::unique_ptr<GraphReader>> reader = inputs_->Next();
      if (reader.ok() && *reader == nullptr) return ids;
      paths_.push_back(inputs_->path());
      if (!reader.ok()) {
        ids.push_back(ReasonOf(reader.status()));
        if (!IsRefusal(reader.status())) return ids;
        continue;
      }
      SourceGraph graph((*reader)->layout());
      for (absl::StatusOr<bool> more = true; *more;) {
        more = (*reader)->Next(&graph);
        if (!more.ok()) ids.push_back(ReasonOf(more.status()));
        if (!more.ok()) break;
        if (*more) ids.push_back(graph.id);
      }
    }
  }

  testing::TempFolder folder_;
  std::unique_ptr<InputList> inputs_;
  std::vector<std::string> paths_;  // of what ReadAll opened
};

TEST_F(InputListTest, InputsComeInTheOrderOfTheArguments) {
  const std::string zip =
      folder_.Write("z.zip", Zip({{"2.bonds", Molecule("z2")}, {"1.bonds", Molecule("z1")}}));
  const std::string file = folder_.Write("f.dat", Molecule("f1") + Molecule("f2"));
  const std::string tar =
      folder_.Write("t.tgz", Gzip(Tar({{"d/1.bonds.gz", Gzip(Molecule("t1"))}, {"README", ""}})));
  ASSERT_THAT(Open({zip, file, tar}), IsOk());
  EXPECT_THAT(ReadAll(), ElementsAre("z2", "z1", "f1", "f2", "t1"));
  EXPECT_THAT(paths_, ElementsAre(zip + "/2.bonds", zip + "/1.bonds", file, tar + "/d/1.bonds.gz"));
  ASSERT_EQ(inputs_->passed_over().size(), 1u);
  EXPECT_EQ(inputs_->passed_over()[0].path, tar);
  EXPECT_EQ(inputs_->passed_over()[0].count, 1u);
}

TEST_F(InputListTest, SourcesAreFilesAndArchivesAsTheyLie) {
  const std::string tar = Gzip(Tar({{"1.bonds", Molecule("a")}, {"2.bonds", Molecule("b")}}));
  const std::string zip = Zip({{"1.bonds", Molecule("c")}});
  ASSERT_THAT(Open({folder_.Write("t.tar.gz", tar), folder_.Write("z.zip", zip)}), IsOk());
  EXPECT_EQ(inputs_->total_bytes(), tar.size() + zip.size());
  EXPECT_EQ(ReadAll().size(), 3u);
  EXPECT_EQ(inputs_->consumed_bytes(), inputs_->total_bytes());
  ASSERT_EQ(inputs_->sources().size(), 2u);
  EXPECT_EQ(inputs_->sources()[0].name(), folder_.PathOf("t.tar.gz"));
  EXPECT_EQ(inputs_->sources()[0].bytes(), tar.size());
  EXPECT_EQ(inputs_->sources()[0].sha256(), base::HexSha256(tar));
  EXPECT_EQ(inputs_->sources()[1].sha256(), base::HexSha256(zip));
}

TEST_F(InputListTest, WhatIsLeftOfAFileIsReadForItsDigest) {
  const std::string text = Molecule("a") + std::string(2 << 20, ' ');
  ASSERT_THAT(Open({folder_.Write("a.bonds", text), folder_.Write("b.bonds", "")}), IsOk());
  inputs_->Next().value().reset();
  ASSERT_THAT(inputs_->Close(), IsOk());
  ASSERT_EQ(inputs_->sources().size(), 1u);
  EXPECT_EQ(inputs_->sources()[0].sha256(), base::HexSha256(text));
}

TEST_F(InputListTest, RefusedInputsLeaveTheirNeighboursAlone) {
  const std::string empty = folder_.Write("e.tar", Tar({}));
  const std::string tar = folder_.Write("t.tar", Tar({{"../a.bonds", ""}, {"b.bonds", Molecule("b")}}));
  ASSERT_THAT(Open({empty, tar, folder_.Write("c.bonds", Molecule("c"))}), IsOk());
  EXPECT_THAT(ReadAll(), ElementsAre("empty_archive", "unsafe_name", "b", "c"));
  EXPECT_THAT(paths_, ElementsAre(empty, tar + "/../a.bonds", tar + "/b.bonds", folder_.PathOf("c.bonds")));
}

TEST_F(InputListTest, AllIsReadAgainFromTheStart) {
  const std::string tar = folder_.Write("t.tar", Tar({{"a.bonds", Molecule("a")}, {"b.bonds", Molecule("b")}}));
  ASSERT_THAT(Open({tar, folder_.Write("c.bonds", Molecule("c"))}), IsOk());
  EXPECT_TRUE(inputs_->can_restart());
  inputs_->Next().value().reset();
  ASSERT_THAT(inputs_->Restart(), IsOk());
  EXPECT_EQ(inputs_->consumed_bytes(), 0u);
  EXPECT_THAT(ReadAll(), ElementsAre("a", "b", "c"));
  ASSERT_THAT(inputs_->Restart(), IsOk());
  EXPECT_THAT(ReadAll(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(inputs_->sources().size(), 2u);
}

TEST_F(InputListTest, FileThatChangedBetweenReadingsEndsTheImport) {
  ASSERT_THAT(Open({folder_.Write("a.bonds", Molecule("a"))}), IsOk());
  EXPECT_THAT(ReadAll(), ElementsAre("a"));
  folder_.Write("a.bonds", Molecule("b"));
  ASSERT_THAT(inputs_->Restart(), IsOk());
  inputs_->Next().value().reset();
  EXPECT_THAT(inputs_->Next(),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("a.bonds: the file has changed")));
}

TEST_F(InputListTest, PipesCannotBeReadAgain) {
  const std::string pipe = folder_.PathOf("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_THAT(Open({pipe}), IsOk());
  EXPECT_FALSE(inputs_->can_restart());
  EXPECT_EQ(inputs_->total_bytes(), 0u);
}

TEST_F(InputListTest, NamesThatAreNotUtf8AreAnError) {
  EXPECT_THAT(Open({folder_.Write("a\xff.bonds", "")}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("UTF-8")));
  EXPECT_THAT(Open({folder_.PathOf("none")}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
}

TEST_F(InputListTest, ArchivesAreReadAsFolders) {
  const std::vector<testing::ArchiveMember> members = {
      {"d/b.txt", "b1\nb2\n"}, {"d/a.txt.gz", Gzip("a1\n")}, {"d/README", "no record"}};
  for (const std::string& archive : {Tar(members), Gzip(Tar(members)), Zip(members)}) {
    const std::string path = folder_.Write("d.archive", archive);
    ASSERT_THAT(Open({path}, kFolders), IsOk());
    EXPECT_THAT(ReadAll(), ElementsAre("a1", "b1", "b2"));
    EXPECT_THAT(paths_, ElementsAre(path));
    EXPECT_EQ(inputs_->consumed_bytes(), archive.size());
    ASSERT_EQ(inputs_->sources().size(), 1u);
    EXPECT_EQ(inputs_->sources()[0].sha256(), base::HexSha256(archive));
    EXPECT_EQ(inputs_->passed_over().at(0).count, 1u);
  }
}

TEST_F(InputListTest, FoldersAreReadWhole) {
  folder_.Write("b.txt", "b1\n");
  folder_.Write("a.txt", "a1\n");
  folder_.Write("README", "no record");
  ASSERT_THAT(Open({folder_.PathOf("")}, kFolders), IsOk());
  EXPECT_THAT(ReadAll(), ElementsAre("a1", "b1"));
  ASSERT_EQ(inputs_->sources().size(), 2u);
  EXPECT_EQ(inputs_->sources()[0].sha256(), base::HexSha256("a1\n"));
  EXPECT_EQ(inputs_->passed_over().at(0).count, 1u);
}

TEST_F(InputListTest, WhatIsNoFolderIsRefused) {
  const std::string twice = folder_.Write("twice.tar", Tar({{"a.txt", "1"}, {"a.txt", "2"}}));
  const std::string pointer = folder_.Write("pointer.txt", "version https://git-lfs.github.com/spec/v1\n");
  ASSERT_THAT(Open({folder_.Write("a.txt", "a1\n"), twice, pointer}, kFolders), IsOk());
  EXPECT_THAT(ReadAll(), ElementsAre("no_folder", "duplicate_member", "git_lfs_pointer"));
}

TEST_F(InputListTest, UnpackingAFolderStopsAtTheLimit) {
  ReadOptions options;
  options.limits.max_unpacked_bytes = 5'000;
  const std::string text(3'000, 'x');
  ASSERT_THAT(Open({folder_.Write("d.zip", Zip({{"a.txt", text}, {"b.txt", text}}))}, kFolders, options),
              IsOk());
  EXPECT_THAT(ReadAll(), ElementsAre("unpacked_limit"));
}

}  // namespace
}  // namespace packtrain::ingest
