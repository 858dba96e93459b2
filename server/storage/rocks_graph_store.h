// Data sets in RocksDB. A folder holds `db`, the database (key_schema.h), `staging`, sorted files of imports
// under way and of those that broke off and are kept (kept_imports.h), and `SEALED`, what was sealed
// (sealed_list.h).
//
// A seal takes the staged files in with one ingest and then makes them visible with one synced write. Killed
// before that write, an import leaves only files that the next opening removes, or keeps. A deletion is one
// synced write, too; what it leaves is reclaimed later, by another such write and then file by file. Killed
// before that write it is reclaimed again, killed after it by the next opening.
#ifndef PACKTRAIN_SERVER_STORAGE_ROCKS_GRAPH_STORE_H_
#define PACKTRAIN_SERVER_STORAGE_ROCKS_GRAPH_STORE_H_

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/mutex.h"
#include "server/storage/graph_database.h"
#include "server/storage/graph_store.h"
#include "server/storage/index_check.h"
#include "server/storage/kept_imports.h"
#include "server/storage/rocks_dataset.h"
#include "server/storage/rocks_dataset_writer.h"
#include "server/storage/sealed_list.h"
#include "server/storage/single_opening.h"

namespace packtrain::storage {

struct RocksGraphStoreOptions {
  rocks::DatabaseOptions database;
  // Blocks of graph records and the indexes of open files; RocksDB's whole cache.
  std::size_t block_cache_bytes = kDefaultBlockCacheBytes;
  // A staged file is ended when it has reached this size. Large files mean few to keep open; a smaller one
  // bounds the index that is held in memory while a file is written.
  std::uint64_t staging_file_bytes = std::uint64_t{256} << 20;
  // What of imports that break off is kept.
  KeptImportsOptions kept = {};
  // From which the sizes of open data sets are taken; null: they are not counted.
  std::shared_ptr<limits::MemoryBudget> memory = nullptr;
};

// Any number of threads may use it. Data sets and writers may outlive it and keep the folder in use.
class RocksGraphStore : public GraphStore {
 public:
  // Creates the folder where it doesn't exist. FAILED_PRECONDITION: it is in use (the message names the
  // process), or was written in another format.
  static absl::StatusOr<std::unique_ptr<RocksGraphStore>> Open(const std::filesystem::path& folder,
                                                               const RocksGraphStoreOptions& options);

  // Where the database of a store in `folder` is.
  static std::filesystem::path DatabaseFolder(const std::filesystem::path& folder) { return folder / "db"; }

  absl::StatusOr<std::unique_ptr<DatasetWriter>> NewDataset(const v1::Schema& schema) override;
  absl::StatusOr<KeptDataset> NewKeptDataset(const v1::Schema& schema, const v1::ImportHeader& header,
                                             ReadProgress progress) override;
  absl::StatusOr<v1::ContinueImportResponse> FindKept(const v1::ImportHeader& header) const override;
  absl::StatusOr<std::shared_ptr<const Dataset>> Open(std::string_view reference) override;
  absl::Status ListAfter(std::string_view after, DatasetSink sink) const override;
  absl::Status ListVersionsAfter(std::string_view after, DatasetSink sink) const override;
  absl::StatusOr<std::vector<v1::Dataset>> Versions(std::string_view reference) const override;
  absl::Status MakeCurrent(std::string_view reference) override;
  absl::StatusOr<std::vector<v1::Dataset>> Delete(std::string_view reference) override;
  absl::StatusOr<std::vector<std::string>> Deleted() const override;
  absl::Status Reclaim(std::string_view reference) override;
  std::vector<v1::Dataset> Lost(std::string_view reference) const override;
  absl::Status CheckSpace(std::uint64_t bytes) const override { return database_->reserve().Require(bytes); }
  std::uint64_t memory_bytes() const override;
  rocks::DatabaseStatistics statistics() const { return database_->statistics(); }

  KeptImports::Use kept_imports() const { return kept_->use(); }

  // As SealedList::Watch.
  void WatchLost(std::function<void(bool any_lost)> watcher) { sealed_->Watch(std::move(watcher)); }

  // For reading.
  const rocks::Database& database() const { return *database_; }
  // As CheckIndex.
  storage::IndexCheck CheckIndex() const;

 private:
  RocksGraphStore(const std::filesystem::path& staging, const RocksGraphStoreOptions& options,
                  std::shared_ptr<rocks::Database> database, std::shared_ptr<SealedList> sealed,
                  std::shared_ptr<KeptImports> kept, std::uint64_t next_storage_id);

  // The version that `reference` means. NOT_FOUND: no such name.
  absl::StatusOr<DatasetReference> Resolve(std::string_view reference) const;
  // What a name means once `deleted` are gone; "" where nothing is left of it.
  absl::StatusOr<std::string> CurrentWithout(const std::string& name,
                                             const std::vector<v1::Dataset>& deleted) const;
  // NOT_FOUND: no such version, also not among the deleted ones. DATA_LOSS: it is damaged.
  absl::StatusOr<std::shared_ptr<const RocksDataset>> Load(const std::string& name,
                                                           const std::string& version) const;

  const RocksGraphStoreOptions options_;
  const std::shared_ptr<rocks::Database> database_;
  const std::shared_ptr<SealedList> sealed_;
  const std::shared_ptr<KeptImports> kept_;
  const std::shared_ptr<base::Mutex>
      publishing_;  // held from a look at `meta` to the write that follows from it
  const WriterEnvironment writing_;
  std::atomic<std::uint64_t> next_storage_id_;
  SingleOpening<RocksDataset> open_;  // by NAME@VERSION
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_ROCKS_GRAPH_STORE_H_
