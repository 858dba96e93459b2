// Reads the files of a database as they lie on disk.
#ifndef PACKTRAIN_SERVER_ROCKS_VERIFY_FILES_H_
#define PACKTRAIN_SERVER_ROCKS_VERIFY_FILES_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace rocksdb {
class DB;
}

namespace packtrain::rocks {

// A path, and DATA_LOSS or UNAVAILABLE where the file is not as it was written. A failing sink ends the
// reading.
using FileSink = absl::FunctionRef<absl::Status(const std::string& path, const absl::Status& status)>;

// Verifies the checksum of every block of each live sorted file, past all caches, and calls `sink` once for
// each file. The database may be in use. Any thread.
absl::Status VerifyFiles(rocksdb::DB& database, FileSink sink);

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_VERIFY_FILES_H_
