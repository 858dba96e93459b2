#include "server/storage/fsck.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/records/dataset_content.h"
#include "server/records/graph_record.h"
#include "server/records/graph_validator.h"
#include "server/records/schema.h"
#include "server/storage/key_schema.h"
#include "server/storage/rocks_dataset.h"
#include "server/storage/seal.h"
#include "server/storage/sealed_list.h"

namespace packtrain::storage {
namespace {

constexpr std::uint64_t kGraphsBetweenProgress = 1 << 16;
constexpr std::uint64_t kMaxNamedGraphs = 1000;

std::uint64_t Sum(std::span<const std::uint32_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// What a record's checks on reading skip.
absl::Status CheckEndpoints(const records::RecordView& record) {
  const std::size_t width = record.endpoint_bytes();
  if (width == 0) return absl::OkStatus();
  for (const std::span<const std::byte> endpoints : {record.senders(), record.receivers()}) {
    for (std::size_t k = 0; k < record.n_edge(); ++k) {
      const std::uint32_t node = records::NumberAt(endpoints, k, width);
      if (node < record.n_node()) continue;
      return absl::DataLossError(
          absl::StrCat("edge ", k, " ends at node ", node, ", the graph has ", record.n_node(), " nodes"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSourceNodes(const records::RecordView& record) {
  const std::span<const std::byte> nodes = record.source_nodes();
  if (nodes.empty() || records::HoldsEachNodeOnce(nodes, record.n_node())) return absl::OkStatus();
  return absl::DataLossError("its field 'source_node' does not hold each node once");
}

absl::Status CheckBandwidth(std::string_view name, std::uint32_t in_record, std::uint32_t in_index) {
  if (in_record == in_index) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("its ", std::string(name), " is ", in_record, ", the size index has ", in_index));
}

// The check of one data set.
class DatasetCheck {
 public:
  DatasetCheck(const Dataset& dataset, const absl::StatusOr<Bandwidths>& bandwidths, rocks::CheckReport& report)
      : dataset_(dataset),
        bandwidths_(bandwidths),
        reference_(wire::FullName(dataset.description())),
        report_(report) {}

  absl::Status Run() {
    ABSL_RETURN_IF_ERROR(CheckIndex());
    ABSL_RETURN_IF_ERROR(CheckSplits());
    absl::StatusOr<records::DatasetContent> content =
        records::DatasetContent::Create(dataset_.description().schema());
    if (!content.ok()) return Report(Finding(v1::FSCK_KIND_DATASET, content.status().message()));
    const absl::Status scanned =
        dataset_.ScanRecords([&](std::size_t graph, const records::RecordView& record) {
          stopped_ = CheckGraph(graph, record);
          checked_ = graph + 1;
          return stopped_.ok() ? content->Add(record.bytes()) : stopped_;
        });
    ABSL_RETURN_IF_ERROR(stopped_);
    return scanned.ok() ? CheckVersion(*content) : CheckOneByOne(scanned);
  }

 private:
  v1::FsckFinding Finding(v1::FsckKind kind, absl::string_view message) const {
    v1::FsckFinding finding = rocks::Finding(kind, {message.data(), message.size()});
    finding.set_dataset(reference_);
    return finding;
  }

  absl::Status Report(v1::FsckFinding finding) { return report_.Find(std::move(finding)); }

  absl::Status ReportGraph(std::size_t graph, std::string_view source_id, absl::string_view message) {
    if (++named_ > kMaxNamedGraphs + 1) return absl::OkStatus();
    if (named_ > kMaxNamedGraphs) {
      return Report(Finding(v1::FSCK_KIND_DATASET, "more graphs than are named are damaged"));
    }
    v1::FsckFinding finding = Finding(v1::FSCK_KIND_GRAPH, message);
    finding.set_graph(graph);
    finding.set_source_id(std::string(source_id));
    return Report(std::move(finding));
  }

  absl::Status CheckGraph(std::size_t graph, const records::RecordView& record) {
    report_.summary().set_graphs(report_.summary().graphs() + 1);
    report_.CountBytes(record.bytes().size());
    if (graph % kGraphsBetweenProgress == 0) {
      const absl::Status told = report_.Tell(reference_, graph, dataset_.description().graphs());
      ABSL_RETURN_IF_ERROR(told);
    }
    absl::Status sound = CheckEndpoints(record);
    if (sound.ok()) sound = CheckSourceNodes(record);
    if (sound.ok()) sound = CheckBandwidths(graph, record);
    return sound.ok() ? absl::OkStatus() : ReportGraph(graph, record.source_id(), sound.message());
  }

  absl::Status CheckBandwidths(std::size_t graph, const records::RecordView& record) const {
    if (!bandwidths_.ok()) return absl::OkStatus();
    ABSL_RETURN_IF_ERROR(CheckBandwidth("bandwidth", record.bandwidth(), bandwidths_->stored[graph]));
    if (bandwidths_->as_read.empty()) return absl::OkStatus();
    return CheckBandwidth("bandwidth as read", record.bandwidth_as_read(), bandwidths_->as_read[graph]);
  }

  absl::Status CheckIndex() {
    if (!bandwidths_.ok()) {
      const absl::Status told = Report(Finding(v1::FSCK_KIND_DATASET, bandwidths_.status().message()));
      ABSL_RETURN_IF_ERROR(told);
    }
    const v1::Dataset& description = dataset_.description();
    const std::uint64_t nodes = Sum(dataset_.n_node()), edges = Sum(dataset_.n_edge());
    if (nodes == description.nodes().total() && edges == description.edges().total()) return absl::OkStatus();
    return Report(
        Finding(v1::FSCK_KIND_DATASET,
                absl::StrCat("its sizes have ", nodes, " nodes and ", edges, " edges, its description ",
                             description.nodes().total(), " and ", description.edges().total())));
  }

  absl::Status CheckSplits() {
    std::vector<bool> taken(dataset_.description().graphs());
    for (const IndexSplit& split : Splits()) {
      for (const std::uint32_t graph : split.graphs) {
        if (!taken[graph]) {
          taken[graph] = true;
          continue;
        }
        v1::FsckFinding finding =
            Finding(v1::FSCK_KIND_SPLIT, absl::StrCat("graph ", graph, " is in a split already"));
        finding.set_split(split.name);
        ABSL_RETURN_IF_ERROR(Report(std::move(finding)));
        break;
      }
    }
    return absl::OkStatus();
  }

  // As sealed: in their order, without "all".
  std::vector<IndexSplit> Splits() const {
    std::vector<IndexSplit> splits;
    for (const v1::Split& split : dataset_.description().splits()) {
      if (split.name() == kAllSplit) continue;
      const absl::StatusOr<std::span<const std::uint32_t>> graphs = dataset_.Split(split.name());
      if (graphs.ok()) splits.push_back({split.name(), {graphs->begin(), graphs->end()}});
    }
    return splits;
  }

  absl::Status CheckVersion(records::DatasetContent& content) {
    const std::string version = Version(content.Hash(), Splits());
    if (version == dataset_.description().version()) return absl::OkStatus();
    return Report(Finding(v1::FSCK_KIND_DATASET, absl::StrCat("its graphs and splits make version ", version)));
  }

  // The graphs behind the one where the scan failed, and that one.
  absl::Status CheckOneByOne(const absl::Status& scanned) {
    const std::uint64_t named_before = named_;
    for (std::uint32_t graph = checked_; graph < dataset_.description().graphs(); ++graph) {
      const absl::Status read = dataset_.ReadRecords(
          std::span(&graph, 1),
          [&](std::size_t, const records::RecordView& record) { return stopped_ = CheckGraph(graph, record); });
      ABSL_RETURN_IF_ERROR(stopped_);
      if (read.ok()) continue;
      ABSL_RETURN_IF_ERROR(ReportGraph(graph, "", read.message()));
    }
    return named_ > named_before ? absl::OkStatus() : Report(Finding(v1::FSCK_KIND_DATASET, scanned.message()));
  }

  const Dataset& dataset_;
  const absl::StatusOr<Bandwidths>& bandwidths_;
  const std::string reference_;
  rocks::CheckReport& report_;
  std::uint32_t checked_ = 0;  // graphs that the scan has read
  std::uint64_t named_ = 0;    // graphs
  absl::Status stopped_;       // the report's failure
};

// The arrays of `sizes` behind the first two. DATA_LOSS: they are incomplete.
absl::StatusOr<Bandwidths> ReadBandwidths(const rocks::Database& database, const StoredDataset& stored) {
  const std::uint64_t graphs = stored.description.graphs();
  const std::uint64_t arrays = SizeArrays(records::IsRenumbered(stored.description.schema()));
  Bandwidths bandwidths;
  for (std::uint64_t chunk = 0; chunk < ChunksOf(graphs); ++chunk) {
    ABSL_ASSIGN_OR_RETURN(const auto value,
                          database.Get(Family::kSizes, StorageKey(stored.storage_id, chunk).view()));
    const std::uint64_t column = GraphsOfChunk(graphs, chunk) * sizeof(std::uint32_t);
    if (!value.has_value() || value->size() != arrays * column) {
      return absl::DataLossError("its sizes are incomplete");
    }
    AppendIndices(std::string_view(*value).substr(2 * column, column), bandwidths.stored);
    AppendIndices(std::string_view(*value).substr(3 * column), bandwidths.as_read);
  }
  return bandwidths;
}

absl::Status ReportUnopened(const std::string& reference, const absl::Status& status,
                            rocks::CheckReport& report) {
  v1::FsckFinding finding =
      rocks::Finding(v1::FSCK_KIND_DATASET, {status.message().data(), status.message().size()});
  finding.set_dataset(reference);
  return report.Find(std::move(finding));
}

// What was sealed and is not there any more.
absl::Status ReportLost(const std::vector<v1::Dataset>& lost, rocks::CheckReport& report) {
  for (const v1::Dataset& dataset : lost) {
    v1::FsckFinding finding = rocks::Finding(
        v1::FSCK_KIND_DATASET,
        absl::StrCat("it was sealed here with ", dataset.graphs(), " graphs, and the store has lost it"));
    finding.set_dataset(wire::FullName(dataset));
    ABSL_RETURN_IF_ERROR(report.Find(std::move(finding)));
  }
  return absl::OkStatus();
}

using OpenDataset =
    absl::FunctionRef<absl::StatusOr<std::shared_ptr<const Dataset>>(const StoredDataset& stored)>;

absl::Status Check(const rocks::Database& database, const IndexCheck& index, OpenDataset open,
                   rocks::CheckReport& report) {
  report.summary().set_unused(index.unused);
  for (const v1::FsckFinding& finding : index.findings) {
    ABSL_RETURN_IF_ERROR(report.Find(finding));
  }
  for (const StoredDataset& stored : index.datasets) {
    report.summary().set_datasets(report.summary().datasets() + 1);
    const absl::StatusOr<std::shared_ptr<const Dataset>> dataset = open(stored);
    if (absl::IsNotFound(dataset.status())) continue;  // deleted since
    const absl::Status status =
        dataset.ok() ? FsckDataset(**dataset, ReadBandwidths(database, stored), report)
                     : ReportUnopened(wire::FullName(stored.description), dataset.status(), report);
    ABSL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FsckDataset(const Dataset& dataset, const absl::StatusOr<Bandwidths>& bandwidths,
                         rocks::CheckReport& report) {
  return DatasetCheck(dataset, bandwidths, report).Run();
}

absl::Status Fsck(RocksGraphStore& store, rocks::CheckReport& report) {
  ABSL_RETURN_IF_ERROR(ReportLost(store.Lost(""), report));
  const auto open = [&store](const StoredDataset& stored) {
    return store.Open(wire::FullName(stored.description));
  };
  return Check(store.database(), store.CheckIndex(), open, report);
}

absl::Status Fsck(const std::shared_ptr<const rocks::Database>& database,
                  const std::filesystem::path& sealed_file, rocks::CheckReport& report) {
  const auto sealed = SealedList::OpenForCheck(sealed_file, database);
  if (sealed.ok()) {
    ABSL_RETURN_IF_ERROR(ReportLost((*sealed)->Lost(std::nullopt), report));
  } else {
    v1::FsckFinding finding = rocks::Finding(v1::FSCK_KIND_FILE, std::string(sealed.status().message()));
    finding.set_file(sealed_file.string());
    ABSL_RETURN_IF_ERROR(report.Find(std::move(finding)));
  }
  const auto open = [&](const StoredDataset& stored) -> absl::StatusOr<std::shared_ptr<const Dataset>> {
    return RocksDataset::Load(database, stored);
  };
  return Check(*database, CheckIndex(*database), open, report);
}

}  // namespace packtrain::storage
