#include "server/storage/rocks_graph_store.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/rocks/big_endian.h"
#include "server/storage/dataset_content.h"
#include "server/storage/graph_record.h"
#include "server/storage/key_schema.h"
#include "server/storage/seal.h"

namespace packtrain::storage {
namespace {

// The value of a `dataset/` entry.
struct StoredDataset {
  std::uint64_t storage_id = 0;
  v1::Dataset description;
};

std::string EncodeStorageId(std::uint64_t id) {
  std::string bytes;
  rocks::AppendBigEndian(id, bytes);
  return bytes;
}

std::string Encode(const StoredDataset& stored) {
  return EncodeStorageId(stored.storage_id) + stored.description.SerializeAsString();
}

absl::StatusOr<StoredDataset> DecodeDataset(std::string_view value) {
  StoredDataset stored;
  const std::optional<std::uint64_t> id = rocks::ParseBigEndian<std::uint64_t>(value);
  if (!id) return absl::DataLossError("a data set's description is damaged");
  stored.storage_id = *id;
  const std::string_view message = value.substr(8);
  if (!stored.description.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return absl::DataLossError("a data set's description is damaged");
  }
  return stored;
}

absl::StatusOr<std::optional<StoredDataset>> FindStored(const RocksDatabase& database, std::string_view key) {
  const auto value = database.Get(Family::kMeta, key);
  if (!value.ok()) return value.status();
  if (!value->has_value()) return std::optional<StoredDataset>();
  absl::StatusOr<StoredDataset> stored = DecodeDataset(**value);
  if (!stored.ok()) return stored.status();
  return std::optional<StoredDataset>(*std::move(stored));
}

absl::StatusOr<std::optional<StoredDataset>> FindVersion(const RocksDatabase& database, std::string_view name,
                                                         std::string_view version) {
  return FindStored(database, DatasetKey(name, version));
}

std::string FullName(const v1::Dataset& description) {
  return absl::StrCat(description.name(), "@", description.version());
}

// Every entry whose key begins with `prefix`, which is kDatasetPrefix or kDeletedPrefix and more.
absl::StatusOr<std::vector<StoredDataset>> ScanStored(const RocksDatabase& database, std::string_view prefix) {
  std::vector<StoredDataset> found;
  const absl::Status status =
      database.Scan(Family::kMeta, prefix, [&](std::string_view, std::string_view value) {
        absl::StatusOr<StoredDataset> stored = DecodeDataset(value);
        if (stored.ok()) found.push_back(*std::move(stored));
        return stored.status();
      });
  if (!status.ok()) return status;
  return found;
}

// What Versions answers, with their places.
absl::StatusOr<std::vector<StoredDataset>> FindVersions(const RocksDatabase& database,
                                                        const DatasetReference& reference) {
  std::vector<StoredDataset> found;
  if (reference.version) {
    absl::StatusOr<std::optional<StoredDataset>> stored =
        FindVersion(database, reference.name, *reference.version);
    if (!stored.ok()) return stored.status();
    if (stored->has_value()) found.push_back(**std::move(stored));
  } else {
    absl::StatusOr<std::vector<StoredDataset>> all = ScanStored(database, DatasetKey(reference.name, ""));
    if (!all.ok()) return all.status();
    found = *std::move(all);
  }
  if (found.empty()) return NoSuchDataset(reference);
  return found;
}

std::vector<v1::Dataset> DescriptionsOf(const std::vector<StoredDataset>& stored) {
  std::vector<v1::Dataset> descriptions;
  for (const StoredDataset& one : stored) descriptions.push_back(one.description);
  return descriptions;
}

bool WasImportedBefore(const StoredDataset& a, const StoredDataset& b) {
  const auto rank = [](const v1::Dataset& dataset) {
    return std::pair(dataset.lineage().imported_at_ms(), std::string_view(dataset.version()));
  };
  return rank(a.description) < rank(b.description);
}

// The key of the content that lies under a storage id; empty where none does.
absl::StatusOr<std::string> ContentKeyOf(const RocksDatabase& database, std::uint64_t storage_id) {
  std::string found;
  const absl::Status status =
      database.Scan(Family::kMeta, kContentPrefix, [&](std::string_view key, std::string_view value) {
        if (rocks::ParseBigEndian<std::uint64_t>(value) == storage_id) found = key;
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return found;
}

absl::StatusOr<std::optional<std::uint64_t>> FindContent(const RocksDatabase& database, std::string_view hash) {
  const auto value = database.Get(Family::kMeta, ContentKey(hash));
  if (!value.ok()) return value.status();
  if (!value->has_value()) return std::optional<std::uint64_t>();
  return rocks::ParseBigEndian<std::uint64_t>(**value);
}

std::string IndexBytes(std::span<const std::uint32_t> indices) {
  return std::string(reinterpret_cast<const char*>(indices.data()), indices.size_bytes());
}

void AppendIndices(std::string_view bytes, std::vector<std::uint32_t>& to) {
  const std::size_t before = to.size();
  to.resize(before + bytes.size() / sizeof(std::uint32_t));
  bytes.copy(reinterpret_cast<char*>(to.data() + before), bytes.size());
}

std::uint64_t ChunksOf(std::uint64_t graphs) { return (graphs + kSizesPerChunk - 1) / kSizesPerChunk; }

std::uint64_t GraphsOfChunk(std::uint64_t graphs, std::uint64_t chunk) {
  return std::min(kSizesPerChunk, graphs - chunk * kSizesPerChunk);
}

}  // namespace

class RocksDataset : public Dataset {
 public:
  static absl::StatusOr<std::shared_ptr<const RocksDataset>> Load(std::shared_ptr<const RocksDatabase> database,
                                                                  StoredDataset stored) {
    absl::StatusOr<RecordLayout> layout = RecordLayout::Create(stored.description.schema());
    if (!layout.ok()) return absl::DataLossError(layout.status().message());
    const std::shared_ptr<RocksDataset> dataset(
        new RocksDataset(std::move(database), std::move(stored), *std::move(layout)));
    if (absl::Status status = dataset->LoadSizes(); !status.ok()) return status;
    if (absl::Status status = dataset->LoadSplits(); !status.ok()) return status;
    return dataset;
  }

  const v1::Dataset& description() const override { return description_; }
  std::span<const std::uint32_t> n_node() const override { return n_node_; }
  std::span<const std::uint32_t> n_edge() const override { return n_edge_; }

  absl::StatusOr<std::span<const std::uint32_t>> Split(std::string_view name) const override {
    for (const IndexSplit& split : splits_) {
      if (split.name == name) return std::span<const std::uint32_t>(split.graphs);
    }
    return NoSuchSplit(description_, name);
  }

  absl::Status ReadRecords(std::span<const std::uint32_t> graphs, RecordSink sink) const override {
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

  absl::Status ScanRecords(RecordSink sink) const override {
    std::uint32_t graph = 0;
    absl::Status delivered;
    const absl::Status scanned = database_->Scan(
        Family::kGraphs, StorageKey(storage_id_, 0).prefix(),
        [&](std::string_view key, std::string_view value) {
          const bool next = graph < n_node_.size() && key == StorageKey(storage_id_, graph).view();
          delivered = next ? Deliver(graph, graph, value, sink) : Missing(graph);
          if (delivered.ok()) ++graph;
          return delivered;
        });
    if (!delivered.ok()) return delivered;
    if (!scanned.ok()) return Unreadable(graph, scanned);
    return graph == n_node_.size() ? absl::OkStatus() : Missing(graph);
  }

  std::uint64_t memory_bytes() const {
    std::uint64_t numbers = n_node_.size() + n_edge_.size();
    for (const IndexSplit& split : splits_) numbers += split.graphs.size();
    return numbers * sizeof(std::uint32_t) + description_.SpaceUsedLong();
  }

 private:
  RocksDataset(std::shared_ptr<const RocksDatabase> database, StoredDataset stored, RecordLayout layout)
      : database_(std::move(database)),
        storage_id_(stored.storage_id),
        description_(std::move(stored.description)),
        layout_(std::move(layout)) {}

  std::string Name() const { return absl::StrCat(description_.name(), "@", description_.version()); }

  absl::Status Damaged(std::string_view what) const {
    return absl::DataLossError(absl::StrCat("data set ", Name(), ": ", std::string(what)));
  }

  absl::Status LoadSizes() {
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

  absl::Status LoadSplits() {
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
      if (!IsSound(split, described.graphs()))
        return Damaged(absl::StrCat("split ", split.name, " is damaged"));
    }
    return absl::OkStatus();
  }

  bool IsSound(const IndexSplit& split, std::uint64_t graphs) const {
    return split.graphs.size() == graphs && std::is_sorted(split.graphs.begin(), split.graphs.end()) &&
           (split.graphs.empty() || split.graphs.back() < description_.graphs());
  }

  absl::Status CheckIndices(std::span<const std::uint32_t> graphs) const {
    for (const std::uint32_t graph : graphs) {
      if (graph < n_node_.size()) continue;
      return absl::OutOfRangeError(
          absl::StrCat("data set ", Name(), " has ", n_node_.size(), " graphs, no graph ", graph));
    }
    return absl::OkStatus();
  }

  static std::vector<std::uint32_t> AscendingOrder(std::span<const std::uint32_t> graphs) {
    std::vector<std::uint32_t> order(graphs.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return graphs[a] < graphs[b]; });
    return order;
  }

  absl::Status Deliver(std::uint32_t k, std::uint32_t graph, std::string_view value, RecordSink sink) const {
    const std::span<const std::byte> record = std::as_bytes(std::span(value));
    const absl::StatusOr<RecordView> view = RecordView::Parse(layout_, record, n_node_[graph], n_edge_[graph]);
    return view.ok() ? sink(k, *view) : Unreadable(graph, view.status());
  }

  absl::Status Missing(std::uint32_t graph) const {
    return Unreadable(graph, absl::DataLossError("the store does not have it"));
  }

  absl::Status Unreadable(std::uint32_t graph, const absl::Status& status) const {
    const absl::StatusCode code =
        status.code() == absl::StatusCode::kNotFound ? absl::StatusCode::kDataLoss : status.code();
    return absl::Status(code, absl::StrCat("data set ", Name(), ", graph ", graph, ": ", status.message()));
  }

  const std::shared_ptr<const RocksDatabase> database_;
  const std::uint64_t storage_id_;
  const v1::Dataset description_;
  const RecordLayout layout_;
  std::vector<std::uint32_t> n_node_;  // these three are loaded once, before anybody else sees the object
  std::vector<std::uint32_t> n_edge_;
  std::vector<IndexSplit> splits_;  // as described
};

namespace {

class RocksDatasetWriter : public DatasetWriter {
 public:
  RocksDatasetWriter(const std::shared_ptr<RocksDatabase>& database, std::shared_ptr<wire::Mutex> publishing,
                     std::uint64_t storage_id, const std::filesystem::path& staging, std::uint64_t file_bytes,
                     DatasetContent content)
      : database_(database),
        publishing_(std::move(publishing)),
        storage_id_(storage_id),
        content_(std::move(content)),
        graphs_(database, Family::kGraphs, Stem(staging, storage_id, "graphs"), file_bytes),
        sizes_stem_(Stem(staging, storage_id, "sizes")),
        file_bytes_(file_bytes) {}

  absl::Status Append(std::span<const std::byte> record) override {
    const std::uint64_t graph = content_.graphs();
    if (absl::Status status = content_.Add(record); !status.ok()) return status;
    return graphs_.Add(StorageKey(storage_id_, graph).view(),
                       {reinterpret_cast<const char*>(record.data()), record.size()});
  }

  std::uint64_t graphs() const override { return content_.graphs(); }
  std::uint64_t memory_bytes() const override { return content_.memory_bytes(); }

  absl::StatusOr<SealResult> Seal(const v1::SealDatasetRequest& request) override {
    absl::StatusOr<SealedContent> sealed = SealContent(content_, request);
    if (!sealed.ok()) return sealed.status();
    const wire::MutexLock lock(*publishing_);
    const std::string& version = sealed->description.version();
    const auto existing = FindVersion(*database_, request.name(), version);
    if (!existing.ok()) return existing.status();
    if (existing->has_value()) return Keep((*existing)->description);
    return Publish(*std::move(sealed));
  }

 private:
  static std::string Stem(const std::filesystem::path& staging, std::uint64_t storage_id, const char* what) {
    return (staging / absl::StrCat(storage_id, "-", what)).string();
  }

  absl::StatusOr<SealResult> Keep(const v1::Dataset& existing) {
    const absl::Status status = database_->WriteMeta({{NameKey(existing.name()), existing.version()}});
    if (!status.ok()) return status;
    return SealResult{existing, true};
  }

  absl::StatusOr<SealResult> Publish(SealedContent sealed) {
    const absl::StatusOr<std::uint64_t> storage_id = StoredContent();
    if (!storage_id.ok()) return storage_id.status();
    const std::string& name = sealed.description.name();
    const std::string& version = sealed.description.version();
    std::vector<std::pair<std::string, std::string>> entries = {
        {ContentKey(content_.Hash()), EncodeStorageId(*storage_id)},
        {DatasetKey(name, version), Encode({*storage_id, sealed.description})},
        {NameKey(name), version}};
    for (const IndexSplit& split : sealed.splits) {
      entries.emplace_back(SplitKey(version, split.name), IndexBytes(split.graphs));
    }
    if (absl::Status status = database_->WriteMeta(entries); !status.ok()) return status;
    return SealResult{std::move(sealed.description), false};
  }

  // Where graphs of this content are in the database, which takes in the staged ones unless it has them.
  absl::StatusOr<std::uint64_t> StoredContent() {
    const auto stored = FindContent(*database_, content_.Hash());
    if (!stored.ok()) return stored.status();
    if (stored->has_value()) return **stored;
    if (!taken_in_) {
      if (absl::Status status = TakeIn(); !status.ok()) return status;
      taken_in_ = true;
    }
    return storage_id_;
  }

  absl::Status TakeIn() {
    absl::StatusOr<RocksDatabase::FilesOfFamily> graphs = graphs_.Finish();
    if (!graphs.ok()) return graphs.status();
    SortedFiles sizes(database_, Family::kSizes, sizes_stem_, file_bytes_);
    if (absl::Status status = StageSizes(sizes); !status.ok()) return status;
    absl::StatusOr<RocksDatabase::FilesOfFamily> size_files = sizes.Finish();
    if (!size_files.ok()) return size_files.status();
    return database_->Ingest({*std::move(graphs), *std::move(size_files)});
  }

  absl::Status StageSizes(SortedFiles& sizes) const {
    for (std::uint64_t chunk = 0; chunk < ChunksOf(graphs()); ++chunk) {
      const std::uint64_t begin = chunk * kSizesPerChunk;
      const std::uint64_t count = GraphsOfChunk(graphs(), chunk);
      std::string columns;
      for (const auto column : {content_.n_node(), content_.n_edge(), content_.bandwidth()}) {
        columns += IndexBytes(column.subspan(begin, count));
      }
      if (absl::Status status = sizes.Add(StorageKey(storage_id_, chunk).view(), columns); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<RocksDatabase> database_;
  const std::shared_ptr<wire::Mutex> publishing_;
  const std::uint64_t storage_id_;
  DatasetContent content_;
  SortedFiles graphs_;
  const std::string sizes_stem_;
  const std::uint64_t file_bytes_;
  bool taken_in_ = false;  // what was staged is in the database
};

absl::Status FolderFailure(const std::filesystem::path& folder, const std::error_code& error) {
  return absl::FailedPreconditionError(
      absl::StrCat("can't use folder ", folder.string(), ": ", error.message()));
}

absl::Status CreateFolders(const std::filesystem::path& folder) {
  for (const char* name : {"db", "staging"}) {
    std::error_code error;
    std::filesystem::create_directories(folder / name, error);
    if (error) return FolderFailure(folder / name, error);
  }
  return absl::OkStatus();
}

// Only with the database's lock held: another process's imports under way have their files there.
absl::Status RemoveStagedFiles(const std::filesystem::path& staging) {
  std::error_code error;
  std::filesystem::remove_all(staging, error);
  if (!error) std::filesystem::create_directory(staging, error);
  return error ? FolderFailure(staging, error) : absl::OkStatus();
}

absl::Status CheckFormat(RocksDatabase& database) {
  const auto format = database.Get(Family::kMeta, kFormatKey);
  if (!format.ok()) return format.status();
  if (!format->has_value()) return database.WriteMeta({{std::string(kFormatKey), std::string(kStoreFormat)}});
  if (**format == kStoreFormat) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the store has format ", **format,
                                                    ", this program reads format ", std::string(kStoreFormat)));
}

absl::StatusOr<absl::flat_hash_set<std::uint64_t>> PublishedIds(const RocksDatabase& database) {
  absl::flat_hash_set<std::uint64_t> ids;
  const absl::Status status =
      database.Scan(Family::kMeta, kContentPrefix, [&](std::string_view, std::string_view value) {
        const std::optional<std::uint64_t> id = rocks::ParseBigEndian<std::uint64_t>(value);
        if (!id) return absl::DataLossError("a content entry of the store is damaged");
        ids.insert(*id);
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return ids;
}

// Takes a deleted version out of `meta`, with all that no other version has, and then drops its graphs where
// none has them.
absl::Status DropDeleted(RocksDatabase& database, const StoredDataset& stored) {
  const std::string& version = stored.description.version();
  std::vector<std::string> removed = {DeletedKey(stored.description.name(), version)};
  bool shares_graphs = false, shares_splits = false;
  for (const std::string_view prefix : {kDatasetPrefix, kDeletedPrefix}) {
    const absl::StatusOr<std::vector<StoredDataset>> others = ScanStored(database, prefix);
    if (!others.ok()) return others.status();
    for (const StoredDataset& other : *others) {
      if (prefix == kDeletedPrefix && FullName(other.description) == FullName(stored.description)) continue;
      shares_graphs = shares_graphs || other.storage_id == stored.storage_id;
      shares_splits = shares_splits || other.description.version() == version;
    }
  }
  if (!shares_splits) {
    for (const v1::Split& split : stored.description.splits())
      removed.push_back(SplitKey(version, split.name()));
  }
  if (!shares_graphs) {
    absl::StatusOr<std::string> content = ContentKeyOf(database, stored.storage_id);
    if (!content.ok()) return content.status();
    if (!content->empty()) removed.push_back(*std::move(content));
  }
  if (absl::Status status = database.WriteMeta({}, removed); !status.ok()) return status;
  return shares_graphs ? absl::OkStatus() : database.DropStorage(stored.storage_id);
}

// Drops graphs and sizes that were never published, and returns the first storage id that was never used.
absl::StatusOr<std::uint64_t> DropUnpublished(RocksDatabase& database) {
  const absl::StatusOr<absl::flat_hash_set<std::uint64_t>> published = PublishedIds(database);
  if (!published.ok()) return published.status();
  std::uint64_t next = 1;
  for (const std::uint64_t id : *published) next = std::max(next, id + 1);
  for (const Family family : {Family::kGraphs, Family::kSizes}) {
    const absl::StatusOr<std::vector<std::uint64_t>> ids = database.StorageIds(family);
    if (!ids.ok()) return ids.status();
    for (const std::uint64_t id : *ids) {
      next = std::max(next, id + 1);
      if (published->contains(id)) continue;
      if (absl::Status status = database.DropStorage(id); !status.ok()) return status;
    }
  }
  return next;
}

}  // namespace

RocksGraphStore::RocksGraphStore(std::filesystem::path staging, const RocksGraphStoreOptions& options,
                                 std::shared_ptr<RocksDatabase> database, std::uint64_t next_storage_id)
    : staging_(std::move(staging)),
      options_(options),
      database_(std::move(database)),
      publishing_(std::make_shared<wire::Mutex>()),
      next_storage_id_(next_storage_id) {}

absl::StatusOr<std::unique_ptr<RocksGraphStore>> RocksGraphStore::Open(const std::filesystem::path& folder,
                                                                       const RocksGraphStoreOptions& options) {
  if (absl::Status status = CreateFolders(folder); !status.ok()) return status;
  absl::StatusOr<std::shared_ptr<RocksDatabase>> database =
      RocksDatabase::Open(folder / "db", options.database);
  if (!database.ok()) return database.status();
  const std::filesystem::path staging = folder / "staging";
  if (absl::Status status = CheckFormat(**database); !status.ok()) return status;
  if (absl::Status status = RemoveStagedFiles(staging); !status.ok()) return status;
  const absl::StatusOr<std::uint64_t> next_storage_id = DropUnpublished(**database);
  if (!next_storage_id.ok()) return next_storage_id.status();
  return std::unique_ptr<RocksGraphStore>(
      new RocksGraphStore(staging, options, *std::move(database), *next_storage_id));
}

absl::StatusOr<std::unique_ptr<DatasetWriter>> RocksGraphStore::NewDataset(const v1::Schema& schema) {
  absl::StatusOr<DatasetContent> content = DatasetContent::Create(schema);
  if (!content.ok()) return content.status();
  return std::make_unique<RocksDatasetWriter>(database_, publishing_, next_storage_id_.fetch_add(1), staging_,
                                              options_.staging_file_bytes, *std::move(content));
}

// Keeps a version from being reclaimed while it is opened.
class RocksGraphStore::Opening {
 public:
  Opening(RocksGraphStore& store, std::string full_name) : store_(store), full_name_(std::move(full_name)) {
    const wire::MutexLock lock(store_.mutex_);
    allowed_ = !store_.forbidden_.contains(full_name_);
    if (allowed_) ++store_.opening_[full_name_];
  }
  ~Opening() {
    const wire::MutexLock lock(store_.mutex_);
    if (allowed_ && --store_.opening_[full_name_] == 0) store_.opening_.erase(full_name_);
  }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

  // False where it is being reclaimed.
  bool allowed() const { return allowed_; }

 private:
  RocksGraphStore& store_;
  const std::string full_name_;
  bool allowed_ = false;
};

absl::StatusOr<DatasetReference> RocksGraphStore::Resolve(std::string_view text) const {
  DatasetReference reference = ParseReference(text);
  if (reference.version) return reference;
  auto newest = database_->Get(Family::kMeta, NameKey(reference.name));
  if (!newest.ok()) return newest.status();
  if (!newest->has_value()) return NoSuchDataset(reference);
  reference.version = **std::move(newest);
  return reference;
}

absl::StatusOr<std::shared_ptr<const Dataset>> RocksGraphStore::Open(std::string_view text) {
  const absl::StatusOr<DatasetReference> reference = Resolve(text);
  if (!reference.ok()) return reference.status();
  const std::string full_name = absl::StrCat(reference->name, "@", *reference->version);
  const Opening opening(*this, full_name);
  if (!opening.allowed()) return NoSuchDataset(*reference);
  {
    const wire::MutexLock lock(mutex_);
    if (const auto found = open_.find(full_name); found != open_.end()) {
      if (std::shared_ptr<const Dataset> dataset = found->second.lock()) return dataset;
    }
  }
  absl::StatusOr<std::optional<StoredDataset>> stored =
      FindVersion(*database_, reference->name, *reference->version);
  if (stored.ok() && !stored->has_value()) {
    stored = FindStored(*database_, DeletedKey(reference->name, *reference->version));
  }
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) return NoSuchDataset(*reference);
  absl::StatusOr<std::shared_ptr<const RocksDataset>> dataset =
      RocksDataset::Load(database_, *std::move(*stored));
  if (!dataset.ok()) return dataset.status();
  const wire::MutexLock lock(mutex_);
  open_[full_name] = *dataset;
  return std::shared_ptr<const Dataset>(*std::move(dataset));
}

absl::StatusOr<std::vector<v1::Dataset>> RocksGraphStore::List() const {
  std::vector<v1::Dataset> datasets;
  const absl::Status status =
      database_->Scan(Family::kMeta, kNamePrefix, [&](std::string_view key, std::string_view version) {
        const std::string_view name = key.substr(kNamePrefix.size());
        const absl::StatusOr<std::optional<StoredDataset>> stored = FindVersion(*database_, name, version);
        if (!stored.ok()) return stored.status();
        if (!stored->has_value()) return absl::DataLossError("a name of the store leads to no data set");
        datasets.push_back((*stored)->description);
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return datasets;
}

absl::StatusOr<std::vector<std::string>> RocksGraphStore::References() const {
  std::vector<std::string> references;
  const absl::Status status =
      database_->Scan(Family::kMeta, kDatasetPrefix, [&](std::string_view key, std::string_view) {
        references.emplace_back(key.substr(kDatasetPrefix.size()));
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return references;
}

absl::StatusOr<std::vector<v1::Dataset>> RocksGraphStore::Versions(std::string_view reference) const {
  const absl::StatusOr<std::vector<StoredDataset>> found = FindVersions(*database_, ParseReference(reference));
  if (!found.ok()) return found.status();
  return DescriptionsOf(*found);
}

absl::Status RocksGraphStore::MakeCurrent(std::string_view text) {
  const DatasetReference reference = ParseReference(text);
  const wire::MutexLock lock(*publishing_);
  const absl::StatusOr<std::vector<StoredDataset>> found = FindVersions(*database_, reference);
  if (!found.ok() || !reference.version) return found.status();
  return database_->WriteMeta({{NameKey(reference.name), *reference.version}});
}

absl::StatusOr<std::vector<v1::Dataset>> RocksGraphStore::Delete(std::string_view text) {
  const DatasetReference reference = ParseReference(text);
  const wire::MutexLock lock(*publishing_);
  const absl::StatusOr<std::vector<StoredDataset>> found = FindVersions(*database_, reference);
  if (!found.ok()) return found.status();
  std::vector<std::pair<std::string, std::string>> entries;
  std::vector<std::string> removed;
  for (const StoredDataset& stored : *found) {
    removed.push_back(DatasetKey(reference.name, stored.description.version()));
    entries.emplace_back(DeletedKey(reference.name, stored.description.version()), Encode(stored));
  }
  absl::StatusOr<std::vector<StoredDataset>> left = ScanStored(*database_, DatasetKey(reference.name, ""));
  if (!left.ok()) return left.status();
  std::erase_if(*left, [&](const StoredDataset& stored) {
    return !reference.version || stored.description.version() == *reference.version;
  });
  const absl::StatusOr<DatasetReference> current = Resolve(reference.name);
  if (!current.ok()) return current.status();
  if (left->empty()) {
    removed.push_back(NameKey(reference.name));
  } else if (current->version == reference.version) {
    const StoredDataset& newest = *std::max_element(left->begin(), left->end(), WasImportedBefore);
    entries.emplace_back(NameKey(reference.name), newest.description.version());
  }
  if (absl::Status status = database_->WriteMeta(entries, removed); !status.ok()) return status;
  return DescriptionsOf(*found);
}

absl::StatusOr<std::vector<std::string>> RocksGraphStore::Deleted() const {
  const absl::StatusOr<std::vector<StoredDataset>> found = ScanStored(*database_, kDeletedPrefix);
  if (!found.ok()) return found.status();
  std::vector<std::string> names;
  for (const StoredDataset& stored : *found) names.push_back(FullName(stored.description));
  return names;
}

absl::Status RocksGraphStore::Forbid(const std::string& full_name) {
  const wire::MutexLock lock(mutex_);
  const auto open = open_.find(full_name);
  const bool held = open != open_.end() && !open->second.expired();
  if (held || opening_.contains(full_name)) {
    return absl::FailedPreconditionError(absl::StrCat("data set ", full_name, " is in use"));
  }
  if (open != open_.end()) open_.erase(open);
  forbidden_.insert(full_name);
  return absl::OkStatus();
}

void RocksGraphStore::Allow(const std::string& full_name) {
  const wire::MutexLock lock(mutex_);
  forbidden_.erase(full_name);
}

absl::Status RocksGraphStore::Reclaim(std::string_view text) {
  const DatasetReference reference = ParseReference(text);
  const std::string full_name(text);
  const wire::MutexLock lock(*publishing_);
  const absl::StatusOr<std::optional<StoredDataset>> stored =
      FindStored(*database_, absl::StrCat(std::string(kDeletedPrefix), full_name));
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) return absl::OkStatus();
  if (absl::Status status = Forbid(full_name); !status.ok()) return status;
  const absl::Status status = DropDeleted(*database_, **stored);
  Allow(full_name);
  return status;
}

std::uint64_t RocksGraphStore::memory_bytes() const {
  std::uint64_t bytes = database_->memory_bytes();
  const wire::MutexLock lock(mutex_);
  for (const auto& [name, weak] : open_) {
    if (const std::shared_ptr<const RocksDataset> dataset = weak.lock()) bytes += dataset->memory_bytes();
  }
  return bytes;
}

}  // namespace packtrain::storage
