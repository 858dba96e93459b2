#include "server/storage/rocks_database.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/rocks/disk_reserve.h"
#include "server/rocks/manifest_guard.h"
#include "server/rocks/message_log.h"
#include "server/rocks/recovery.h"
#include "server/rocks/rocks_status.h"
#include "server/storage/key_schema.h"
#include "server/storage/prefetch.h"

namespace packtrain::storage {
namespace {

using rocks::ToStatus;

constexpr std::array<const char*, 3> kFamilyNames = {"meta", "graphs", "sizes"};

// How much a sorted file takes in between two looks at the free space.
constexpr std::uint64_t kSpaceCheckBytes = 1 << 20;

// How many values one read pins at a time.
constexpr std::size_t kMultiGetKeys = 128;

rocksdb::Slice ToSlice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

rocksdb::BlockBasedTableOptions TableOptions(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  // One budget for everything read from files, so that memory has a bound that can be stated.
  table.block_cache = cache;
  table.cache_index_and_filter_blocks = true;
  // An index evicted by a scan of records would have to be read again for each of the next reads.
  table.cache_index_and_filter_blocks_with_high_priority = true;
  // Random reads of records below 1 kB: a larger block is mostly bytes nobody asked for.
  table.block_size = 4 << 10;
  // The fastest of the checksums where CRC32C has no hardware support in RocksDB's build.
  table.checksum = rocksdb::kXXH3;
  // No filter: nobody asks for a key that isn't there.
  table.filter_policy = nullptr;
  // Finds a key inside a block by hash; the binary search over keys that share 15 bytes is slow. The hash leads
  // to the key itself, not to one in front of it from which a read would step over records of a kB each: every
  // step waits for memory, and a key that is whole takes 13 bytes more.
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.block_restart_interval = 1;
  return table;
}

rocksdb::ColumnFamilyOptions FamilyOptions(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(TableOptions(cache)));
  // Coordinates and targets hardly shrink, and reads would pay for it.
  options.compression = rocksdb::kNoCompression;
  options.bottommost_compression = rocksdb::kNoCompression;
  return options;
}

rocksdb::ColumnFamilyOptions FamilyOptions(Family family, const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options = FamilyOptions(cache);
  // Only ingested files, sorted and apart from each other: a compaction would rewrite them for nothing.
  if (family != Family::kMeta) options.disable_auto_compactions = true;
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> Families(const std::shared_ptr<rocksdb::Cache>& cache) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const Family family : {Family::kMeta, Family::kGraphs, Family::kSizes}) {
    families.emplace_back(kFamilyNames[static_cast<std::size_t>(family)], FamilyOptions(family, cache));
  }
  families.emplace_back(rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions());
  return families;
}

rocksdb::DBOptions DatabaseOptions(rocksdb::Env* env, const rocks::DiskFailures& failures) {
  rocksdb::DBOptions options;
  options.env = env;
  options.listeners.push_back(failures.listener());
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  // A few hundred files at most, so all stay open and no read has to open one.
  options.max_open_files = -1;
  // Damage in the log fails the opening, except for a last record that was cut off. RocksDB's default ends the
  // log at the damage, and what was acknowledged later is gone without a word.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // The log holds descriptions of data sets only; this bounds what an opening has to replay.
  options.max_total_wal_size = 16 << 20;
  // RocksDB's own log is for finding faults; a few files are enough.
  options.keep_log_file_num = 4;
  options.max_log_file_size = 4 << 20;
  return options;
}

}  // namespace

struct RocksDatabase::Handle {
  Handle(const std::filesystem::path& folder, const RocksDatabaseOptions& options)
      : messages(rocks::LoseMessages(options.env)),
        env(rocks::GuardManifest(messages.get())),
        reserve(folder, options.reserve_bytes) {}
  ~Handle() {
    for (rocksdb::ColumnFamilyHandle* family : families) db->DestroyColumnFamilyHandle(family);
  }

  rocksdb::ColumnFamilyHandle* Of(Family family) const { return families[static_cast<std::size_t>(family)]; }

  rocksdb::Status FlushMeta() {
    const rocksdb::Status status =
        db->Flush(rocksdb::FlushOptions(), {db->DefaultColumnFamily(), Of(Family::kMeta)});
    return status.ok() ? rocks::KeepRecoverable(*db) : status;
  }

  using FileCheck = absl::Status (Handle::*)(Family family, const SortedFile& file) const;
  absl::Status ForEachFile(const std::vector<FilesOfFamily>& files, FileCheck check) const;
  // Reads the ends of a file that is not taken in yet. RocksDB reads them itself while it takes a file in, but
  // does not notice that it can't: it takes the file for an empty one, or aborts. So they are brought into the
  // cache, where it finds them.
  absl::Status CheckEnds(Family family, const SortedFile& file) const;
  // Finds the ends in the database, for the case that they had left the cache again.
  absl::Status CheckTakenIn(Family family, const SortedFile& file) const;

  const std::unique_ptr<rocksdb::Env> messages;  // under `env`
  const std::unique_ptr<rocksdb::Env> env;
  std::shared_ptr<rocksdb::Statistics> statistics;
  const rocks::DiskFailures failures;
  rocks::RecoveringWrites writes;
  std::shared_ptr<rocksdb::Cache> cache;
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;  // as Family, then RocksDB's default
  rocks::DiskReserve reserve;
};

RocksDatabase::RocksDatabase(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
RocksDatabase::~RocksDatabase() = default;

absl::StatusOr<std::shared_ptr<RocksDatabase>> RocksDatabase::Open(const std::filesystem::path& folder,
                                                                   const RocksDatabaseOptions& options) {
  // One spelling for one folder: RocksDB's table of locks in this process goes by path.
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(folder, error);
  if (error) return absl::FailedPreconditionError(absl::StrCat(folder.string(), ": ", error.message()));
  auto handle = std::make_unique<Handle>(path, options);
  handle->cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  rocksdb::DBOptions database_options = DatabaseOptions(handle->env.get(), handle->failures);
  if (options.statistics) database_options.statistics = handle->statistics = rocks::NewStatistics();
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(database_options, path.string(), Families(handle->cache), &handle->families, &db);
  if (!status.ok()) return rocks::OpenFailure(status, path);
  handle->db.reset(db);
  if (const rocksdb::Status kept = rocks::KeepRecoverable(*db); !kept.ok())
    return rocks::OpenFailure(kept, path);
  return std::shared_ptr<RocksDatabase>(new RocksDatabase(std::move(handle)));
}

absl::StatusOr<std::shared_ptr<RocksDatabase>> RocksDatabase::OpenForCheck(
    const std::filesystem::path& folder) {
  auto handle = std::make_unique<Handle>(folder, RocksDatabaseOptions());
  handle->cache = rocksdb::NewLRUCache(RocksDatabaseOptions().block_cache_bytes);
  rocksdb::DBOptions options = DatabaseOptions(handle->env.get(), handle->failures);
  options.paranoid_checks = false;  // or one damaged file would keep all others from being read
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(options, folder.string(), Families(handle->cache), &handle->families, &db);
  if (!status.ok()) return ToStatus(status, absl::StrCat("opening ", folder.string()));
  handle->db.reset(db);
  return std::shared_ptr<RocksDatabase>(new RocksDatabase(std::move(handle)));
}

absl::StatusOr<std::optional<std::string>> RocksDatabase::Get(Family family, std::string_view key) const {
  std::string value;
  const rocksdb::Status status =
      handle_->db->Get(rocksdb::ReadOptions(), handle_->Of(family), ToSlice(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return ToStatus(status, "reading the store");
  return std::optional<std::string>(std::move(value));
}

absl::Status RocksDatabase::Scan(Family family, std::string_view prefix, Visitor visit) const {
  rocksdb::ReadOptions options;
  // All graphs are scanned once: no block of theirs is worth the place of one that random reads come back to.
  options.fill_cache = family != Family::kGraphs;
  const std::unique_ptr<rocksdb::Iterator> it(handle_->db->NewIterator(options, handle_->Of(family)));
  for (it->Seek(ToSlice(prefix)); it->Valid() && it->key().starts_with(ToSlice(prefix)); it->Next()) {
    ABSL_RETURN_IF_ERROR(visit(ToView(it->key()), ToView(it->value())));
  }
  return ToStatus(it->status(), "scanning the store");
}

absl::Status RocksDatabase::MultiGet(Family family, std::span<const std::string_view> keys,
                                     ValueSink sink) const {
  std::array<rocksdb::Slice, kMultiGetKeys> slices;
  std::array<rocksdb::PinnableSlice, kMultiGetKeys> values;
  std::array<rocksdb::Status, kMultiGetKeys> statuses;
  for (std::size_t begin = 0; begin < keys.size(); begin += kMultiGetKeys) {
    const std::size_t count = std::min(kMultiGetKeys, keys.size() - begin);
    for (std::size_t k = 0; k < count; ++k) slices[k] = ToSlice(keys[begin + k]);
    handle_->db->MultiGet(rocksdb::ReadOptions(), handle_->Of(family), count, slices.data(), values.data(),
                          statuses.data(), /*sorted_input=*/true);
    // Of a value RocksDB has seen no more than the key before it.
    const auto prefetch = [&](std::size_t k) {
      Prefetch(std::as_bytes(std::span(ToView(values[std::min(k, count - 1)]))));
    };
    for (std::size_t k = 0; k < kRecordsAhead; ++k) prefetch(k);
    for (std::size_t k = 0; k < count; ++k) {
      prefetch(k + kRecordsAhead);
      absl::StatusOr<std::string_view> value = ToView(values[k]);
      if (!statuses[k].ok()) value = ToStatus(statuses[k], "reading the store");
      ABSL_RETURN_IF_ERROR(sink(begin + k, value));
      values[k].Reset();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::uint64_t>> RocksDatabase::StorageIds(Family family) const {
  const std::unique_ptr<rocksdb::Iterator> it(
      handle_->db->NewIterator(rocksdb::ReadOptions(), handle_->Of(family)));
  std::vector<std::uint64_t> ids;
  for (it->SeekToFirst(); it->Valid(); it->Seek(ToSlice(StorageKey(ids.back() + 1, 0).view()))) {
    const std::optional<std::uint64_t> id = StorageIdOf(ToView(it->key()));
    if (!id) return absl::DataLossError("the store holds a key that is too short");
    ids.push_back(*id);
    if (*id == std::numeric_limits<std::uint64_t>::max()) break;
  }
  if (!it->status().ok()) return ToStatus(it->status(), "scanning the store");
  return ids;
}

absl::Status RocksDatabase::Handle::CheckEnds(Family family, const SortedFile& file) const {
  rocksdb::SstFileReader reader(db->GetOptions(Of(family)));
  rocksdb::Status status = reader.Open(file.path);
  if (!status.ok()) return ToStatus(status, absl::StrCat("reading ", file.path));
  const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(rocksdb::ReadOptions()));
  it->SeekToFirst();
  bool whole = it->Valid() && ToView(it->key()) == file.first_key;
  if (whole) it->SeekToLast();
  whole = whole && it->Valid() && ToView(it->key()) == file.last_key;
  if (whole) return absl::OkStatus();
  if (!it->status().ok()) return ToStatus(it->status(), absl::StrCat("reading ", file.path));
  return absl::DataLossError(absl::StrCat(file.path, " does not hold what was written"));
}

absl::Status RocksDatabase::Handle::CheckTakenIn(Family family, const SortedFile& file) const {
  for (const std::string& key : {file.first_key, file.last_key}) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = db->Get(rocksdb::ReadOptions(), Of(family), key, &value);
    if (!status.ok())
      return absl::UnavailableError(absl::StrCat("taking in ", file.path, ": ", status.ToString()));
  }
  return absl::OkStatus();
}

absl::Status RocksDatabase::Handle::ForEachFile(const std::vector<FilesOfFamily>& files,
                                                FileCheck check) const {
  for (const FilesOfFamily& of_family : files) {
    for (const SortedFile& file : of_family.files) {
      ABSL_RETURN_IF_ERROR((this->*check)(of_family.family, file));
    }
  }
  return absl::OkStatus();
}

absl::Status RocksDatabase::Ingest(const std::vector<FilesOfFamily>& files) {
  ABSL_RETURN_IF_ERROR(handle_->reserve.Require(0));
  // RocksDB 7.8 takes files in under the number 0, or aborts, once it has been resumed.
  if (handle_->failures.any()) {
    return absl::UnavailableError(
        "the disk has failed, and the store takes no new graphs until the server is started again");
  }
  ABSL_RETURN_IF_ERROR(handle_->ForEachFile(files, &Handle::CheckEnds));
  rocksdb::IngestExternalFileOptions options;
  // The files lie on the same disk: taking them in costs a rename, not a copy.
  options.move_files = true;
  // The files stay as they were written and synced.
  options.write_global_seqno = false;
  // Nobody may see part of an ingest, and nobody can: nothing names the graphs before WriteMeta.
  options.snapshot_consistency = false;
  std::vector<rocksdb::IngestExternalFileArg> args;
  for (const FilesOfFamily& of_family : files) {
    rocksdb::IngestExternalFileArg& arg = args.emplace_back();
    arg.column_family = handle_->Of(of_family.family);
    for (const SortedFile& file : of_family.files) arg.external_files.push_back(file.path);
    arg.options = options;
  }
  const rocksdb::Status status = handle_->db->IngestExternalFiles(args);
  if (!status.ok()) return ToStatus(status, "taking in sorted files");
  return handle_->ForEachFile(files, &Handle::CheckTakenIn);
}

absl::Status RocksDatabase::WriteMeta(const std::vector<std::pair<std::string, std::string>>& entries,
                                      const std::vector<std::string>& removed) {
  rocksdb::WriteBatch batch;
  for (const std::string& key : removed) batch.Delete(handle_->Of(Family::kMeta), key);
  for (const auto& [key, value] : entries) batch.Put(handle_->Of(Family::kMeta), key, value);
  absl::Status space = handle_->reserve.Require(batch.GetDataSize());
  if (!space.ok() && removed.empty()) return space;
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status status =
      handle_->writes.Do(*handle_->db, [&] { return handle_->db->Write(options, &batch); });
  if (!status.ok()) return ToStatus(status, "writing the store");
  // Out of the log, where a damaged last record would pass for one that was cut off, into a file with
  // checksums. A failure takes nothing back: the log holds the entries, synced.
  handle_->FlushMeta().PermitUncheckedError();
  return absl::OkStatus();
}

absl::Status RocksDatabase::DropStorage(std::uint64_t storage_id) {
  const StorageKey begin(storage_id, 0), end(storage_id + 1, 0);
  const rocksdb::Slice from = ToSlice(begin.view()), to = ToSlice(end.view());
  const rocksdb::RangePtr range(&from, &to);
  for (const Family family : {Family::kGraphs, Family::kSizes}) {
    rocksdb::ColumnFamilyHandle* handle = handle_->Of(family);
    // Whole files at once, which is all there is as a rule. The tombstone is for what a file might share, and
    // the compaction for files of the first level, which DeleteFilesInRanges leaves alone.
    rocksdb::Status status = rocksdb::DeleteFilesInRanges(handle_->db.get(), handle, &range, 1, false);
    if (status.ok()) status = handle_->db->DeleteRange(rocksdb::WriteOptions(), handle, from, to);
    if (status.ok()) status = handle_->db->CompactRange(rocksdb::CompactRangeOptions(), handle, &from, &to);
    if (!status.ok()) return ToStatus(status, "reclaiming graphs");
  }
  return absl::OkStatus();
}

std::uint64_t RocksDatabase::memory_bytes() const {
  std::uint64_t bytes = handle_->cache->GetUsage();
  std::uint64_t memtables = 0;
  if (handle_->db->GetAggregatedIntProperty(rocksdb::DB::Properties::kSizeAllMemTables, &memtables)) {
    bytes += memtables;
  }
  return bytes;
}

rocks::DatabaseStatistics RocksDatabase::statistics() const {
  return rocks::ReadStatistics(*handle_->db, handle_->statistics.get());
}

std::unique_ptr<rocks::LiveFiles> RocksDatabase::live_files() const {
  return std::make_unique<rocks::LiveFiles>(*handle_->db);
}

std::vector<rocks::StoredFile> RocksDatabase::sorted_files() const {
  return rocks::SortedFilesOf(*handle_->db);
}

struct SortedFiles::Writer {
  Writer(const rocksdb::Options& options, rocksdb::ColumnFamilyHandle* family)
      : file(rocksdb::EnvOptions(), options, family) {}
  rocksdb::SstFileWriter file;
};

SortedFiles::SortedFiles(std::shared_ptr<RocksDatabase> database, Family family, std::string stem,
                         std::uint64_t file_bytes)
    : database_(std::move(database)), family_(family), stem_(std::move(stem)), file_bytes_(file_bytes) {}

SortedFiles::~SortedFiles() {
  writer_.reset();
  std::error_code ignored;  // what stays is reclaimed when the store is opened next
  for (const RocksDatabase::SortedFile& file : files_) std::filesystem::remove(file.path, ignored);
}

absl::Status SortedFiles::BeginFile() {
  ABSL_RETURN_IF_ERROR(database_->handle_->reserve.Require(kSpaceCheckBytes));
  const RocksDatabase::Handle& handle = *database_->handle_;
  writer_ = std::make_unique<Writer>(handle.db->GetOptions(handle.Of(family_)), handle.Of(family_));
  const std::string& path = files_.emplace_back().path = absl::StrCat(stem_, "-", files_.size(), ".sst");
  return ToStatus(writer_->file.Open(path), absl::StrCat("creating ", path));
}

absl::Status SortedFiles::RequireSpace(std::uint64_t bytes) {
  unchecked_bytes_ += bytes;
  if (unchecked_bytes_ < kSpaceCheckBytes) return absl::OkStatus();
  return database_->handle_->reserve.Require(std::exchange(unchecked_bytes_, 0));
}

absl::Status SortedFiles::EndFile() {
  rocksdb::ExternalSstFileInfo written;
  const rocksdb::Status status = writer_->file.Finish(&written);
  writer_.reset();
  RocksDatabase::SortedFile& file = files_.back();
  file.first_key = std::move(written.smallest_key);
  file.last_key = std::move(written.largest_key);
  return ToStatus(status, absl::StrCat("writing ", file.path));
}

absl::Status SortedFiles::Add(std::string_view key, std::string_view value) {
  if (failure_.ok()) failure_ = TryAdd(key, value);
  return failure_;
}

absl::Status SortedFiles::TryAdd(std::string_view key, std::string_view value) {
  if (writer_ == nullptr) {
    ABSL_RETURN_IF_ERROR(BeginFile());
  }
  ABSL_RETURN_IF_ERROR(RequireSpace(key.size() + value.size()));
  const rocksdb::Status status = writer_->file.Put(ToSlice(key), ToSlice(value));
  if (!status.ok()) return ToStatus(status, absl::StrCat("writing ", files_.back().path));
  return writer_->file.FileSize() < file_bytes_ ? absl::OkStatus() : EndFile();
}

absl::StatusOr<RocksDatabase::FilesOfFamily> SortedFiles::Finish() {
  ABSL_RETURN_IF_ERROR(failure_);
  if (writer_ != nullptr) {
    // What the file still holds back in memory.
    ABSL_RETURN_IF_ERROR(database_->handle_->reserve.Require(kSpaceCheckBytes));
    if (failure_ = EndFile(); !failure_.ok()) return failure_;
  }
  return RocksDatabase::FilesOfFamily{family_, files_};
}

}  // namespace packtrain::storage
