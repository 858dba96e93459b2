#include "server/rocks/instance.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <atomic>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/rocks/rocks_status.h"

namespace packtrain::rocks {
namespace {

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

rocksdb::DBOptions OpenOptions(const InstanceOptions& instance, rocksdb::Env* env) {
  rocksdb::DBOptions options;
  options.env = env;
  options.statistics = instance.statistics;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  // A few hundred files at most, so all stay open and no read has to open one.
  options.max_open_files = -1;
  // Corruption in the log fails the opening, except for a last record that was cut off. RocksDB's default ends
  // the log at the corruption, and what was acknowledged later is lost silently.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // Families that are hardly written to hold back the log; this bounds what an opening has to replay.
  options.max_total_wal_size = 64 << 20;
  // Of the memtables of all families together: a part of the server's memory.
  options.db_write_buffer_size = 32 << 20;
  // RocksDB is not safe to go on with once a disk has stopped it: it is opened again (Database), so it shall
  // not look for space by itself, and leave nothing to be written when it is closed.
  options.max_bgerror_resume_count = 0;
  options.avoid_flush_during_shutdown = true;
  // What is free is what the file system says is free: no file takes space ahead of its content.
  options.allow_fallocate = false;
  // RocksDB's own log is for finding faults; a few files are enough.
  options.keep_log_file_num = 4;
  options.max_log_file_size = 4 << 20;
  return options;
}

}  // namespace

// Knows whether a failing disk has stopped a part of RocksDB's work, and keeps it from recovering by itself,
// which would look for space every five seconds.
class Instance::Failures : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
    if (error->severity() >= rocksdb::Status::kSoftError) any = true;
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* auto_recovery) override {
    *auto_recovery = false;
  }

  std::atomic<bool> any = false;
};

Instance::Instance(rocksdb::Env* env, Access access)
    : access_(access), env_(env), failures_(std::make_shared<Failures>()) {}

Instance::~Instance() {
  for (rocksdb::ColumnFamilyHandle* family : families_)
    db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
}

absl::StatusOr<std::shared_ptr<Instance>> Instance::Open(const InstanceOptions& options, Access access) {
  std::shared_ptr<Instance> instance(new Instance(options.env, access));
  ABSL_RETURN_IF_ERROR(instance->OpenDatabase(options, access));
  return instance;
}

absl::Status Instance::OpenDatabase(const InstanceOptions& options, Access access) {
  rocksdb::DBOptions how = OpenOptions(options, env_.env());
  how.listeners.push_back(failures_);
  how.paranoid_checks = access != Access::kCheck;  // or one corrupt file would keep all others from being read
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = Families(options.layout, options.cache);
  const std::string folder = options.folder.string();
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = access == Access::kWriting
                                     ? rocksdb::DB::Open(how, folder, families, &families_, &db)
                                     : rocksdb::DB::OpenForReadOnly(how, folder, families, &families_, &db);
  db_.reset(db);
  return ToStatus(status, absl::StrCat("opening ", folder));
}

bool Instance::takes_writes() const { return access_ == Access::kWriting && !failures_->any && !retired_; }

void Instance::Retire() {
  if (retired_.exchange(true)) return;
  db_->PauseBackgroundWork().PermitUncheckedError();
  env_.Retire();
}

}  // namespace packtrain::rocks
