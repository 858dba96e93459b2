// Writing again after a disk that failed.
#ifndef PACKTRAIN_SERVER_ROCKS_RECOVERY_H_
#define PACKTRAIN_SERVER_ROCKS_RECOVERY_H_

#include <memory>

#include "absl/functional/function_ref.h"

namespace rocksdb {
class DB;
class EventListener;
class Status;
}  // namespace rocksdb

namespace packtrain::rocks {

// Knows whether a failing disk has stopped a database since it was opened. Any number of threads may use it.
class DiskFailures {
 public:
  DiskFailures();

  // For the options of the database. It also keeps RocksDB from recovering by itself, which would look for
  // space every five seconds, and fail Resume meanwhile.
  std::shared_ptr<rocksdb::EventListener> listener() const;

  bool any() const;

 private:
  class Listener;
  const std::shared_ptr<Listener> listener_;
};

// Calls `write`, and again where an earlier failure of the disk had stopped RocksDB, which then refuses every
// write until it is told to look again (Resume). It is not told at the failure itself: resuming on a disk that
// is still full stops it for good.
rocksdb::Status WriteRecovering(rocksdb::DB& db, absl::FunctionRef<rocksdb::Status()> write);

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_RECOVERY_H_
