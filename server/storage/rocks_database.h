// The sealed-graph database on disk: RocksDB behind the few operations that the graph store needs.
#ifndef PACKTRAIN_SERVER_STORAGE_ROCKS_DATABASE_H_
#define PACKTRAIN_SERVER_STORAGE_ROCKS_DATABASE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rocks/database_statistics.h"
#include "server/rocks/disk_reserve.h"
#include "server/rocks/verify_files.h"

namespace rocksdb {
class Env;
}

namespace packtrain::storage {

// Column families; key_schema.h says what each holds.
enum class Family : std::uint8_t { kMeta, kGraphs, kSizes };

struct RocksDatabaseOptions {
  // Blocks of graph records and the indexes of open files; RocksDB's whole cache.
  std::size_t block_cache_bytes = std::size_t{256} << 20;
  // Disk space that is left alone (disk_reserve.h).
  std::uint64_t reserve_bytes = rocks::kDefaultReserveBytes;
  // Count what the database does; see statistics().
  bool statistics = false;
  // Files and threads; null: the system's. Not owned.
  rocksdb::Env* env = nullptr;
};

// Any number of threads may use it.
//
// Codes: RESOURCE_EXHAUSTED where the disk is full down to the reserve (reading goes on, and so does writing
// once there is space), DATA_LOSS where what is stored is damaged, UNAVAILABLE for other failures of the disk.
class RocksDatabase {
 public:
  // Opens or creates the database in a folder that exists. FAILED_PRECONDITION: another process has it open,
  // or this one; the message names the process.
  static absl::StatusOr<std::shared_ptr<RocksDatabase>> Open(const std::filesystem::path& folder,
                                                             const RocksDatabaseOptions& options);
  // Opens what can be read of a database that nobody has open, for reading alone: each write fails. What is
  // damaged is passed over where RocksDB can; rocks::VerifyFile finds it.
  static absl::StatusOr<std::shared_ptr<RocksDatabase>> OpenForCheck(const std::filesystem::path& folder);
  ~RocksDatabase();

  // The value of a key, none where there is no such key.
  absl::StatusOr<std::optional<std::string>> Get(Family family, std::string_view key) const;

  // Calls `visit` for each key that starts with `prefix`, ascending; a failing visit ends the scan. Graphs
  // that are scanned are not kept in the cache.
  using Visitor = absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)>;
  absl::Status Scan(Family family, std::string_view prefix, Visitor visit) const;

  // Calls `sink(k, value)` for each keys[k], which must ascend; the value, or why it can't be had (NOT_FOUND:
  // no such key), is valid during the call. A failing sink ends the read with its status.
  using ValueSink =
      absl::FunctionRef<absl::Status(std::size_t k, const absl::StatusOr<std::string_view>& value)>;
  absl::Status MultiGet(Family family, std::span<const std::string_view> keys, ValueSink sink) const;

  // Distinct storage ids of the keys of a family, ascending. Reads one key for each.
  absl::StatusOr<std::vector<std::uint64_t>> StorageIds(Family family) const;

  // A finished sorted file, and the keys it begins and ends with.
  struct SortedFile {
    std::string path;
    std::string first_key;
    std::string last_key;
  };
  struct FilesOfFamily {
    Family family;
    std::vector<SortedFile> files;
  };
  // Takes sorted files (SortedFiles) into the database, moving them; all or none, synced. OK: what was taken in
  // has been found there.
  absl::Status Ingest(const std::vector<FilesOfFamily>& files);

  // Writes to `meta`, and takes the keys of `removed` out of it; all or none, synced. What removes keys may use
  // the reserve of a full disk, since it is on its way to give space back.
  absl::Status WriteMeta(const std::vector<std::pair<std::string, std::string>>& entries,
                         const std::vector<std::string>& removed = {});

  // Drops graphs and sizes of a storage id and gives their space back.
  absl::Status DropStorage(std::uint64_t storage_id);

  // Block cache and memtables.
  std::uint64_t memory_bytes() const;
  rocks::DatabaseStatistics statistics() const;
  // What rocks::VerifyFile reads.
  std::unique_ptr<rocks::LiveFiles> live_files() const;
  std::vector<rocks::StoredFile> sorted_files() const;

 private:
  friend class SortedFiles;
  struct Handle;
  explicit RocksDatabase(std::unique_ptr<Handle> handle);

  std::unique_ptr<Handle> handle_;
};

// Writes ascending keys into sorted files outside the database. Used by one thread. A file is created when
// its first key comes, and all of them are removed at the end unless they were moved away.
class SortedFiles {
 public:
  // Files are named STEM-0.sst, STEM-1.sst, ...; a new one begins when one has reached `file_bytes`.
  SortedFiles(std::shared_ptr<RocksDatabase> database, Family family, std::string stem,
              std::uint64_t file_bytes);
  ~SortedFiles();
  SortedFiles(const SortedFiles&) = delete;
  SortedFiles& operator=(const SortedFiles&) = delete;

  // RESOURCE_EXHAUSTED: disk full. After a failure every call gives that failure.
  absl::Status Add(std::string_view key, std::string_view value);

  // Ends and syncs the last file and returns all; nothing may be added after it. RESOURCE_EXHAUSTED: the disk
  // is full down to the reserve; it may be tried again. After any other failure every call gives that failure.
  absl::StatusOr<RocksDatabase::FilesOfFamily> Finish();

 private:
  struct Writer;
  absl::Status TryAdd(std::string_view key, std::string_view value);
  absl::Status RequireSpace(std::uint64_t bytes);
  absl::Status BeginFile();
  absl::Status EndFile();

  std::shared_ptr<RocksDatabase> database_;
  Family family_;
  std::string stem_;
  std::uint64_t file_bytes_;
  std::uint64_t unchecked_bytes_ = 0;  // since the last look at the free space
  std::vector<RocksDatabase::SortedFile> files_;
  absl::Status failure_;
  std::unique_ptr<Writer> writer_;  // of the last file, while it is open
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_ROCKS_DATABASE_H_
