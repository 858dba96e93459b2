// Keeps a database openable when writing its manifest fails.
#ifndef PACKTRAIN_SERVER_ROCKS_MANIFEST_GUARD_H_
#define PACKTRAIN_SERVER_ROCKS_MANIFEST_GUARD_H_

#include <memory>

namespace rocksdb {
class Env;
}

namespace packtrain::rocks {

// An Env over `base` (null: the system's) for a database that takes in sorted files. RocksDB 7.8 deletes the
// files of an ingest whose manifest record it could not write or sync. But the record may be there for the next
// process to read, which then can't open the database for want of the files. So from a failed write to a
// manifest on, no sorted file is deleted until a new manifest is in force; what stays behind goes when the
// database is opened next. `base` must outlive it; any number of threads may use it.
std::unique_ptr<rocksdb::Env> GuardManifest(rocksdb::Env* base);

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_MANIFEST_GUARD_H_
