#include "server/rocks/recovery.h"

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <atomic>

namespace packtrain::rocks {

namespace {

bool IsStopped(const rocksdb::Status& status) { return status.severity() >= rocksdb::Status::kHardError; }

}  // namespace

class DiskFailures::Listener : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
    if (error->severity() >= rocksdb::Status::kHardError) any = true;
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* auto_recovery) override {
    *auto_recovery = false;
  }

  std::atomic<bool> any = false;
};

DiskFailures::DiskFailures() : listener_(std::make_shared<Listener>()) {}

std::shared_ptr<rocksdb::EventListener> DiskFailures::listener() const { return listener_; }

bool DiskFailures::any() const { return listener_->any; }

rocksdb::Status KeepRecoverable(rocksdb::DB& db) {
  rocksdb::WriteOptions beside_the_log;
  beside_the_log.disableWAL = true;
  return db.Delete(beside_the_log, "no such key");
}

rocksdb::Status RecoveringWrites::Do(rocksdb::DB& db, absl::FunctionRef<rocksdb::Status()> write) {
  {
    const std::shared_lock lock(mutex_);
    rocksdb::Status status = write();
    if (!IsStopped(status)) return status;
  }
  const std::unique_lock lock(mutex_);
  rocksdb::Status status = write();  // another thread may have been here first
  if (!IsStopped(status) || !db.Resume().ok() || !KeepRecoverable(db).ok()) return status;
  return write();
}

}  // namespace packtrain::rocks
