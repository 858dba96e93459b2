#include "server/runs/run_database.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/rocks/message_log.h"
#include "server/rocks/recovery.h"
#include "server/rocks/rocks_status.h"

namespace packtrain::runs {
namespace {

using rocks::ToStatus;

constexpr char kFormatKey[] = "format";
constexpr char kFormat[] = "1";

rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

std::string_view FromSlice(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

rocksdb::ColumnFamilyOptions FamilyOptions(rocksdb::CompressionType compression) {
  rocksdb::BlockBasedTableOptions table;
  // The fastest of the checksums where CRC32C has no hardware support in RocksDB's build.
  table.checksum = rocksdb::kXXH3;
  // Keys are read in order, whole runs of them: a larger block compresses better.
  table.block_size = 32 << 10;
  // Fixed, so that another RocksDB's default does not write files that this one cannot read.
  table.format_version = 5;
  rocksdb::ColumnFamilyOptions options;
  options.compression = compression;
  // Four families with two buffers each: a quarter of RocksDB's default keeps them below 128 MiB.
  options.write_buffer_size = 16 << 20;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> Families() {
  return {// One key.
          {rocksdb::kDefaultColumnFamilyName, FamilyOptions(rocksdb::kNoCompression)},
          // Texts, read whole when the store opens: unpacking must be fast.
          {"runs", FamilyOptions(rocksdb::kLZ4Compression)},
          // Most of the bytes by far, columns of counters that shrink well.
          {"steps", FamilyOptions(rocksdb::kZSTD)},
          // Few, and mostly floats.
          {"samples", FamilyOptions(rocksdb::kLZ4Compression)}};
}

rocksdb::DBOptions DatabaseOptions(rocksdb::Env* env) {
  rocksdb::DBOptions options;
  options.env = env;
  options.listeners.push_back(rocks::DiskFailures().listener());
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  // Damage in the log fails the opening, except for a last record that was cut off. RocksDB's default ends the
  // log at the damage, and what was acknowledged later is gone without a word.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // Families that are hardly written to hold back the log; this bounds what an opening has to replay.
  options.max_total_wal_size = 64 << 20;
  // RocksDB's own log is for finding faults; a few files are enough.
  options.keep_log_file_num = 4;
  options.max_log_file_size = 4 << 20;
  return options;
}

}  // namespace

struct RunDatabase::Handles {
  Handles(const std::filesystem::path& folder, const RunDatabaseOptions& options)
      : env(rocks::LoseMessages(options.env)), reserve(folder, options.reserve_bytes) {}
  ~Handles() {
    for (rocksdb::ColumnFamilyHandle* family : families) db->DestroyColumnFamilyHandle(family);
  }

  rocksdb::ColumnFamilyHandle* of(Family family) const { return families[static_cast<int>(family) + 1]; }

  absl::Status CheckFormat() {
    std::string found;
    const rocksdb::Status status = db->Get({}, families[0], kFormatKey, &found);
    if (status.IsNotFound()) return MarkFormat();
    if (!status.ok()) return ToStatus(status, "reading run database");
    if (found == kFormat) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("run database has format ", found, ", this program reads format ", kFormat));
  }

  absl::Status MarkFormat() {
    ABSL_RETURN_IF_ERROR(reserve.Require(sizeof(kFormatKey) + sizeof(kFormat)));
    return ToStatus(db->Put({}, families[0], kFormatKey, kFormat), "marking run database");
  }

  const std::unique_ptr<rocksdb::Env> env;
  const rocks::DiskReserve reserve;
  std::shared_ptr<rocksdb::Statistics> statistics;
  rocks::RecoveringWrites writes;
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
};

RunDatabase::RunDatabase(std::unique_ptr<Handles> handles) : handles_(std::move(handles)) {}

RunDatabase::~RunDatabase() = default;

absl::StatusOr<std::unique_ptr<RunDatabase>> RunDatabase::Open(const std::string& directory,
                                                               const RunDatabaseOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return absl::FailedPreconditionError(absl::StrCat("cannot create ", directory, ": ", error.message()));
  }
  auto handles = std::make_unique<Handles>(directory, options);
  rocksdb::DBOptions database_options = DatabaseOptions(handles->env.get());
  if (options.statistics) database_options.statistics = handles->statistics = rocks::NewStatistics();
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(database_options, directory, Families(), &handles->families, &db);
  if (!status.ok()) return rocks::OpenFailure(status, directory);
  handles->db.reset(db);
  if (const rocksdb::Status kept = rocks::KeepRecoverable(*db); !kept.ok()) {
    return rocks::OpenFailure(kept, directory);
  }
  ABSL_RETURN_IF_ERROR(handles->CheckFormat());
  return std::unique_ptr<RunDatabase>(new RunDatabase(std::move(handles)));
}

absl::StatusOr<std::unique_ptr<RunDatabase>> RunDatabase::OpenForCheck(const std::string& directory) {
  auto handles = std::make_unique<Handles>(directory, RunDatabaseOptions());
  rocksdb::DBOptions options = DatabaseOptions(handles->env.get());
  options.paranoid_checks = false;  // or one damaged file would keep all others from being read
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(options, directory, Families(), &handles->families, &db);
  if (!status.ok()) return ToStatus(status, absl::StrCat("opening ", directory));
  handles->db.reset(db);
  return std::unique_ptr<RunDatabase>(new RunDatabase(std::move(handles)));
}

absl::Status RunDatabase::Write(const std::vector<KeyValue>& entries, Durability durability) {
  rocksdb::WriteBatch batch;
  for (const KeyValue& entry : entries) batch.Put(handles_->of(entry.family), entry.key, entry.value);
  ABSL_RETURN_IF_ERROR(handles_->reserve.Require(batch.GetDataSize()));
  rocksdb::WriteOptions options;
  options.sync = durability == Durability::kDisk;
  const rocksdb::Status status =
      handles_->writes.Do(*handles_->db, [&] { return handles_->db->Write(options, &batch); });
  return ToStatus(status, "writing to run database");
}

absl::Status RunDatabase::Scan(Family family, std::string_view prefix, Visitor visit) const {
  const std::unique_ptr<rocksdb::Iterator> iterator(handles_->db->NewIterator({}, handles_->of(family)));
  for (iterator->Seek(ToSlice(prefix)); iterator->Valid(); iterator->Next()) {
    if (!iterator->key().starts_with(ToSlice(prefix))) break;
    absl::Status status = visit(FromSlice(iterator->key()), FromSlice(iterator->value()));
    ABSL_RETURN_IF_ERROR(status);
  }
  return ToStatus(iterator->status(), "reading run database");
}

absl::StatusOr<std::vector<std::string>> RunDatabase::NamesIn(Family family, std::string_view prefix) const {
  const std::unique_ptr<rocksdb::Iterator> iterator(handles_->db->NewIterator({}, handles_->of(family)));
  std::vector<std::string> names;
  iterator->Seek(ToSlice(prefix));
  while (iterator->Valid() && iterator->key().starts_with(ToSlice(prefix))) {
    const std::string_view rest = FromSlice(iterator->key()).substr(prefix.size());
    const std::string& name = names.emplace_back(rest.substr(0, rest.find('\0')));
    iterator->Seek(absl::StrCat(std::string(prefix), name, "\x01"));
  }
  if (!iterator->status().ok()) return ToStatus(iterator->status(), "reading run database");
  return names;
}

std::unique_ptr<rocks::LiveFiles> RunDatabase::live_files() const {
  return std::make_unique<rocks::LiveFiles>(*handles_->db);
}

std::vector<rocks::StoredFile> RunDatabase::sorted_files() const { return rocks::SortedFilesOf(*handles_->db); }

rocks::DatabaseStatistics RunDatabase::statistics() const {
  return rocks::ReadStatistics(*handles_->db, handles_->statistics.get());
}

}  // namespace packtrain::runs
