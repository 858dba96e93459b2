// A file that is there whole or not at all.
#ifndef PACKTRAIN_PROTO_BASE_WHOLE_FILE_H_
#define PACKTRAIN_PROTO_BASE_WHOLE_FILE_H_

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace packtrain::base {

// Written to a file without a name in its folder, which ends with the program however that ends, and put in its
// place at the end. Where a file system has no such files (NFS), to PATH.partial: that stays when the program
// is killed, and the next one writes over it. A link is followed. What is there and no file, such as a device,
// a pipe or what /dev/stdout leads to, is written to as it is: through a descriptor of this program from where
// that stands, otherwise behind what it holds. "-" names none of them. Used by one thread.
class WholeFile {
 public:
  // INVALID_ARGUMENT: it cannot be written; also of Write and Commit. The message names the path.
  static absl::StatusOr<std::unique_ptr<WholeFile>> Create(std::string path);
  // What is not committed leaves no trace.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  // Whether it is what the program's results are printed to.
  bool IsStandardOutput() const;

  absl::Status Write(std::string_view bytes);

  // Syncs what was written and puts it in place of what was there. To be called once, last.
  absl::Status Commit();

 private:
  enum class Place { kUnnamed, kPartial, kAsItIs };

  WholeFile(std::string path, std::FILE* file, Place place);
  // `file` is null, and errno says why, where it cannot be written.
  static absl::StatusOr<std::unique_ptr<WholeFile>> Of(std::string path, std::FILE* file, Place place);
  absl::Status Failed() const;
  absl::Status GiveName();

  const std::string path_;
  const std::string partial_;
  std::FILE* file_;  // null once committed
  Place place_;
};

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_WHOLE_FILE_H_
