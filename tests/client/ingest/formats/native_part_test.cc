#include "client/ingest/formats/native_part.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "client/ingest/formats/format_table.h"
#include "client/ingest/formats/native_file.h"
#include "client/ingest/import_identity.h"
#include "client/ingest/import_pipeline.h"
#include "client/ingest/label_table.h"
#include "client/ingest/local_records.h"
#include "tests/client/ingest/formats/read_file.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Optional;
using testing::StatusIs;

class NativePartTest : public ::testing::Test {
 protected:
  // Imports `text` as extxyz into a part, and returns its path.
  std::string MakePart(const std::string& name, const std::string& text) {
    ImportOptions options;
    options.paths = {folder_.Write(name + ".xyz", text)};
    options.edges = "knn:1";
    ImportPipeline pipeline(*FindFormat("extxyz"), options);
    std::string path = folder_.PathOf(name + ".packtrain");
    const std::unique_ptr<NativePart> part = NativePart::Create(path).value();
    LocalRecords records(*part);
    std::ostringstream progress;
    const absl::StatusOr<v1::ImportGraphsResponse> staged = pipeline.Run(records, {progress});
    EXPECT_THAT(staged, IsOk());
    EXPECT_THAT(part->Commit(pipeline.SealRequest(*staged, "")), IsOk());
    EXPECT_EQ(part->bytes(), std::filesystem::file_size(path));
    return path;
  }

  testing::ReadResult Join(const std::vector<std::string>& paths) {
    ImportOptions options;
    options.paths = paths;
    return testing::ReadBy(*FindFormat("native"), options);
  }

  testing::TempFolder folder_;
};

TEST_F(NativePartTest, PartsAreJoinedInTheOrderInWhichTheyAreNamed) {
  const std::string first = MakePart("1", "1\nid=a e=1\nC 1 2 3\n1\nid=b e=2\nH 1 2 3\n");
  const std::string second = MakePart("2", "1\nid=c e=3\nO 1 2 3\n");
  EXPECT_THAT(Join({first, second}).Ids(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Join({second, first}).Ids(), ElementsAre("c", "a", "b"));
  EXPECT_EQ(Join({first, second}).ledger.read(), 3u);
}

TEST_F(NativePartTest, APartThatIsNotWhatItWasWhenItWasHashedEndsTheImport) {
  const std::string first = MakePart("1", "1\nid=a\nC 1 2 3\n"), second = MakePart("2", "1\nid=b\nC 1 2 3\n");
  ImportOptions options;
  options.paths = {first, second};
  options.read.digests = IdentifyImport(*FindFormat("native"), options, "joined")->digests;
  EXPECT_THAT(testing::ReadBy(*FindFormat("native"), options).Ids(), ElementsAre("a", "b"));
  MakePart("2", "1\nid=c\nC 1 2 3\n");
  EXPECT_THAT(testing::ReadBy(*FindFormat("native"), options).status,
              StatusIs(absl::StatusCode::kAborted, HasSubstr("2.packtrain: the file has changed")));
}

TEST_F(NativePartTest, HeaderHasNoNameAndNoVersionAndTheSourcesAreKnownAtTheEnd) {
  const std::string path = MakePart("1", "1\nid=a\nC 1 2 3\n");
  const std::unique_ptr<NativeFile> file = NativeFile::Open(path).value();
  EXPECT_EQ(file->dataset().name(), "");
  EXPECT_EQ(file->dataset().version(), "");
  EXPECT_EQ(file->dataset().schema().edges(), "knn:1");
  v1::ExportDatasetResponse message;
  EXPECT_TRUE(file->Next(&message).value());
  EXPECT_EQ(message.block().records_size(), 1);
  EXPECT_FALSE(file->Next(&message).value());
  ASSERT_EQ(file->dataset().lineage().sources_size(), 1);
  EXPECT_EQ(file->dataset().lineage().sources(0).name(), folder_.PathOf("1.xyz"));
}

TEST_F(NativePartTest, TargetsThatNotAllPartsHaveAreLeftOutAndTold) {
  const std::string first = MakePart("1", "1\nid=a e=1 gap=2\nC 1 2 3\n1\nid=b e=1 gap=3\nC 1 2 3\n");
  const std::string second = MakePart("2", "1\nid=c gap=4\nC 1 2 3\n");
  const testing::ReadResult result = Join({first, second});
  EXPECT_THAT(result.status, IsOk());
  EXPECT_THAT(result.Ids(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(
      result.ledger.labels(),
      Optional(ElementsAre(
          LabelUse{
              .name = "e", .found = 2, .graphs = 3, .reason = "missing_in_some", .lacking_files = {second}},
          LabelUse{.name = "gap", .found = 3, .graphs = 3, .used = true})));
}

TEST_F(NativePartTest, TargetsThatAllPartsHaveAreNotLookedInto) {
  const std::string first = MakePart("1", "1\nid=a e=1\nC 1 2 3\n"),
                    second = MakePart("2", "1\nid=b e=2\nC 1 2 3\n");
  const testing::ReadResult result = Join({first, second});
  EXPECT_THAT(result.status, IsOk());
  EXPECT_THAT(result.ledger.labels(), Eq(std::nullopt));
}

TEST_F(NativePartTest, PartsOfOtherFieldsAreRefusedByName) {
  const std::string first = MakePart("1", "1\nid=a e=1\nC 1 2 3\n");
  const std::string other = MakePart("2", "1\nid=b e=1 Lattice=\"9 0 0 0 9 0 0 0 9\" pbc=\"F F F\"\nC 1 2 3\n");
  EXPECT_THAT(
      Join({first, other}).status,
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2.packtrain: its fields are z, pos, cell, pbc")));
}

TEST_F(NativePartTest, PartsWhoseFieldsHaveOtherTypesAreRefusedByThese) {
  const auto part = [&](const std::string& name, v1::DataType type) {
    v1::ImportHeader header;
    v1::Field& field = *header.mutable_schema()->add_fields();
    field.set_name("q");
    field.set_scope(v1::FIELD_SCOPE_NODE);
    field.set_data_type(type);
    field.add_dims(3);
    header.mutable_schema()->set_edge_rule(v1::EDGE_RULE_FULL);
    header.mutable_schema()->set_edges("full");
    const std::unique_ptr<NativePart> written = NativePart::Create(folder_.PathOf(name)).value();
    EXPECT_THAT(written->Begin(header), IsOk());
    EXPECT_THAT(written->Commit({}), IsOk());
    return folder_.PathOf(name);
  };
  EXPECT_THAT(Join({part("a", v1::DATA_TYPE_F32), part("b", v1::DATA_TYPE_F64)}).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("its fields are q F64 [3], those of")));
}

TEST_F(NativePartTest, PartThatIsNotCommittedLeavesNoFile) {
  const std::string path = folder_.PathOf("none.packtrain");
  {
    const std::unique_ptr<NativePart> part = NativePart::Create(path).value();
    ASSERT_THAT(part->Begin(v1::ImportHeader()), IsOk());
    ASSERT_THAT(part->Write(v1::RecordBlock()), IsOk());
    ASSERT_THAT(part->Finish(), IsOk());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(NativePartTest, PartThatIsBegunAgainHoldsWhatCameLast) {
  const std::string path = folder_.PathOf("again.packtrain");
  const std::unique_ptr<NativePart> part = NativePart::Create(path).value();
  v1::ImportHeader header;
  header.mutable_schema()->set_edges("full");
  ASSERT_THAT(part->Begin(header), IsOk());
  v1::RecordBlock block;
  block.add_records("not kept");
  ASSERT_THAT(part->Write(block), IsOk());
  ASSERT_THAT(part->Begin(header), IsOk());
  EXPECT_EQ(part->Finish()->staged(), 0u);
  ASSERT_THAT(part->Commit({}), IsOk());
  v1::ExportDatasetResponse message;
  EXPECT_FALSE(NativeFile::Open(path).value()->Next(&message).value());
}

TEST_F(NativePartTest, PartThatCannotBeWrittenIsRefusedAtOnce) {
  EXPECT_THAT(NativePart::Create("/nowhere/part"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/nowhere")));
}

}  // namespace
}  // namespace packtrain::ingest
