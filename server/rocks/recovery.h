// Writing again after a disk that failed, and around a defect of RocksDB 7.8: after Resume it goes on in the
// log that failed, and aborts (fixed in 9.6).
#ifndef PACKTRAIN_SERVER_ROCKS_RECOVERY_H_
#define PACKTRAIN_SERVER_ROCKS_RECOVERY_H_

#include <memory>
#include <shared_mutex>

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

// Puts something that says nothing into the memory of the default family, beside the log. Resume begins a new
// log only where there is something to flush; without a new one, the next write goes to the log that failed. To
// be called after opening and after a flush of that family.
rocksdb::Status KeepRecoverable(rocksdb::DB& db);

// The writes of one database, which KeepRecoverable was called for, carried over failures of its disk. Any
// number of threads may use it.
class RecoveringWrites {
 public:
  // Calls `write`, and again where an earlier failure had stopped RocksDB, which then refuses every write until
  // it is told to look again (Resume). It is not told at the failure itself: resuming on a disk that is still
  // full stops it for good.
  rocksdb::Status Do(rocksdb::DB& db, absl::FunctionRef<rocksdb::Status()> write);

 private:
  // Shared by writes; held alone while RocksDB recovers.
  std::shared_mutex mutex_;
};

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_RECOVERY_H_
