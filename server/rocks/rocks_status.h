// What RocksDB and the file system answer, as absl::Status.
#ifndef PACKTRAIN_SERVER_ROCKS_ROCKS_STATUS_H_
#define PACKTRAIN_SERVER_ROCKS_ROCKS_STATUS_H_

#include <string_view>

#include "absl/status/status.h"

namespace rocksdb {
class Status;
}

namespace packtrain::rocks {

// RESOURCE_EXHAUSTED: no space. DATA_LOSS: what is stored is corrupt. NOT_FOUND. UNAVAILABLE: anything else.
// `doing` says what failed: "reading the store".
absl::Status ToStatus(const rocksdb::Status& status, std::string_view doing);
// Of the system's error number. RESOURCE_EXHAUSTED: no space. UNAVAILABLE: anything else.
absl::Status ToStatus(int error, std::string_view doing);

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_ROCKS_STATUS_H_
