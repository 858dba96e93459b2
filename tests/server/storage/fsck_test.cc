#include "server/storage/fsck.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "server/records/dataset_content.h"
#include "server/storage/key_schema.h"
#include "server/storage/seal.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/sample_chains.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using packtrain::testing::Chain;
using packtrain::testing::IsOk;
using packtrain::testing::ManyMolecules;
using packtrain::testing::Molecule;
using packtrain::testing::MoleculeSchema;
using packtrain::testing::RecordOf;
using packtrain::testing::RenumberedChainSchema;
using packtrain::testing::RenumberedRecordOf;
using packtrain::testing::SampleChains;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Every finding of a check.
struct Checked {
  v1::FsckSummary summary;
  std::vector<v1::FsckFinding> findings;
};

Checked RunCheck(absl::FunctionRef<absl::Status(rocks::CheckReport& report)> check) {
  Checked checked;
  const auto take = [&checked](const v1::FsckResponse& event) {
    if (event.has_finding()) checked.findings.push_back(event.finding());
    return absl::OkStatus();
  };
  rocks::CheckReport report(take);
  EXPECT_THAT(check(report), IsOk());
  checked.summary = report.summary();
  EXPECT_EQ(checked.summary.findings(), checked.findings.size());
  return checked;
}

// A data set that the test composes and may corrupt.
class ComposedDataset final : public Dataset {
 public:
  explicit ComposedDataset(const std::vector<Molecule>& molecules)
      : ComposedDataset(MoleculeSchema(), RecordsOf(molecules)) {}

  ComposedDataset(const v1::Schema& schema, std::vector<std::string> of_graphs)
      : records(std::move(of_graphs)), layout_(*records::RecordLayout::Create(schema)) {
    records::DatasetContent content = *records::DatasetContent::Create(schema);
    for (const std::string& record : records) {
      EXPECT_THAT(content.Add(std::as_bytes(std::span(record))), IsOk());
    }
    nodes_ = content.n_node().Numbers();
    edges_ = content.n_edge().Numbers();
    bandwidths.stored = content.bandwidth().Numbers();
    bandwidths.as_read = content.bandwidth_as_read().Numbers();
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
  Bandwidths bandwidths;  // in the size index
  std::map<std::string, std::vector<std::uint32_t>> splits;

 private:
  static std::vector<std::string> RecordsOf(const std::vector<Molecule>& molecules) {
    std::vector<std::string> records;
    for (const Molecule& molecule : molecules) records.push_back(RecordOf(molecule));
    return records;
  }

  absl::Status Deliver(std::size_t k, std::uint32_t graph, RecordSink sink) const {
    const auto view = records::RecordView::Parse(layout_, std::as_bytes(std::span(records[graph])),
                                                 nodes_[graph], edges_[graph]);
    return view.ok() ? sink(k, *view) : view.status();
  }

  const records::RecordLayout layout_;
  v1::Dataset description_;
  std::vector<std::uint32_t> nodes_, edges_;
};

Checked Check(const ComposedDataset& dataset) {
  return RunCheck([&](rocks::CheckReport& report) { return FsckDataset(dataset, dataset.bandwidths, report); });
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
  dataset.records[7][records::kRecordHeaderBytes] ^= 1;  // an atomic number
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

TEST(FsckDatasetTest, ABandwidthThatIsNotThatOfTheRecordIsNamed) {
  ComposedDataset dataset(ManyMolecules(50));
  ++dataset.bandwidths.stored[11];
  const Checked checked = Check(dataset);
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].kind(), v1::FSCK_KIND_GRAPH);
  EXPECT_EQ(checked.findings[0].graph(), 11);
  EXPECT_THAT(checked.findings[0].message(), HasSubstr("bandwidth"));
}

TEST(FsckDatasetTest, GraphsBehindADamagedOneAreCheckedToo) {
  ComposedDataset dataset(ManyMolecules(50));
  dataset.records[7][0] ^= 1;
  ++dataset.bandwidths.stored[40];
  const Checked checked = Check(dataset);
  ASSERT_THAT(checked.findings, SizeIs(2));
  EXPECT_EQ(checked.findings[0].graph(), 7);
  EXPECT_EQ(checked.findings[1].graph(), 40);
  EXPECT_EQ(checked.summary.graphs(), 49);
}

TEST(FsckDatasetTest, AReportThatFailsEndsTheCheck) {
  const ComposedDataset dataset(ManyMolecules(50));
  const auto gone = [](const v1::FsckResponse&) { return absl::CancelledError("the client went away"); };
  rocks::CheckReport report(gone);
  EXPECT_THAT(FsckDataset(dataset, dataset.bandwidths, report), StatusIs(absl::StatusCode::kCancelled));
}

ComposedDataset RenumberedChains() {
  std::vector<std::string> records;
  for (const Chain& chain : SampleChains()) records.push_back(RenumberedRecordOf(chain));
  return {RenumberedChainSchema(), std::move(records)};
}

// Where field source_node begins in a record, behind place and link.
std::size_t SourceNodesAt(const std::string& record) {
  const auto layout = *records::RecordLayout::Create(RenumberedChainSchema());
  const auto view = *records::RecordView::Parse(layout, std::as_bytes(std::span(record)));
  return static_cast<std::size_t>(view.source_nodes().data() - view.bytes().data());
}

TEST(FsckDatasetTest, AWholeRenumberedDataSetHasNoFinding) {
  const Checked checked = Check(RenumberedChains());
  EXPECT_THAT(checked.findings, IsEmpty());
  EXPECT_EQ(checked.summary.graphs(), SampleChains().size());
}

TEST(FsckDatasetTest, ABandwidthAsReadThatIsNotThatOfTheRecordIsNamed) {
  ComposedDataset dataset = RenumberedChains();
  ++dataset.bandwidths.as_read[3];
  const Checked checked = Check(dataset);
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_EQ(checked.findings[0].kind(), v1::FSCK_KIND_GRAPH);
  EXPECT_EQ(checked.findings[0].graph(), 3);
  EXPECT_THAT(checked.findings[0].message(), HasSubstr("its bandwidth as read is 4, the size index has 5"));
}

TEST(FsckDatasetTest, SourceNodesThatAreNotEachNodeOnceAreNamed) {
  ComposedDataset dataset = RenumberedChains();
  const std::size_t at = SourceNodesAt(dataset.records[4]);
  dataset.records[4][at] = dataset.records[4][at + 4];
  const Checked checked = Check(dataset);
  ASSERT_THAT(checked.findings, SizeIs(2));
  EXPECT_EQ(checked.findings[0].graph(), 4);
  EXPECT_THAT(checked.findings[0].message(), HasSubstr("'source_node' does not hold each node once"));
  EXPECT_THAT(checked.findings[1].message(), HasSubstr("version"));
}

TEST(FsckTest, TheSizeIndexOfManyRenumberedGraphsHasNoFinding) {
  constexpr std::size_t kIdBytes = 6;  // at the end of a record
  const std::string samples[] = {RenumberedRecordOf({std::string(kIdBytes, '0'), 1, 1}),
                                 RenumberedRecordOf({std::string(kIdBytes, '0'), 5, 2})};
  const TemporaryFolder folder;
  const auto store = *RocksGraphStore::Open(folder.path(), {});
  const auto writer = *store->NewDataset(RenumberedChainSchema());
  for (std::uint64_t k = 0; k < kSizesPerChunk + 9; ++k) {
    std::string record = samples[k % 3 == 0 ? 1 : 0];
    record.replace(record.size() - kIdBytes, kIdBytes, std::to_string(100'000 + k));
    ASSERT_THAT(writer->Append(std::as_bytes(std::span(record))), IsOk());
  }
  ASSERT_THAT(writer->Seal(SealAs("chains")), IsOk());
  const Checked checked = RunCheck([&](rocks::CheckReport& report) { return Fsck(*store, report); });
  EXPECT_THAT(checked.findings, IsEmpty());
  EXPECT_EQ(checked.summary.graphs(), kSizesPerChunk + 9);
  EXPECT_THAT(store->Open("chains"), IsOk());
}

// What a check finds once `write` has changed the entries of a store of two data sets.
std::vector<v1::FsckFinding> FindingsAfter(absl::FunctionRef<void(rocks::Database& database)> write) {
  const TemporaryFolder folder;
  {
    const auto store = *RocksGraphStore::Open(folder.path(), {});
    EXPECT_THAT(Import(*store, ManyMolecules(30), SealWithFractions("molecules", 800, 100, 100, 3)), IsOk());
    EXPECT_THAT(Import(*store, ManyMolecules(20), SealAs("others")), IsOk());
  }
  {
    const auto database =
        *OpenGraphDatabase(RocksGraphStore::DatabaseFolder(folder.path()), kDefaultBlockCacheBytes, {});
    write(*database);
  }
  const auto database = *OpenGraphDatabaseForCheck(RocksGraphStore::DatabaseFolder(folder.path()));
  return RunCheck([&](rocks::CheckReport& report) { return Fsck(database, folder.path() / "no list", report); })
      .findings;
}

TEST(FsckIndexTest, AWholeListHasNoFinding) {
  EXPECT_THAT(FindingsAfter([](rocks::Database&) {}), IsEmpty());
}

// One change each of the list of data sets, and what is said of it.
TEST(FsckIndexTest, WhatContradictsItselfIsNamed) {
  struct Change {
    std::vector<std::pair<std::string, std::string>> written;
    std::vector<std::string> removed;
    v1::FsckKind kind;
    std::string said;
  };
  const std::string nowhere("\0\0\0\0\0\0\0\x77", 8);
  for (const Change& change : std::vector<Change>{
           {{{NameKey("lost"), "0123456789abcdef"}}, {}, v1::FSCK_KIND_DATASET, "version 0123456789abcdef"},
           {{}, {NameKey("others")}, v1::FSCK_KIND_DATASET, "bare name means no version"},
           {{{DatasetKey("broken", "0123456789abcdef"), "short"}}, {}, v1::FSCK_KIND_DATASET, "damaged"},
           {{{ContentKey("feed"), nowhere}}, {}, v1::FSCK_KIND_STORE, "content feed belongs to no data set"},
           {{{ContentKey("feed"), "id"}}, {}, v1::FSCK_KIND_STORE, "does not say where"},
           {{{SplitKey("0123456789abcdef", "train"), ""}},
            {},
            v1::FSCK_KIND_STORE,
            "split 0123456789abcdef/train"},
           {{{"unheard/of", ""}}, {}, v1::FSCK_KIND_STORE, "no known form: unheard/of"},
           {{{std::string(kFormatKey), "99"}}, {}, v1::FSCK_KIND_STORE, "format '99'"}}) {
    const std::vector<v1::FsckFinding> findings = FindingsAfter([&](rocks::Database& database) {
      EXPECT_THAT(WriteMeta(database, change.written, change.removed), IsOk());
    });
    ASSERT_THAT(findings, SizeIs(1)) << change.said;
    EXPECT_EQ(findings[0].kind(), change.kind) << change.said;
    EXPECT_THAT(findings[0].message(), HasSubstr(change.said));
  }
}

TEST(FsckIndexTest, GraphsWithoutContentAreNamedAndTheirSpaceIsToldToBeUnused) {
  const TemporaryFolder folder;
  std::string hash;
  {
    const auto store = *RocksGraphStore::Open(folder.path(), {});
    EXPECT_THAT(Import(*store, ManyMolecules(20), SealAs("others")), IsOk());
    EXPECT_THAT(store->database().Scan(Family::kMeta, kContentPrefix,
                                       [&](std::string_view key, std::string_view) {
                                         hash = key;
                                         return absl::OkStatus();
                                       }),
                IsOk());
  }
  {
    const auto database =
        *OpenGraphDatabase(RocksGraphStore::DatabaseFolder(folder.path()), kDefaultBlockCacheBytes, {});
    ASSERT_THAT(WriteMeta(*database, {}, {hash}), IsOk());
  }
  const auto database = *OpenGraphDatabaseForCheck(RocksGraphStore::DatabaseFolder(folder.path()));
  const Checked checked =
      RunCheck([&](rocks::CheckReport& report) { return Fsck(database, folder.path() / "no list", report); });
  ASSERT_THAT(checked.findings, SizeIs(1));
  EXPECT_THAT(checked.findings[0].message(), HasSubstr("does not have its graphs"));
  EXPECT_EQ(checked.summary.unused(), 1);
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

TEST(FsckTest, AFlippedBitOfAFileIsFoundInItsGraphs) {
  const TemporaryFolder folder;
  std::string reference;
  {
    const auto store = RocksGraphStore::Open(folder.path(), {});
    ASSERT_THAT(store, IsOk());
    const auto sealed = Import(**store, ManyMolecules(500), SealAs("molecules"));
    ASSERT_THAT(sealed, IsOk());
    reference = "molecules@" + sealed->dataset.version();
    ASSERT_THAT(Import(**store, ManyMolecules(20), SealAs("others")), IsOk());
    const Checked checked = RunCheck([&](rocks::CheckReport& report) { return Fsck(**store, report); });
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
  const Checked checked = RunCheck([&](rocks::CheckReport& report) { return Fsck(**store, report); });
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
