#include "server/storage/rocks_dataset.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/storage/key_schema.h"

namespace packtrain::storage {
namespace {

std::vector<std::uint32_t> AscendingOrder(std::span<const std::uint32_t> graphs) {
  std::vector<std::uint32_t> order(graphs.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return graphs[a] < graphs[b]; });
  return order;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const RocksDataset>> RocksDataset::Load(
    std::shared_ptr<const RocksDatabase> database, StoredDataset stored) {
  absl::StatusOr<RecordLayout> layout = RecordLayout::Create(stored.description.schema());
  if (!layout.ok()) return absl::DataLossError(layout.status().message());
  const std::shared_ptr<RocksDataset> dataset(
      new RocksDataset(std::move(database), std::move(stored), *std::move(layout)));
  if (absl::Status status = dataset->LoadSizes(); !status.ok()) return status;
  if (absl::Status status = dataset->LoadSplits(); !status.ok()) return status;
  return dataset;
}

absl::StatusOr<std::span<const std::uint32_t>> RocksDataset::Split(std::string_view name) const {
  for (const IndexSplit& split : splits_) {
    if (split.name == name) return std::span<const std::uint32_t>(split.graphs);
  }
  return NoSuchSplit(description_, name);
}

absl::Status RocksDataset::ReadRecords(std::span<const std::uint32_t> graphs, RecordSink sink) const {
  if (absl::Status status = CheckIndices(graphs); !status.ok()) return status;
  const std::vector<std::uint32_t> order = AscendingOrder(graphs);
  std::vector<StorageKey> keys;
  std::vector<std::string_view> views;
  keys.reserve(graphs.size());
  views.reserve(graphs.size());
  for (const std::uint32_t k : order) {
    views.push_back(keys.emplace_back(storage_id_, graphs[k]).view());
  }
  return database_->MultiGet(Family::kGraphs, views,
                             [&](std::size_t k, const absl::StatusOr<std::string_view>& value) {
                               const std::uint32_t graph = graphs[order[k]];
                               if (!value.ok()) return Unreadable(graph, value.status());
                               return Deliver(order[k], graph, *value, sink);
                             });
}

absl::Status RocksDataset::ScanRecords(RecordSink sink) const {
  std::uint32_t graph = 0;
  absl::Status delivered;
  const absl::Status scanned = database_->Scan(
      Family::kGraphs, StorageKey(storage_id_, 0).prefix(), [&](std::string_view key, std::string_view value) {
        const bool next = graph < n_node_.size() && key == StorageKey(storage_id_, graph).view();
        delivered = next ? Deliver(graph, graph, value, sink) : Missing(graph);
        if (delivered.ok()) ++graph;
        return delivered;
      });
  if (!delivered.ok()) return delivered;
  if (!scanned.ok()) return Unreadable(graph, scanned);
  return graph == n_node_.size() ? absl::OkStatus() : Missing(graph);
}

std::uint64_t RocksDataset::memory_bytes() const {
  std::uint64_t numbers = n_node_.size() + n_edge_.size();
  for (const IndexSplit& split : splits_) numbers += split.graphs.size();
  return numbers * sizeof(std::uint32_t) + description_.SpaceUsedLong();
}

RocksDataset::RocksDataset(std::shared_ptr<const RocksDatabase> database, StoredDataset stored,
                           RecordLayout layout)
    : database_(std::move(database)),
      storage_id_(stored.storage_id),
      description_(std::move(stored.description)),
      layout_(std::move(layout)) {}

absl::Status RocksDataset::Damaged(std::string_view what) const {
  return absl::DataLossError(absl::StrCat("data set ", FullName(description_), ": ", std::string(what)));
}

absl::Status RocksDataset::LoadSizes() {
  for (std::uint64_t chunk = 0; chunk < ChunksOf(description_.graphs()); ++chunk) {
    const auto value = database_->Get(Family::kSizes, StorageKey(storage_id_, chunk).view());
    if (!value.ok()) return value.status();
    const std::uint64_t column = GraphsOfChunk(description_.graphs(), chunk) * sizeof(std::uint32_t);
    if (!value->has_value() || (*value)->size() != 3 * column) return Damaged("its sizes are incomplete");
    const std::string_view columns = **value;
    AppendIndices(columns.substr(0, column), n_node_);
    AppendIndices(columns.substr(column, column), n_edge_);
  }
  return absl::OkStatus();
}

absl::Status RocksDataset::LoadSplits() {
  for (const v1::Split& described : description_.splits()) {
    IndexSplit& split = splits_.emplace_back(IndexSplit{described.name(), {}});
    if (described.name() == kAllSplit) {
      split.graphs.resize(description_.graphs());
      std::iota(split.graphs.begin(), split.graphs.end(), 0);
      continue;
    }
    const auto value = database_->Get(Family::kMeta, SplitKey(description_.version(), described.name()));
    if (!value.ok()) return value.status();
    if (value->has_value()) AppendIndices(**value, split.graphs);
    if (!IsSound(split, described.graphs())) return Damaged(absl::StrCat("split ", split.name, " is damaged"));
  }
  return absl::OkStatus();
}

bool RocksDataset::IsSound(const IndexSplit& split, std::uint64_t graphs) const {
  return split.graphs.size() == graphs && std::is_sorted(split.graphs.begin(), split.graphs.end()) &&
         (split.graphs.empty() || split.graphs.back() < description_.graphs());
}

absl::Status RocksDataset::CheckIndices(std::span<const std::uint32_t> graphs) const {
  for (const std::uint32_t graph : graphs) {
    if (graph < n_node_.size()) continue;
    return absl::OutOfRangeError(absl::StrCat("data set ", FullName(description_), " has ", n_node_.size(),
                                              " graphs, no graph ", graph));
  }
  return absl::OkStatus();
}

absl::Status RocksDataset::Deliver(std::uint32_t k, std::uint32_t graph, std::string_view value,
                                   RecordSink sink) const {
  const std::span<const std::byte> record = std::as_bytes(std::span(value));
  const absl::StatusOr<RecordView> view = RecordView::Parse(layout_, record, n_node_[graph], n_edge_[graph]);
  return view.ok() ? sink(k, *view) : Unreadable(graph, view.status());
}

absl::Status RocksDataset::Missing(std::uint32_t graph) const {
  return Unreadable(graph, absl::DataLossError("the store does not have it"));
}

absl::Status RocksDataset::Unreadable(std::uint32_t graph, const absl::Status& status) const {
  const absl::StatusCode code =
      status.code() == absl::StatusCode::kNotFound ? absl::StatusCode::kDataLoss : status.code();
  return absl::Status(
      code, absl::StrCat("data set ", FullName(description_), ", graph ", graph, ": ", status.message()));
}

}  // namespace packtrain::storage
