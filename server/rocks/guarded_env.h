// Two defects of RocksDB 7.8: it aborts after a message that it could not log (fixed in 8.2), and deletes
// sorted files that its manifest may name (still there in 11.8).
#ifndef PACKTRAIN_SERVER_ROCKS_GUARDED_ENV_H_
#define PACKTRAIN_SERVER_ROCKS_GUARDED_ENV_H_

#include <memory>

namespace rocksdb {
class Env;
}

namespace packtrain::rocks {

// An Env over `base` (null: the system's) under which a database survives both. `base` must outlive it; any
// number of threads may use it.
//
// Messages: what cannot be written to RocksDB's own log, as on a full disk, is dropped. Without this, a library
// that was built with assertions, as Debian's is, ends the process at the message after one that failed.
//
// Manifest: RocksDB deletes the files of an ingest whose record it could not write or sync to the manifest. But
// the record may be there for the next process to read, which then can't open the database for want of the
// files. So from a failed write to a manifest on, no sorted file is deleted until a new manifest is in force.
// What stays behind is deleted when the database is opened next.
std::unique_ptr<rocksdb::Env> GuardEnv(rocksdb::Env* base);

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_GUARDED_ENV_H_
