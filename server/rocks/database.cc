#include "server/rocks/database.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/rocks/guarded_env.h"
#include "server/rocks/prefetch.h"
#include "server/rocks/recovery.h"
#include "server/rocks/rocks_status.h"

namespace packtrain::rocks {
namespace {

// How many values one read pins at a time.
constexpr std::size_t kMultiGetKeys = 128;

rocksdb::CompressionType TypeOf(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      break;
    case Compression::kLz4:
      return rocksdb::kLZ4Compression;
    case Compression::kZstd:
      return rocksdb::kZSTD;
  }
  return rocksdb::kNoCompression;
}

rocksdb::BlockBasedTableOptions TableOptions(const FamilyLayout& family,
                                             const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  // One budget for everything read from files, so that memory has a bound that can be stated.
  table.block_cache = cache;
  table.cache_index_and_filter_blocks = true;
  // An index evicted by a scan of values would have to be read again for each of the next reads.
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.block_size = family.block_bytes;
  // The fastest of the checksums where CRC32C has no hardware support in RocksDB's build.
  table.checksum = rocksdb::kXXH3;
  // No filter: nobody asks for a key that isn't there.
  table.filter_policy = nullptr;
  // Fixed, so that another RocksDB's default does not write files that this one cannot read.
  table.format_version = 5;
  if (!family.random_reads) return table;
  // Finds a key inside a block by hash; the binary search over keys that share 15 bytes is slow. The hash leads
  // to the key itself, not to one in front of it from which a read would step over values of a kB each: every
  // step waits for memory, and a key that is whole takes 13 bytes more.
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.block_restart_interval = 1;
  return table;
}

rocksdb::ColumnFamilyOptions FamilyOptions(const FamilyLayout& family,
                                           const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(TableOptions(family, cache)));
  options.compression = TypeOf(family.compression);
  // A family has two: a quarter of RocksDB's default keeps four families below 128 MiB.
  options.write_buffer_size = 16 << 20;
  options.disable_auto_compactions = family.ingested;
  return options;
}

// In the order of the layout. RocksDB's default family is the last one where the layout does not name it.
std::vector<rocksdb::ColumnFamilyDescriptor> Families(const DatabaseLayout& layout,
                                                      const std::shared_ptr<rocksdb::Cache>& cache) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  bool has_default = false;
  for (const FamilyLayout& family : layout.families) {
    families.emplace_back(family.name, FamilyOptions(family, cache));
    has_default = has_default || family.name == rocksdb::kDefaultColumnFamilyName;
  }
  if (!has_default) families.emplace_back(rocksdb::kDefaultColumnFamilyName, FamilyOptions({}, cache));
  return families;
}

rocksdb::DBOptions OpenOptions(rocksdb::Env* env, const DiskFailures& failures) {
  rocksdb::DBOptions options;
  options.env = env;
  options.listeners.push_back(failures.listener());
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  // A few hundred files at most, so all stay open and no read has to open one.
  options.max_open_files = -1;
  // Corruption in the log fails the opening, except for a last record that was cut off. RocksDB's default ends
  // the log at the corruption, and what was acknowledged later is gone without a word.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // Families that are hardly written to hold back the log; this bounds what an opening has to replay.
  options.max_total_wal_size = 64 << 20;
  // RocksDB's own log is for finding faults; a few files are enough.
  options.keep_log_file_num = 4;
  options.max_log_file_size = 4 << 20;
  return options;
}

}  // namespace

struct Database::State {
  State(const std::filesystem::path& folder, const DatabaseLayout& of, const DatabaseOptions& options)
      : layout(of),
        env(GuardEnv(options.env)),
        reserve(folder, options.reserve_bytes),
        cache(rocksdb::NewLRUCache(of.block_cache_bytes)),
        statistics(options.statistics ? NewStatistics() : nullptr) {}
  ~State() {
    for (rocksdb::ColumnFamilyHandle* family : families) db->DestroyColumnFamilyHandle(family);
  }

  rocksdb::ColumnFamilyHandle* Of(FamilyId family) const { return families[family.index()]; }

  rocksdb::DBOptions Options() const {
    rocksdb::DBOptions options = OpenOptions(env.get(), failures);
    options.statistics = statistics;
    return options;
  }

  // The default family, too, without whose memory (KeepRecoverable) the log could not go.
  rocksdb::Status Flush(const std::vector<Change>& changes) const {
    std::vector<rocksdb::ColumnFamilyHandle*> flushed = {db->DefaultColumnFamily()};
    for (const Change& change : changes) {
      if (std::ranges::find(flushed, Of(change.family)) == flushed.end()) flushed.push_back(Of(change.family));
    }
    const rocksdb::Status status = db->Flush(rocksdb::FlushOptions(), flushed);
    return status.ok() ? KeepRecoverable(*db) : status;
  }

  const DatabaseLayout layout;
  const std::unique_ptr<rocksdb::Env> env;
  const DiskReserve reserve;
  const std::shared_ptr<rocksdb::Cache> cache;
  const std::shared_ptr<rocksdb::Statistics> statistics;  // null: nobody counts
  const DiskFailures failures;
  RecoveringWrites writes;
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;  // as Families gives them
};

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::~Database() = default;

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& folder,
                                                         const DatabaseLayout& layout,
                                                         const DatabaseOptions& options) {
  // One spelling for one folder: RocksDB's table of locks in this process goes by path.
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(folder, error);
  if (error) return absl::FailedPreconditionError(absl::StrCat(folder.string(), ": ", error.message()));
  auto state = std::make_unique<State>(path, layout, options);
  rocksdb::DB* db = nullptr;
  rocksdb::Status status =
      rocksdb::DB::Open(state->Options(), path.string(), Families(layout, state->cache), &state->families, &db);
  if (!status.ok()) return OpenFailure(status, path);
  state->db.reset(db);
  status = KeepRecoverable(*db);
  if (!status.ok()) return OpenFailure(status, path);
  return std::unique_ptr<Database>(new Database(std::move(state)));
}

absl::StatusOr<std::unique_ptr<Database>> Database::OpenForCheck(const std::filesystem::path& folder,
                                                                 const DatabaseLayout& layout) {
  auto state = std::make_unique<State>(folder, layout, DatabaseOptions());
  rocksdb::DBOptions options = state->Options();
  options.paranoid_checks = false;  // or one corrupt file would keep all others from being read
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(
      options, folder.string(), Families(layout, state->cache), &state->families, &db);
  if (!status.ok()) return ToStatus(status, absl::StrCat("opening ", folder.string()));
  state->db.reset(db);
  return std::unique_ptr<Database>(new Database(std::move(state)));
}

absl::StatusOr<std::optional<std::string>> Database::Get(FamilyId family, std::string_view key) const {
  std::string value;
  const rocksdb::Status status = state_->db->Get(rocksdb::ReadOptions(), state_->Of(family), key, &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return ToStatus(status, state_->layout.reading);
  return std::optional<std::string>(std::move(value));
}

absl::Status Database::MultiGet(FamilyId family, std::span<const std::string_view> keys, ValueSink sink) const {
  std::array<rocksdb::Slice, kMultiGetKeys> slices;
  std::array<rocksdb::PinnableSlice, kMultiGetKeys> values;
  std::array<rocksdb::Status, kMultiGetKeys> statuses;
  for (std::size_t begin = 0; begin < keys.size(); begin += kMultiGetKeys) {
    const std::size_t count = std::min(kMultiGetKeys, keys.size() - begin);
    for (std::size_t k = 0; k < count; ++k) slices[k] = keys[begin + k];
    state_->db->MultiGet(rocksdb::ReadOptions(), state_->Of(family), count, slices.data(), values.data(),
                         statuses.data(), /*sorted_input=*/true);
    // Of a value RocksDB has seen no more than the key before it.
    const auto prefetch = [&](std::size_t k) {
      Prefetch(std::as_bytes(std::span(values[std::min(k, count - 1)].ToStringView())));
    };
    for (std::size_t k = 0; k < kValuesAhead; ++k) prefetch(k);
    for (std::size_t k = 0; k < count; ++k) {
      prefetch(k + kValuesAhead);
      absl::StatusOr<std::string_view> value = values[k].ToStringView();
      if (!statuses[k].ok()) value = ToStatus(statuses[k], state_->layout.reading);
      ABSL_RETURN_IF_ERROR(sink(begin + k, value));
      values[k].Reset();
    }
  }
  return absl::OkStatus();
}

absl::Status Database::Scan(FamilyId family, std::string_view prefix, Visitor visit) const {
  rocksdb::ReadOptions options;
  options.fill_cache = !state_->layout.families[family.index()].scanned_once;
  const std::unique_ptr<rocksdb::Iterator> it(state_->db->NewIterator(options, state_->Of(family)));
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    ABSL_RETURN_IF_ERROR(visit(it->key().ToStringView(), it->value().ToStringView()));
  }
  return ToStatus(it->status(), state_->layout.scanning);
}

absl::Status Database::SkipScan(FamilyId family, std::string_view prefix, NextKey next) const {
  const std::unique_ptr<rocksdb::Iterator> it(
      state_->db->NewIterator(rocksdb::ReadOptions(), state_->Of(family)));
  it->Seek(prefix);
  while (it->Valid() && it->key().starts_with(prefix)) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<std::string> sought, next(it->key().ToStringView()));
    if (!sought) break;
    it->Seek(*sought);
  }
  return ToStatus(it->status(), state_->layout.scanning);
}

absl::Status Database::Write(const std::vector<Change>& changes, Durability durability) {
  rocksdb::WriteBatch batch;
  bool removes = false;
  for (const Change& change : changes) {
    removes = removes || !change.value;
    if (change.value) {
      batch.Put(state_->Of(change.family), change.key, *change.value);
    } else {
      batch.Delete(state_->Of(change.family), change.key);
    }
  }
  absl::Status space = state_->reserve.Require(batch.GetDataSize());
  if (!space.ok() && !removes) return space;
  rocksdb::WriteOptions options;
  options.sync = durability != Durability::kProcess;
  const rocksdb::Status status =
      state_->writes.Do(*state_->db, [&] { return state_->db->Write(options, &batch); });
  if (!status.ok()) return ToStatus(status, state_->layout.writing);
  // A failed flush takes nothing back: the log holds the changes, synced.
  if (durability == Durability::kFile) state_->Flush(changes).PermitUncheckedError();
  return absl::OkStatus();
}

absl::Status Database::DropRange(FamilyId family, std::string_view begin, std::string_view end) {
  const rocksdb::Slice from = begin, to = end;
  const rocksdb::RangePtr range(&from, &to);
  rocksdb::ColumnFamilyHandle* handle = state_->Of(family);
  // Whole files at once, which is all there is as a rule. The tombstone is for what a file might share, and
  // the compaction for files of the first level, which DeleteFilesInRanges leaves alone.
  rocksdb::Status status = rocksdb::DeleteFilesInRanges(state_->db.get(), handle, &range, 1, false);
  if (status.ok()) status = state_->db->DeleteRange(rocksdb::WriteOptions(), handle, from, to);
  if (status.ok()) status = state_->db->CompactRange(rocksdb::CompactRangeOptions(), handle, &from, &to);
  return ToStatus(status, state_->layout.dropping);
}

std::uint64_t Database::memory_bytes() const {
  std::uint64_t memtables = 0;
  state_->db->GetAggregatedIntProperty(rocksdb::DB::Properties::kSizeAllMemTables, &memtables);
  return state_->cache->GetUsage() + memtables;
}

DatabaseStatistics Database::statistics() const {
  return ReadStatistics(*state_->db, state_->statistics.get());
}

std::unique_ptr<LiveFiles> Database::live_files() const { return std::make_unique<LiveFiles>(*state_->db); }

std::vector<StoredFile> Database::sorted_files() const { return SortedFilesOf(*state_->db); }

rocksdb::DB& Database::db() const { return *state_->db; }

rocksdb::ColumnFamilyHandle* Database::handle(FamilyId family) const { return state_->Of(family); }

const DiskReserve& Database::reserve() const { return state_->reserve; }

bool Database::has_failed() const { return state_->failures.any(); }

}  // namespace packtrain::rocks
