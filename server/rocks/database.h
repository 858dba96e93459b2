// One RocksDB database, as every store of this program uses it.
//
// It answers in absl::Status, leaves a reserve of the disk alone, goes on after a disk that failed or was full,
// and works around what RocksDB 7.8 gets wrong (guarded_env.h, sorted_files.h). What differs between stores is
// their layout: column families and the size of the cache.
//
//   enum class Family { kMeta, kGraphs };
//   const rocks::DatabaseLayout layout = {.families = {{.name = "meta"}, {.name = "graphs"}}};
//   ABSL_ASSIGN_OR_RETURN(const auto database, rocks::Database::Open(folder, layout, {}));
//   ABSL_RETURN_IF_ERROR(database->Write({{Family::kMeta, "format", "1"}}, rocks::Durability::kDisk));
//   ABSL_ASSIGN_OR_RETURN(const auto format, database->Get(Family::kMeta, "format"));
#ifndef PACKTRAIN_SERVER_ROCKS_DATABASE_H_
#define PACKTRAIN_SERVER_ROCKS_DATABASE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rocks/database_statistics.h"
#include "server/rocks/disk_reserve.h"
#include "server/rocks/verify_files.h"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
class Env;
class Status;
}  // namespace rocksdb

namespace packtrain::rocks {

class Instance;

enum class Compression : std::uint8_t { kNone, kLz4, kZstd };

// A column family: keys that are sorted by their bytes.
struct FamilyLayout {
  std::string name;
  Compression compression = Compression::kNone;
  // What is read from the disk, and held in the cache, at a time. Larger blocks compress better.
  std::size_t block_bytes = 4 << 10;
  // Values are asked for in any order: a block leads to a key by its hash. Otherwise they are read in order.
  bool random_reads = false;
  // Holds ingested files alone (sorted_files.h), whose keys lie apart from each other: a compaction would
  // rewrite them for nothing.
  bool ingested = false;
  // Scans read all of it once, and keep nothing of it in the cache.
  bool scanned_once = false;
};

// What a store's database is made of; the same whenever it is opened.
struct DatabaseLayout {
  std::vector<FamilyLayout> families;
  // Of the cache of blocks and indexes, which is one for all families.
  std::size_t block_cache_bytes = std::size_t{32} << 20;
  // What an error's message says was being done.
  std::string_view reading = "reading the store";
  std::string_view scanning = "scanning the store";
  std::string_view writing = "writing the store";
  std::string_view dropping = "reclaiming graphs";
};

// What is chosen when a database is opened.
struct DatabaseOptions {
  // Disk space that is left alone (disk_reserve.h).
  std::uint64_t reserve_bytes = kDefaultReserveBytes;
  // Count what the database does; see Database::statistics().
  bool statistics = false;
  // Files and threads; null: the system's. Not owned.
  rocksdb::Env* env = nullptr;
};

// The position of a family in DatabaseLayout::families. Made of an enum that numbers them.
class FamilyId {
 public:
  template <typename Enum>
  requires std::is_enum_v<Enum>
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr FamilyId(Enum family) : index_(static_cast<std::size_t>(family)) {}

  constexpr std::size_t index() const { return index_; }
  friend bool operator==(const FamilyId&, const FamilyId&) = default;

 private:
  std::size_t index_;
};

struct Change {
  FamilyId family;
  std::string key;
  std::optional<std::string> value;  // none: the key is removed
};

// What a write survives.
enum class Durability : std::uint8_t {
  kProcess,  // a kill of the process
  kDisk,     // a power cut, too
  // And corruption: it is taken out of the log, where a corrupt last record would pass for one that was cut
  // off, into a file with checksums.
  kFile,
};

// Any number of threads may use it.
//
// A failure of the disk stops RocksDB for good. The database then goes on in the same process: at the next
// write for which there is space, RocksDB is closed and opened again beneath it, and that write is made. What
// was acknowledged is there. Reads go on all the while, those under way in what was open when they began.
//
// Codes: RESOURCE_EXHAUSTED where the disk is full down to the reserve, DATA_LOSS where what is stored is
// corrupt, UNAVAILABLE for other failures of the disk, FAILED_PRECONDITION where another process has taken the
// folder.
class Database {
 public:
  // Opens or creates the database in a folder that exists, and locks the folder. Where the disk has no room
  // even for opening it for writing, it is opened for reading, until a write finds space. FAILED_PRECONDITION:
  // another process has it open, or this one; the message names the process. RESOURCE_EXHAUSTED: there is no
  // database, and no room to make one.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::filesystem::path& folder,
                                                        const DatabaseLayout& layout,
                                                        const DatabaseOptions& options);
  // Opens what can be read of a database that nobody has open, for reading alone: each write fails. Takes no
  // lock (FolderLock::TakeForReading). What is corrupt is passed over where RocksDB can; VerifyFile finds it.
  static absl::StatusOr<std::unique_ptr<Database>> OpenForCheck(const std::filesystem::path& folder,
                                                                const DatabaseLayout& layout);
  ~Database();

  // The value of a key, none where there is no such key.
  absl::StatusOr<std::optional<std::string>> Get(FamilyId family, std::string_view key) const;

  // Calls `sink(k, value)` for each keys[k], which must ascend; the value, or why it can't be had (NOT_FOUND:
  // no such key), is valid during the call. A failing sink ends the read with its status.
  using ValueSink =
      absl::FunctionRef<absl::Status(std::size_t k, const absl::StatusOr<std::string_view>& value)>;
  absl::Status MultiGet(FamilyId family, std::span<const std::string_view> keys, ValueSink sink) const;

  // Calls `visit` for each key that starts with `prefix`, ascending, as of the time of the call; a failing
  // visit ends the scan with its status.
  using Visitor = absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)>;
  absl::Status Scan(FamilyId family, std::string_view prefix, Visitor visit) const;

  // Calls `next(key)` for the first key that starts with `prefix`, and then for the first one that is not less
  // than what it returned, until there is none or it returns none. Reads the keys that `next` sees, and none of
  // those between them.
  using NextKey = absl::FunctionRef<absl::StatusOr<std::optional<std::string>>(std::string_view key)>;
  absl::Status SkipScan(FamilyId family, std::string_view prefix, NextKey next) const;

  // All or none; where it fails, none as yet, but perhaps all once the database was opened again. What removes
  // keys may use the reserve of a full disk, since it is on its way to give space back.
  absl::Status Write(const std::vector<Change>& changes, Durability durability);

  // Drops the keys of a family from `begin` up to, without, `end`, and gives their space back.
  absl::Status DropRange(FamilyId family, std::string_view begin, std::string_view end);

  // To be called before a change that gives space back: where others have filled the disk, the reserve lends
  // what little that takes. Write and DropRange do this by themselves.
  void MakeRoom();
  // To be called before such a change is made again that has failed for want of space.
  void MakeMoreRoom();

  // Block cache and memtables.
  std::uint64_t memory_bytes() const;
  DatabaseStatistics statistics() const;
  // What VerifyFile reads.
  std::unique_ptr<LiveFiles> live_files() const;
  std::vector<StoredFile> sorted_files() const;

  // What follows is for this folder.

  const DiskReserve& reserve() const;
  // Files and threads for what is written outside the database.
  rocksdb::Env* env() const;
  // As it is opened now.
  std::shared_ptr<Instance> instance() const;

  // Makes a change, which may be made twice: where the disk has stopped RocksDB, before it or during it, that
  // is opened again first. `frees` tells that the change gives space back, and may use the reserve. `doing` as
  // for ToStatus.
  using ChangeSink = absl::FunctionRef<rocksdb::Status(Instance& instance)>;
  absl::Status Make(bool frees, std::string_view doing, ChangeSink change);

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_DATABASE_H_
