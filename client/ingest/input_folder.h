// The files of a folder or of an archive, by name: what a format whose data set is a folder reads.
//
//   for (const std::string& name : folder.names()) ...                      // "raw/edge.csv.gz"
//   ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, folder.Open("raw/edge.csv.gz"));
#ifndef PACKTRAIN_CLIENT_INGEST_INPUT_FOLDER_H_
#define PACKTRAIN_CLIENT_INGEST_INPUT_FOLDER_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/byte_source.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

// Used by one thread; the files that it opens may be read by another thread each.
class InputFolder {
 public:
  // Finds the regular files below `path`, a folder, whose names end in one of `extensions` (".txt"), packed or
  // not (".gz", ".xz"). NOT_FOUND: there is no such folder, or no such file in it.
  static absl::StatusOr<std::unique_ptr<InputFolder>> Open(const std::string& path,
                                                           std::span<const std::string_view> extensions,
                                                           const ReadLimits& limits);
  virtual ~InputFolder() = default;

  const std::string& path() const { return path_; }

  // Of the files, relative to the folder, with "/" between folders; sorted.
  const std::vector<std::string>& names() const { return names_; }

  // Opens a file from its beginning, unpacked; its path() is PATH/NAME. As often as wanted, and several may be
  // open at a time. NOT_FOUND: `names` has no such name. What is read must not outlive the folder.
  virtual absl::StatusOr<std::unique_ptr<ByteSource>> Open(std::string_view name) = 0;

 protected:
  InputFolder(std::string path, std::vector<std::string> names)
      : path_(std::move(path)), names_(std::move(names)) {}

 private:
  const std::string path_;
  const std::vector<std::string> names_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_INPUT_FOLDER_H_
