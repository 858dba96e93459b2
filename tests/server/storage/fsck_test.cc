#include "server/storage/fsck.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/storage/seal.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::ManyMolecules;
using packtrain::testing::Molecule;
using packtrain::testing::MoleculeSchema;
using packtrain::testing::RecordOf;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Every finding of a check.
struct Checked {
  v1::FsckSummary summary;
  std::vector<v1::FsckFinding> findings;
};

auto Into(Checked& checked) {
  return [&checked](const v1::FsckResponse& event) {
    if (event.has_finding()) checked.findings.push_back(event.finding());
    return absl::OkStatus();
  };
}

// A data set that the test composes and may corrupt.
class ComposedDataset final : public Dataset {
 public:
  explicit ComposedDataset(const std::vector<Molecule>& molecules)
      : layout_(*RecordLayout::Create(MoleculeSchema())) {
    DatasetContent content = *DatasetContent::Create(MoleculeSchema());
    for (const Molecule& molecule : molecules) {
      records.push_back(RecordOf(molecule));
      EXPECT_THAT(content.Add(std::as_bytes(std::span(records.back()))), IsOk());
    }
    nodes_.assign(content.n_node().begin(), content.n_node().end());
    edges_.assign(content.n_edge().begin(), content.n_edge().end());
    SealedContent sealed = *SealContent(content, SealWithFractions("composed", 800, 100, 100, 3));
    description_ = sealed.description;
    for (IndexSplit& split : sealed.splits) splits[split.name] = std::move(split.graphs);
  }

  const v1::Dataset& description() const override { return description_; }
  std::span<const std::uint32_t> n_node() const override { return nodes_; }
  std::span<const std::uint32_t> n_edge() const override { return edges_; }
  absl::StatusOr<std::span<const std::uint32_t>> Split(std::string_view name) const override {
    return std::span<const std::uint32_t>(splits.at(std::string(name)));
  }
  absl::Status ReadRecords(std::span<const std::uint32_t> graphs, RecordSink sink) const override {
    for (std::size_t k = 0; k < graphs.size(); ++k) {
      if (absl::Status status = Deliver(k, graphs[k], sink); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  absl::Status ScanRecords(RecordSink sink) const override {
    for (std::uint32_t graph = 0; graph < records.size(); ++graph) {
      if (absl::Status status = Deliver(graph, graph, sink); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  std::string reference() const { return description_.name() + "@" + description_.version(); }

  std::vector<std::string> records;
  std::map<std::string, std::vector<std::uint32_t>> splits;

 private:
  absl::Status Deliver(std::size_t k, std::uint32_t graph, RecordSink sink) const {
    const auto view =
        RecordView::Parse(layout_, std::as_bytes(std::span(records[graph])), nodes_[graph], edges_[graph]);
    return view.ok() ? sink(k, *view) : view.status();
  }

  const RecordLayout layout_;
  v1::Dataset description_;
  std::vector<std::uint32_t> nodes_, edges_;
};

Checked Check(const ComposedDataset& dataset) {
  Checked checked;
  EXPECT_THAT(FsckDataset(dataset, dataset.reference(), checked.summary, Into(checked)), IsOk());
  EXPECT_EQ(checked.summary.findings(), checked.findings.size());
  return checked;
}

TEST(FsckDatasetTest, AWholeDataSetHasNoFinding) {
  const ComposedDataset dataset(ManyMolecules(50));
  const Checked checked = Check(dataset);
  EXPECT_THAT(checked.findings, IsEmpty());
  EXPECT_EQ(checked.summary.graphs(), 50);
}

TEST(FsckDatasetTest, EachRecordThatDoesNotParseIsNamed) {
  ComposedDataset dataset(ManyMolecules(50));
  dataset.records[7][0] ^= 1;   // the format's number
  dataset.records[31][4] ^= 1;  // n_node
  const Checked checked = Check(dataset);
  ASSERT_THAT(checked.findings, SizeIs(2));
  for (const v1::FsckFinding& finding : checked.findings) {
    EXPECT_EQ(finding.kind(), v1::FSCK_KIND_GRAPH);
    EXPECT_EQ(finding.dataset(), dataset.reference());
  }
  EXPECT_EQ(checked.findings[0].graph(), 7);
  EXPECT_EQ(checked.findings[1].graph(), 31);
}

TEST(FsckDatasetTest, AnElementThatChangedShowsInTheVersion) {
  ComposedDataset dataset(ManyMolecules(50));
  dataset.records[7][kRecordHeaderBytes] ^= 1;  // an atomic number
  const Checked checked = Check(dataset);
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].kind(), v1::FSCK_KIND_DATASET);
  EXPECT_THAT(checked.findings[0].message(), HasSubstr("version"));
}

TEST(FsckDatasetTest, ASplitThatChangedShowsInTheVersionAndWhereItSharesAGraph) {
  ComposedDataset dataset(ManyMolecules(50));
  dataset.splits["val"][0] = dataset.splits["train"][0];
  const Checked checked = Check(dataset);
  ASSERT_THAT(checked.findings, SizeIs(2));
  EXPECT_EQ(checked.findings[0].kind(), v1::FSCK_KIND_SPLIT);
  EXPECT_EQ(checked.findings[0].split(), "val");
  EXPECT_EQ(checked.findings[1].kind(), v1::FSCK_KIND_DATASET);
}

TEST(FsckDatasetTest, ASinkThatFailsEndsTheCheck) {
  const ComposedDataset dataset(ManyMolecules(50));
  v1::FsckSummary summary;
  EXPECT_THAT(FsckDataset(dataset, "composed", summary,
                          [](const v1::FsckResponse&) { return absl::CancelledError("the client went away"); }),
              StatusIs(absl::StatusCode::kCancelled));
}

// The largest sorted file: that of the graphs.
std::filesystem::path GraphsFile(const std::filesystem::path& db) {
  std::filesystem::path largest;
  for (const auto& entry : std::filesystem::directory_iterator(db)) {
    if (entry.path().extension() != ".sst") continue;
    if (largest.empty() || entry.file_size() > file_size(largest)) largest = entry.path();
  }
  return largest;
}

TEST(FsckTest, AFlippedBitOfAFileIsFoundInTheFileAndItsGraphs) {
  const TemporaryFolder folder;
  std::string reference;
  {
    const auto store = RocksGraphStore::Open(folder.path(), {});
    ASSERT_THAT(store, IsOk());
    const auto sealed = Import(**store, ManyMolecules(500), SealAs("molecules"));
    ASSERT_THAT(sealed, IsOk());
    reference = "molecules@" + sealed->dataset.version();
    ASSERT_THAT(Import(**store, ManyMolecules(20), SealAs("others")), IsOk());
    Checked checked;
    EXPECT_THAT(Fsck(**store, checked.summary, Into(checked)), IsOk());
    EXPECT_THAT(checked.findings, IsEmpty());
    EXPECT_EQ(checked.summary.datasets(), 2);
    EXPECT_EQ(checked.summary.graphs(), 520);
  }
  const std::filesystem::path damaged = GraphsFile(folder.path() / "db");
  std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(file_size(damaged) / 2));
  file.put('\x55');
  file.close();
  const auto store = RocksGraphStore::Open(folder.path(), {});
  ASSERT_THAT(store, IsOk());
  std::vector<std::string> bad_files;
  EXPECT_THAT((*store)->VerifyFiles([&](const std::string& path, const absl::Status& status) {
    if (!status.ok()) bad_files.push_back(path);
    return absl::OkStatus();
  }),
              IsOk());
  ASSERT_THAT(bad_files, SizeIs(1));
  EXPECT_EQ(std::filesystem::path(bad_files[0]).filename(), damaged.filename());
  Checked checked;
  EXPECT_THAT(Fsck(**store, checked.summary, Into(checked)), IsOk());
  ASSERT_THAT(checked.findings, Not(IsEmpty()));
  for (const v1::FsckFinding& finding : checked.findings) {
    EXPECT_EQ(finding.kind(), v1::FSCK_KIND_GRAPH);
    EXPECT_EQ(finding.dataset(), reference);
    EXPECT_THAT(finding.message(), HasSubstr("graph " + std::to_string(finding.graph())));
  }
  EXPECT_LT(checked.findings.size(), 100);  // of one block
}

}  // namespace
}  // namespace packtrain::storage
