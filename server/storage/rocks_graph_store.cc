#include "server/storage/rocks_graph_store.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/records/dataset_content.h"
#include "server/rocks/disk_reserve.h"
#include "server/storage/key_schema.h"
#include "server/storage/reclaiming.h"
#include "server/storage/rocks_dataset_writer.h"
#include "server/storage/stored_dataset.h"

namespace packtrain::storage {
namespace {

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

absl::Status CheckFormat(rocks::Database& database) {
  ABSL_ASSIGN_OR_RETURN(const auto format, database.Get(Family::kMeta, kFormatKey));
  if (!format.has_value()) return WriteMeta(database, {{std::string(kFormatKey), std::string(kStoreFormat)}});
  if (*format == kStoreFormat) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the store has format ", *format,
                                                    ", this program reads format ", std::string(kStoreFormat)));
}

// Calls `visit` with what follows `prefix` in the keys of `meta`, ascending, from behind `after` on until it
// returns false.
absl::Status VisitKeysBehind(const rocks::Database& database, std::string_view prefix, std::string_view after,
                             absl::FunctionRef<absl::StatusOr<bool>(std::string_view key)> visit) {
  const auto behind = [&](std::string_view key) {
    return std::optional(absl::StrCat(std::string(prefix), std::string(key), std::string(1, '\0')));
  };
  return database.SkipScan(Family::kMeta, prefix,
                           [&](std::string_view found) -> absl::StatusOr<std::optional<std::string>> {
                             const std::string_view key = found.substr(prefix.size());
                             if (key <= after) return behind(after);
                             const std::optional<std::string> next = behind(key);
                             ABSL_ASSIGN_OR_RETURN(const bool more, visit(key));
                             return more ? next : std::nullopt;
                           });
}

}  // namespace

RocksGraphStore::RocksGraphStore(const std::filesystem::path& staging, const RocksGraphStoreOptions& options,
                                 std::shared_ptr<rocks::Database> database, std::shared_ptr<SealedList> sealed,
                                 std::shared_ptr<KeptImports> kept, std::uint64_t next_storage_id)
    : options_(options),
      database_(std::move(database)),
      sealed_(std::move(sealed)),
      kept_(std::move(kept)),
      publishing_(std::make_shared<base::Mutex>()),
      writing_{database_, sealed_, publishing_, staging, options_.staging_file_bytes},
      next_storage_id_(next_storage_id) {}

absl::StatusOr<std::unique_ptr<RocksGraphStore>> RocksGraphStore::Open(const std::filesystem::path& folder,
                                                                       const RocksGraphStoreOptions& options) {
  ABSL_RETURN_IF_ERROR(CreateFolders(folder));
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<rocks::Database> database,
                        OpenGraphDatabase(DatabaseFolder(folder), options.block_cache_bytes, options.database));
  const std::filesystem::path staging = folder / "staging";
  ABSL_RETURN_IF_ERROR(CheckFormat(*database));
  // Before what was never published is dropped, to know of which imports some was taken in already.
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> taken_in, StorageIds(*database, Family::kGraphs));
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<KeptImports> kept, KeptImports::Open(staging, taken_in, options.kept));
  ABSL_ASSIGN_OR_RETURN(const std::uint64_t first_unused, DropUnpublished(*database));
  const std::uint64_t next_storage_id = std::max(first_unused, kept->next_storage_id());
  std::shared_ptr<SealedList> sealed = SealedList::Open(SealedList::FileIn(folder), database);
  return std::unique_ptr<RocksGraphStore>(new RocksGraphStore(
      staging, options, std::move(database), std::move(sealed), std::move(kept), next_storage_id));
}

absl::StatusOr<std::unique_ptr<DatasetWriter>> RocksGraphStore::NewDataset(const v1::Schema& schema) {
  ABSL_ASSIGN_OR_RETURN(records::DatasetContent content, records::DatasetContent::Create(schema));
  return NewRocksDatasetWriter(writing_, next_storage_id_.fetch_add(1), std::move(content));
}

absl::StatusOr<GraphStore::KeptDataset> RocksGraphStore::NewKeptDataset(const v1::Schema& schema,
                                                                        const v1::ImportHeader& header,
                                                                        ReadProgress progress) {
  if (!kept_->keeps()) return GraphStore::NewKeptDataset(schema, header, progress);
  ABSL_ASSIGN_OR_RETURN(records::DatasetContent content, records::DatasetContent::Create(schema));
  ABSL_ASSIGN_OR_RETURN(
      std::unique_ptr<ImportFolder> folder,
      header.continue_at() > 0 ? kept_->Take(header) : kept_->Begin(header, next_storage_id_.fetch_add(1)));
  KeptDataset dataset = {nullptr, folder->TakeProgress()};
  ABSL_ASSIGN_OR_RETURN(dataset.writer,
                        NewKeptDatasetWriter(writing_, std::move(folder), std::move(content), progress));
  return dataset;
}

absl::StatusOr<v1::ContinueImportResponse> RocksGraphStore::FindKept(const v1::ImportHeader& header) const {
  return kept_->Find(header);
}

absl::StatusOr<DatasetReference> RocksGraphStore::Resolve(std::string_view text) const {
  DatasetReference reference = ParseReference(text);
  if (reference.version) return reference;
  ABSL_ASSIGN_OR_RETURN(auto newest, database_->Get(Family::kMeta, NameKey(reference.name)));
  if (!newest.has_value()) return NoSuchDataset(reference);
  reference.version = *std::move(newest);
  return reference;
}

absl::StatusOr<std::shared_ptr<const Dataset>> RocksGraphStore::Open(std::string_view text) {
  ABSL_RETURN_IF_ERROR(sealed_->Check(ParseReference(text)));
  ABSL_ASSIGN_OR_RETURN(const DatasetReference reference, Resolve(text));
  auto dataset = open_.Get(wire::FullName(reference.name, *reference.version),
                           [&] { return Load(reference.name, *reference.version); });
  if (absl::IsNotFound(dataset.status())) return NoSuchDataset(reference);
  return dataset;
}

absl::StatusOr<std::shared_ptr<const RocksDataset>> RocksGraphStore::Load(const std::string& name,
                                                                          const std::string& version) const {
  ABSL_ASSIGN_OR_RETURN(std::optional<StoredDataset> stored, FindVersion(*database_, name, version));
  if (!stored.has_value()) {
    ABSL_ASSIGN_OR_RETURN(stored, FindStored(*database_, DeletedKey(name, version)));
  }
  if (!stored.has_value()) return NoSuchDataset({name, version});
  limits::MemoryBudget::Reservation memory;
  if (options_.memory != nullptr) {
    ABSL_ASSIGN_OR_RETURN(memory, options_.memory->Reserve(limits::MemoryPart::kSizes,
                                                           RocksDataset::SizeBytes(stored->description),
                                                           limits::MemoryBudget::StatedWait()));
  }
  return RocksDataset::Load(database_, *std::move(stored), std::move(memory));
}

absl::Status RocksGraphStore::ListAfter(std::string_view after, DatasetSink sink) const {
  return VisitKeysBehind(*database_, kNamePrefix, after, [&](std::string_view name) -> absl::StatusOr<bool> {
    if (!sealed_->Check({std::string(name), std::nullopt}).ok()) return true;
    ABSL_ASSIGN_OR_RETURN(const auto version, database_->Get(Family::kMeta, NameKey(name)));
    if (!version.has_value()) return true;  // deleted meanwhile
    ABSL_ASSIGN_OR_RETURN(std::optional<StoredDataset> stored, FindVersion(*database_, name, *version));
    if (!stored.has_value()) return absl::DataLossError("a name of the store leads to no data set");
    return sink(std::move(stored->description));
  });
}

absl::Status RocksGraphStore::ListVersionsAfter(std::string_view after, DatasetSink sink) const {
  return VisitKeysBehind(*database_, kDatasetPrefix, after, [&](std::string_view key) -> absl::StatusOr<bool> {
    const DatasetReference reference = ParseReference(key);
    if (!sealed_->Check({reference.name, std::nullopt}).ok()) return true;
    ABSL_ASSIGN_OR_RETURN(std::optional<StoredDataset> stored,
                          FindStored(*database_, absl::StrCat(std::string(kDatasetPrefix), std::string(key))));
    return !stored.has_value() || sink(std::move(stored->description));  // if not deleted meanwhile
  });
}

IndexCheck RocksGraphStore::CheckIndex() const {
  const base::MutexLock lock(*publishing_);
  return storage::CheckIndex(*database_);
}

absl::StatusOr<std::vector<v1::Dataset>> RocksGraphStore::Versions(std::string_view reference) const {
  ABSL_ASSIGN_OR_RETURN(const std::vector<StoredDataset> found,
                        FindVersions(*database_, ParseReference(reference)));
  return DescriptionsOf(found);
}

absl::Status RocksGraphStore::MakeCurrent(std::string_view text) {
  const DatasetReference reference = ParseReference(text);
  const base::MutexLock lock(*publishing_);
  const absl::StatusOr<std::vector<StoredDataset>> found = FindVersions(*database_, reference);
  if (!found.ok() || !reference.version) return found.status();
  ABSL_RETURN_IF_ERROR(WriteMeta(*database_, {{NameKey(reference.name), *reference.version}}));
  sealed_->Add(found->front().description);
  return absl::OkStatus();
}

std::vector<v1::Dataset> RocksGraphStore::Lost(std::string_view reference) const {
  return sealed_->Lost(reference.empty() ? std::nullopt : std::optional(ParseReference(reference)));
}

absl::StatusOr<std::string> RocksGraphStore::CurrentWithout(const std::string& name,
                                                            const std::vector<v1::Dataset>& deleted) const {
  ABSL_ASSIGN_OR_RETURN(std::vector<StoredDataset> left, ScanStored(*database_, DatasetKey(name, "")));
  std::erase_if(left, [&](const StoredDataset& stored) {
    return std::ranges::any_of(
        deleted, [&](const v1::Dataset& gone) { return gone.version() == stored.description.version(); });
  });
  if (left.empty()) return std::string();
  const absl::StatusOr<DatasetReference> current = Resolve(name);
  const bool stays = current.ok() && std::ranges::any_of(left, [&](const StoredDataset& stored) {
                       return stored.description.version() == current->version;
                     });
  if (stays) return *current->version;
  return std::ranges::max_element(left, WasImportedBefore)->description.version();
}

absl::StatusOr<std::vector<v1::Dataset>> RocksGraphStore::Delete(std::string_view text) {
  const DatasetReference reference = ParseReference(text);
  const base::MutexLock lock(*publishing_);
  std::vector<v1::Dataset> gone = Lost(text);
  absl::StatusOr<std::vector<StoredDataset>> found = FindVersions(*database_, reference);
  if (absl::IsNotFound(found.status()) && !gone.empty()) found = std::vector<StoredDataset>();
  ABSL_RETURN_IF_ERROR(found.status());
  std::vector<std::pair<std::string, std::string>> entries;
  std::vector<std::string> removed;
  for (const StoredDataset& stored : *found) {
    removed.push_back(DatasetKey(reference.name, stored.description.version()));
    entries.emplace_back(DeletedKey(reference.name, stored.description.version()), Encode(stored));
    gone.push_back(stored.description);
  }
  ABSL_ASSIGN_OR_RETURN(const std::string current, CurrentWithout(reference.name, gone));
  if (current.empty()) {
    removed.push_back(NameKey(reference.name));
  } else {
    entries.emplace_back(NameKey(reference.name), current);
  }
  const auto remove = [&]() -> absl::Status {
    // In this order, which sealed_list.h explains.
    ABSL_RETURN_IF_ERROR(sealed_->Withdraw(DescriptionsOf(*found)));
    ABSL_RETURN_IF_ERROR(WriteMeta(*database_, entries, removed));
    return sealed_->Forget(gone, current);
  };
  database_->MakeRoom();
  absl::Status done = remove();
  for (int piece = 1; piece < rocks::DiskReserve::kPieces && absl::IsResourceExhausted(done); ++piece) {
    database_->MakeMoreRoom();
    done = remove();
  }
  ABSL_RETURN_IF_ERROR(done);
  return gone;
}

absl::StatusOr<std::vector<std::string>> RocksGraphStore::Deleted() const {
  ABSL_ASSIGN_OR_RETURN(const std::vector<StoredDataset> found, ScanStored(*database_, kDeletedPrefix));
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const StoredDataset& stored : found) names.push_back(wire::FullName(stored.description));
  return names;
}

absl::Status RocksGraphStore::Reclaim(std::string_view text) {
  const DatasetReference reference = ParseReference(text);
  const std::string full_name(text);
  const base::MutexLock lock(*publishing_);
  ABSL_ASSIGN_OR_RETURN(const std::optional<StoredDataset> stored,
                        FindStored(*database_, absl::StrCat(std::string(kDeletedPrefix), full_name)));
  if (!stored.has_value()) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(open_.Close(full_name));
  absl::Status status = DropDeleted(*database_, *stored);
  open_.Reopen(full_name);
  return status;
}

std::uint64_t RocksGraphStore::memory_bytes() const {
  std::uint64_t bytes = database_->memory_bytes();
  for (const auto& dataset : open_.Held()) bytes += dataset->memory_bytes();
  return bytes;
}

}  // namespace packtrain::storage
