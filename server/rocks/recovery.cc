#include "server/rocks/recovery.h"

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <atomic>

namespace packtrain::rocks {

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

rocksdb::Status WriteRecovering(rocksdb::DB& db, absl::FunctionRef<rocksdb::Status()> write) {
  const rocksdb::Status status = write();
  const bool was_stopped = status.severity() >= rocksdb::Status::kHardError;
  if (!was_stopped || !db.Resume().ok()) return status;
  return write();
}

}  // namespace packtrain::rocks
