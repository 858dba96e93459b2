// The files of a folder or of an archive, by name: what a format whose data set is a folder reads.
//
//   for (const std::string& name : folder.names()) ...                      // "raw/edge.csv.gz"
//   ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, folder.Open("raw/edge.csv.gz"));
#ifndef PACKTRAIN_CLIENT_INGEST_INPUT_FOLDER_H_
#define PACKTRAIN_CLIENT_INGEST_INPUT_FOLDER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/byte_source.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/source_files.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// Used by one thread; the files that it opens may be read by another thread each.
class InputFolder {
 public:
  // Finds the regular files below `path`, a folder or a tar or zip archive, whose names have one of
  // `extensions` (".txt"), packed or not (".gz", ".xz"). The members of an archive are unpacked to a file
  // without a name in $TMPDIR. NOT_FOUND: there is no such folder, or no such file in it. Refusals:
  // "too_many_members", those of ArchiveReader::Next, and "no_folder" where `path` is neither.
  static absl::StatusOr<std::unique_ptr<InputFolder>> Open(const std::string& path,
                                                           std::span<const std::string_view> extensions,
                                                           const ReadLimits& limits);
  virtual ~InputFolder() = default;

  const std::string& path() const { return path_; }

  // Of the files, relative to the folder, with "/" between folders; sorted.
  const std::vector<std::string>& names() const { return found_.files; }
  const std::vector<PassedOver>& passed_over() const { return found_.passed_over; }

  // Opens a file from its beginning, unpacked; its path() is PATH/NAME. As often as wanted, and several may be
  // open at a time. NOT_FOUND: `names` has no such name. What is read must not outlive the folder.
  virtual absl::StatusOr<std::unique_ptr<ByteSource>> Open(std::string_view name) = 0;

  // Bytes on disk, of all `names` or of the archive, and of these consumed so far.
  virtual std::uint64_t total_bytes() const = 0;
  virtual std::uint64_t consumed_bytes() const = 0;

  // Reads what is left, and describes the files that were opened, or the archive, as they lie on disk. Nothing
  // may be read afterwards.
  virtual absl::StatusOr<std::vector<v1::SourceFile>> Describe() = 0;

 protected:
  InputFolder(std::string path, FoundFiles found);
  // Whether `names` has it; NOT_FOUND otherwise.
  absl::Status CheckName(std::string_view name) const;

 private:
  const std::string path_;
  const FoundFiles found_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_INPUT_FOLDER_H_
