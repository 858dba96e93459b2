#include "server/rocks/verify_files.h"

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "server/rocks/rocks_status.h"

namespace packtrain::rocks {
namespace {

// Keeps files that a compaction replaces until it is gone.
class FilesStay {
 public:
  explicit FilesStay(rocksdb::DB& database) : database_(database) {
    database_.DisableFileDeletions().PermitUncheckedError();
  }
  ~FilesStay() { database_.EnableFileDeletions(/*force=*/false).PermitUncheckedError(); }
  FilesStay(const FilesStay&) = delete;
  FilesStay& operator=(const FilesStay&) = delete;

 private:
  rocksdb::DB& database_;
};

absl::Status VerifyFile(rocksdb::Env* env, const std::string& path) {
  rocksdb::Options options;  // with a cache of its own
  options.env = env;
  rocksdb::SstFileReader reader(options);
  rocksdb::Status status = reader.Open(path);
  if (status.ok()) status = reader.VerifyChecksum();
  return ToStatus(status, absl::StrCat("reading ", path));
}

}  // namespace

absl::Status VerifyFiles(rocksdb::DB& database, FileSink sink) {
  const FilesStay stay(database);
  std::vector<rocksdb::LiveFileMetaData> files;
  database.GetLiveFilesMetaData(&files);
  for (const rocksdb::LiveFileMetaData& file : files) {
    const std::string path = file.db_path + file.name;
    if (absl::Status status = sink(path, VerifyFile(database.GetEnv(), path)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace packtrain::rocks
