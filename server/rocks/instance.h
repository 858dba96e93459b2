// One opening of a RocksDB database. rocks::Database goes on with another one where a disk has stopped it.
#ifndef PACKTRAIN_SERVER_ROCKS_INSTANCE_H_
#define PACKTRAIN_SERVER_ROCKS_INSTANCE_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rocks/database.h"
#include "server/rocks/guarded_env.h"

namespace rocksdb {
class Cache;
class Statistics;
struct Options;
}  // namespace rocksdb

namespace packtrain::rocks {

// What a database is opened for.
enum class Access : std::uint8_t {
  kWriting,
  kReading,  // it changes nothing, and needs no space
  kCheck,    // as kReading, but passes over what is corrupt where RocksDB can
};

// What all openings of one database share.
struct InstanceOptions {
  std::filesystem::path folder;
  DatabaseLayout layout;
  rocksdb::Env* env = nullptr;  // null: the system's
  std::shared_ptr<rocksdb::Cache> cache;
  std::shared_ptr<rocksdb::Statistics> statistics;  // null: nobody counts
};

// Any number of threads may use it.
class Instance {
 public:
  // Takes no lock. DATA_LOSS, RESOURCE_EXHAUSTED, UNAVAILABLE as ToStatus.
  static absl::StatusOr<std::shared_ptr<Instance>> Open(const InstanceOptions& options, Access access);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  rocksdb::DB& db() const { return *db_; }
  rocksdb::ColumnFamilyHandle* handle(FamilyId family) const { return families_[family.index()]; }

  // Whether it was opened for writing, no failure of the disk has stopped any of its work, and it is not
  // retired.
  bool takes_writes() const;

  // Waits for its background work, and keeps it from changing any file from here on. It can be read on, also
  // while another one has the same files open. Nobody may be writing.
  void Retire();

 private:
  class Failures;
  Instance(rocksdb::Env* env, Access access);
  absl::Status OpenDatabase(const InstanceOptions& options, Access access);

  const Access access_;
  GuardedEnv env_;
  const std::shared_ptr<Failures> failures_;
  std::atomic<bool> retired_ = false;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;  // in the layout's order, and RocksDB's default where it
                                                        // is not one of them
};

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_INSTANCE_H_
