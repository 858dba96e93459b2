// Reads the files of a database as they lie on disk, past all caches.
//
// Covered: each sorted file, every block by its checksum; the manifest and the write-ahead logs, every record
// by its checksum (log_file.h); CURRENT, which names the manifest. Not covered, since the database is opened
// without them: OPTIONS-*, IDENTITY, RocksDB's log of messages, and sorted files that the manifest does not
// name.
#ifndef PACKTRAIN_SERVER_ROCKS_VERIFY_FILES_H_
#define PACKTRAIN_SERVER_ROCKS_VERIFY_FILES_H_

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rocksdb {
class DB;
}

namespace packtrain::rocks {

struct StoredFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;  // that are in force: a log that grows has more
  bool grows = false;       // somebody may write to it
};

// DATA_LOSS: the file is not as it was written, or missing. UNAVAILABLE: the disk fails. Any thread.
absl::Status VerifyFile(const StoredFile& file);

class Instance;

// The files of a database that may be in use. They stay as long as this lives.
class LiveFiles {
 public:
  // `checks`, which is borrowed, counts those that are alive: the database is not opened again meanwhile.
  LiveFiles(std::shared_ptr<Instance> instance, std::atomic<int>& checks);
  ~LiveFiles();
  LiveFiles(const LiveFiles&) = delete;
  LiveFiles& operator=(const LiveFiles&) = delete;

  // UNAVAILABLE: the database cannot tell.
  absl::StatusOr<std::vector<StoredFile>> List() const;

 private:
  const std::shared_ptr<Instance> instance_;
  std::atomic<int>& checks_;
};

// CURRENT, manifests and logs in the folder of a database that nobody has open; of manifests that of CURRENT,
// or all where CURRENT names none.
std::vector<StoredFile> JournalsIn(const std::filesystem::path& folder);

// The sorted files that a database opened for reading names.
std::vector<StoredFile> SortedFilesOf(rocksdb::DB& database);

// All sorted files in a folder, for a database that cannot be opened.
std::vector<StoredFile> SortedFilesIn(const std::filesystem::path& folder);

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_VERIFY_FILES_H_
