#include "server/storage/fsck.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/storage/dataset_content.h"
#include "server/storage/graph_record.h"
#include "server/storage/seal.h"

namespace packtrain::storage {
namespace {

constexpr std::uint64_t kGraphsBetweenProgress = 1 << 16;
constexpr std::uint64_t kMostNamedGraphs = 1000;

std::uint64_t Sum(std::span<const std::uint32_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::uint32_t EndpointAt(std::span<const std::byte> endpoints, std::size_t k, std::size_t width) {
  std::uint32_t node = 0;  // little-endian, as this machine
  std::memcpy(&node, endpoints.data() + k * width, width);
  return node;
}

// What a record's checks on reading leave out.
absl::Status CheckEndpoints(const RecordView& record) {
  const std::size_t width = record.endpoint_bytes();
  if (width == 0) return absl::OkStatus();
  for (const std::span<const std::byte> endpoints : {record.senders(), record.receivers()}) {
    for (std::size_t k = 0; k < record.n_edge(); ++k) {
      const std::uint32_t node = EndpointAt(endpoints, k, width);
      if (node < record.n_node()) continue;
      return absl::DataLossError(
          absl::StrCat("edge ", k, " ends at node ", node, ", the graph has ", record.n_node(), " nodes"));
    }
  }
  return absl::OkStatus();
}

// The check of one data set.
class DatasetCheck {
 public:
  DatasetCheck(const Dataset& dataset, const std::string& reference, v1::FsckSummary& summary, FsckSink sink)
      : dataset_(dataset), reference_(reference), summary_(summary), sink_(sink) {}

  absl::Status Run() {
    if (absl::Status status = CheckTotals(); !status.ok()) return status;
    if (absl::Status status = CheckSplits(); !status.ok()) return status;
    absl::StatusOr<DatasetContent> content = DatasetContent::Create(dataset_.description().schema());
    if (!content.ok()) return Report(Finding(v1::FSCK_KIND_DATASET, content.status().message()));
    const absl::Status scanned = dataset_.ScanRecords(
        [&](std::size_t graph, const RecordView& record) { return CheckGraph(graph, record, *content); });
    if (!stopped_.ok()) return stopped_;
    return scanned.ok() ? CheckVersion(*content) : NameUnreadable(scanned);
  }

 private:
  v1::FsckFinding Finding(v1::FsckKind kind, absl::string_view message) const {
    v1::FsckFinding finding;
    finding.set_kind(kind);
    finding.set_dataset(reference_);
    finding.set_message(std::string(message));
    return finding;
  }

  absl::Status Report(v1::FsckFinding finding) {
    summary_.set_findings(summary_.findings() + 1);
    v1::FsckResponse event;
    *event.mutable_finding() = std::move(finding);
    return sink_(event);
  }

  absl::Status ReportGraph(std::size_t graph, std::string_view source_id, absl::string_view message) {
    v1::FsckFinding finding = Finding(v1::FSCK_KIND_GRAPH, message);
    finding.set_graph(graph);
    finding.set_source_id(std::string(source_id));
    return Report(std::move(finding));
  }

  absl::Status Tell(std::uint64_t done) {
    v1::FsckResponse event;
    event.mutable_progress()->set_subject(reference_);
    event.mutable_progress()->set_done(done);
    event.mutable_progress()->set_total(dataset_.description().graphs());
    return sink_(event);
  }

  absl::Status CheckGraph(std::size_t graph, const RecordView& record, DatasetContent& content) {
    summary_.set_graphs(summary_.graphs() + 1);
    if (graph % kGraphsBetweenProgress == 0) stopped_ = Tell(graph);
    const absl::Status sound = CheckEndpoints(record);
    if (stopped_.ok() && !sound.ok()) stopped_ = ReportGraph(graph, record.source_id(), sound.message());
    if (!stopped_.ok()) return stopped_;
    return content.Add(record.bytes());
  }

  absl::Status CheckTotals() {
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
        if (absl::Status status = Report(std::move(finding)); !status.ok()) return status;
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

  absl::Status CheckVersion(DatasetContent& content) {
    const std::string version = Version(content.Hash(), Splits());
    if (version == dataset_.description().version()) return absl::OkStatus();
    return Report(Finding(v1::FSCK_KIND_DATASET, absl::StrCat("its graphs and splits make version ", version)));
  }

  // One by one, after a scan that failed.
  absl::Status NameUnreadable(const absl::Status& scanned) {
    std::uint64_t named = 0;
    for (std::uint32_t graph = 0; graph < dataset_.description().graphs(); ++graph) {
      const absl::Status read = dataset_.ReadRecords(
          std::span(&graph, 1), [](std::size_t, const RecordView&) { return absl::OkStatus(); });
      if (read.ok()) continue;
      if (++named > kMostNamedGraphs) {
        return Report(Finding(v1::FSCK_KIND_DATASET, "more graphs than are named cannot be read"));
      }
      if (absl::Status status = ReportGraph(graph, "", read.message()); !status.ok()) return status;
    }
    return named > 0 ? absl::OkStatus() : Report(Finding(v1::FSCK_KIND_DATASET, scanned.message()));
  }

  const Dataset& dataset_;
  const std::string& reference_;
  v1::FsckSummary& summary_;
  const FsckSink sink_;
  absl::Status stopped_;  // the sink's failure
};

absl::Status ReportUnopened(const std::string& reference, const absl::Status& status, v1::FsckSummary& summary,
                            FsckSink sink) {
  summary.set_findings(summary.findings() + 1);
  v1::FsckResponse event;
  event.mutable_finding()->set_kind(v1::FSCK_KIND_DATASET);
  event.mutable_finding()->set_dataset(reference);
  event.mutable_finding()->set_message(std::string(status.message()));
  return sink(event);
}

}  // namespace

absl::Status FsckDataset(const Dataset& dataset, const std::string& reference, v1::FsckSummary& summary,
                         FsckSink sink) {
  return DatasetCheck(dataset, reference, summary, sink).Run();
}

absl::Status Fsck(RocksGraphStore& store, v1::FsckSummary& summary, FsckSink sink) {
  const absl::StatusOr<std::vector<std::string>> references = store.References();
  if (!references.ok()) return references.status();
  for (const std::string& reference : *references) {
    summary.set_datasets(summary.datasets() + 1);
    const absl::StatusOr<std::shared_ptr<const Dataset>> dataset = store.Open(reference);
    if (absl::IsNotFound(dataset.status())) continue;  // deleted since
    const absl::Status status = dataset.ok() ? FsckDataset(**dataset, reference, summary, sink)
                                             : ReportUnopened(reference, dataset.status(), summary, sink);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace packtrain::storage
