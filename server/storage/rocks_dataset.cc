#include "server/storage/rocks_dataset.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/records/schema.h"
#include "server/storage/key_schema.h"

namespace packtrain::storage {
namespace {

// Most reads are of one batch, for which none of these takes the heap.
constexpr std::size_t kInlineKeys = 160;

// A graph that is asked for, and where it stands among them.
struct Wanted {
  std::uint32_t graph = 0;
  std::uint32_t k = 0;
  friend auto operator<=>(const Wanted&, const Wanted&) = default;
};

absl::InlinedVector<Wanted, kInlineKeys> Ascending(std::span<const std::uint32_t> graphs) {
  absl::InlinedVector<Wanted, kInlineKeys> wanted(graphs.size());
  for (std::uint32_t k = 0; k < graphs.size(); ++k) wanted[k] = {graphs[k], k};
  std::sort(wanted.begin(), wanted.end());
  return wanted;
}

// Its nodes, its edges, its place in a split, and its bandwidth where its nodes are renumbered.
std::uint64_t NumbersOfAGraph(const v1::Schema& schema) { return records::IsRenumbered(schema) ? 4 : 3; }

}  // namespace

absl::StatusOr<std::shared_ptr<const RocksDataset>> RocksDataset::Load(
    std::shared_ptr<const rocks::Database> database, StoredDataset stored,
    limits::MemoryBudget::Reservation memory) {
  absl::StatusOr<records::RecordLayout> layout = records::RecordLayout::Create(stored.description.schema());
  if (!layout.ok()) return absl::DataLossError(layout.status().message());
  const std::shared_ptr<RocksDataset> dataset(
      new RocksDataset(std::move(database), std::move(stored), *std::move(layout), std::move(memory)));
  ABSL_RETURN_IF_ERROR(dataset->LoadSizes());
  ABSL_RETURN_IF_ERROR(dataset->LoadSplits());
  return dataset;
}

absl::StatusOr<std::span<const std::uint32_t>> RocksDataset::Split(std::string_view name) const {
  for (const IndexSplit& split : splits_) {
    if (split.name == name) return std::span<const std::uint32_t>(split.graphs);
  }
  return NoSuchSplit(description_, name);
}

absl::StatusOr<std::vector<std::uint32_t>> RocksDataset::ReadBandwidthsAsRead(
    std::span<const std::uint32_t> graphs) const {
  if (!records::IsRenumbered(description_.schema())) return Dataset::ReadBandwidthsAsRead(graphs);
  ABSL_RETURN_IF_ERROR(CheckIndices(graphs));
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint32_t> bandwidths;
  bandwidths.reserve(graphs.size());
  std::vector<std::uint32_t> of_chunk;
  std::uint64_t read = kNone;
  for (const std::uint32_t graph : graphs) {
    const std::uint64_t chunk = graph / kSizesPerChunk;
    if (chunk != read) {
      ABSL_ASSIGN_OR_RETURN(const std::string arrays, ReadSizes(chunk));
      of_chunk.clear();
      const std::size_t column = arrays.size() / SizeArrays(/*renumbered=*/true);
      AppendIndices(std::string_view(arrays).substr(3 * column), of_chunk);
      read = chunk;
    }
    bandwidths.push_back(of_chunk[graph % kSizesPerChunk]);
  }
  return bandwidths;
}

absl::Status RocksDataset::ReadRecords(std::span<const std::uint32_t> graphs, RecordSink sink) const {
  ABSL_RETURN_IF_ERROR(CheckIndices(graphs));
  const auto wanted = Ascending(graphs);
  absl::InlinedVector<StorageKey, kInlineKeys> keys;
  absl::InlinedVector<std::string_view, kInlineKeys> views;
  keys.reserve(graphs.size());
  views.reserve(graphs.size());
  for (const Wanted& one : wanted) views.push_back(keys.emplace_back(storage_id_, one.graph).view());
  return database_->MultiGet(Family::kGraphs, views,
                             [&](std::size_t i, const absl::StatusOr<std::string_view>& value) {
                               const auto& [graph, k] = wanted[i];
                               if (!value.ok()) return Unreadable(graph, value.status());
                               return Deliver(k, graph, *value, sink);
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
  ABSL_RETURN_IF_ERROR(delivered);
  if (!scanned.ok()) return Unreadable(graph, scanned);
  return graph == n_node_.size() ? absl::OkStatus() : Missing(graph);
}

std::uint64_t RocksDataset::memory_bytes() const {
  std::uint64_t numbers = n_node_.size() + n_edge_.size() + bandwidth_.size();
  for (const IndexSplit& split : splits_) numbers += split.graphs.size();
  return numbers * sizeof(std::uint32_t) + description_.SpaceUsedLong();
}

RocksDataset::RocksDataset(std::shared_ptr<const rocks::Database> database, StoredDataset stored,
                           records::RecordLayout layout, limits::MemoryBudget::Reservation memory)
    : database_(std::move(database)),
      storage_id_(stored.storage_id),
      description_(std::move(stored.description)),
      layout_(std::move(layout)),
      memory_(std::move(memory)) {}

std::uint64_t RocksDataset::SizeBytes(const v1::Dataset& description) {
  return description.graphs() * NumbersOfAGraph(description.schema()) * sizeof(std::uint32_t);
}

absl::Status RocksDataset::Corrupt(std::string_view what) const {
  return absl::DataLossError(absl::StrCat("data set ", wire::FullName(description_), ": ", std::string(what)));
}

absl::StatusOr<std::string> RocksDataset::ReadSizes(std::uint64_t chunk) const {
  ABSL_ASSIGN_OR_RETURN(auto value, database_->Get(Family::kSizes, StorageKey(storage_id_, chunk).view()));
  const std::uint64_t column = GraphsOfChunk(description_.graphs(), chunk) * sizeof(std::uint32_t);
  const std::uint64_t bytes = SizeArrays(records::IsRenumbered(description_.schema())) * column;
  if (!value.has_value() || value->size() != bytes) return Corrupt("its sizes are incomplete");
  return *std::move(value);
}

absl::Status RocksDataset::LoadSizes() {
  const bool renumbered = records::IsRenumbered(description_.schema());
  for (std::uint64_t chunk = 0; chunk < ChunksOf(description_.graphs()); ++chunk) {
    ABSL_ASSIGN_OR_RETURN(const std::string arrays, ReadSizes(chunk));
    const std::string_view columns = arrays;
    const std::size_t column = columns.size() / SizeArrays(renumbered);
    AppendIndices(columns.substr(0, column), n_node_);
    AppendIndices(columns.substr(column, column), n_edge_);
    if (renumbered) AppendIndices(columns.substr(2 * column, column), bandwidth_);
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
    ABSL_ASSIGN_OR_RETURN(const auto value,
                          database_->Get(Family::kMeta, SplitKey(description_.version(), described.name())));
    if (value.has_value()) AppendIndices(*value, split.graphs);
    if (!IsSound(split, described.graphs())) return Corrupt(absl::StrCat("split ", split.name, " is damaged"));
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
    return absl::OutOfRangeError(absl::StrCat("data set ", wire::FullName(description_), " has ",
                                              n_node_.size(), " graphs, no graph ", graph));
  }
  return absl::OkStatus();
}

absl::Status RocksDataset::Deliver(std::uint32_t k, std::uint32_t graph, std::string_view value,
                                   RecordSink sink) const {
  const std::span<const std::byte> record = std::as_bytes(std::span(value));
  const absl::StatusOr<records::RecordView> view =
      records::RecordView::Parse(layout_, record, n_node_[graph], n_edge_[graph]);
  return view.ok() ? sink(k, *view) : Unreadable(graph, view.status());
}

absl::Status RocksDataset::Missing(std::uint32_t graph) const {
  return Unreadable(graph, absl::DataLossError("the store does not have it"));
}

absl::Status RocksDataset::Unreadable(std::uint32_t graph, const absl::Status& status) const {
  const absl::StatusCode code =
      status.code() == absl::StatusCode::kNotFound ? absl::StatusCode::kDataLoss : status.code();
  return absl::Status(
      code, absl::StrCat("data set ", wire::FullName(description_), ", graph ", graph, ": ", status.message()));
}

}  // namespace packtrain::storage
