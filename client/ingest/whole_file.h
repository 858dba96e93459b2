// A file that is there whole or not at all.
#ifndef PACKTRAIN_CLIENT_INGEST_WHOLE_FILE_H_
#define PACKTRAIN_CLIENT_INGEST_WHOLE_FILE_H_

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace packtrain::ingest {

// Written beside its place, as PATH.partial, and put there at the end. Used by one thread.
class WholeFile {
 public:
  // INVALID_ARGUMENT: it cannot be written; also of Write and Commit. The message names the path.
  static absl::StatusOr<std::unique_ptr<WholeFile>> Create(std::string path);
  // What is not committed leaves no trace, unless the program is killed: then PATH.partial stays.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  absl::Status Write(std::string_view bytes);

  // Syncs what was written and puts it in place of what was there. To be called once, last.
  absl::Status Commit();

 private:
  WholeFile(std::string path, std::FILE* file);
  absl::Status Failed() const;

  const std::string path_;
  const std::string partial_;
  std::FILE* file_;  // null once committed
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_WHOLE_FILE_H_
