// Three defects of RocksDB 7.8: it aborts after a message that it could not log (fixed in 8.2), deletes sorted
// files that its manifest may name (still there in 11.8), and is not safe to go on with once a disk has stopped
// it (Resume; fixed from 8.9 on), so that it has to be opened again.
#ifndef PACKTRAIN_SERVER_ROCKS_GUARDED_ENV_H_
#define PACKTRAIN_SERVER_ROCKS_GUARDED_ENV_H_

#include <atomic>
#include <memory>

namespace rocksdb {
class Env;
}

namespace packtrain::rocks {

// What one opening of a database does its files with. Any number of threads may use it.
//
// Messages: what cannot be written to RocksDB's own log, as on a full disk, is dropped. Without this, a library
// that was built with assertions, as Debian's is, ends the process at the message after one that failed.
//
// Manifest: RocksDB deletes the files of an ingest whose record it could not write or sync to the manifest. But
// the record may be there for the next opening to read, which then can't open the database for want of the
// files. So from a failed write to a manifest on, no sorted file is deleted until a new manifest is in force.
// What stays behind is deleted when the database is opened next.
//
// Retiring: the files can be read on, but nothing is written, renamed or deleted any more, so that the same
// files can be opened again while iterators of the former opening are left.
//
// Ingested files: they are not synced again. Whoever wrote them has done so (SortedFileWriter); their new names
// are synced with the folder, before the manifest says that they are there.
//
// No lock is taken: the folder's is held by the whole database (folder_lock.h), however often it is opened.
class GuardedEnv {
 public:
  // Over `base` (null: the system's), which must outlive this.
  explicit GuardedEnv(rocksdb::Env* base);
  ~GuardedEnv();
  GuardedEnv(const GuardedEnv&) = delete;
  GuardedEnv& operator=(const GuardedEnv&) = delete;

  rocksdb::Env* env() const { return env_.get(); }
  void Retire() { *retired_ = true; }

 private:
  const std::shared_ptr<std::atomic<bool>> retired_;
  const std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_GUARDED_ENV_H_
