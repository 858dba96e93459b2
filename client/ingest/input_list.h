// The inputs of an import, one after the other: files, members of archives, folders.
//
//   ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<InputList> inputs, InputList::Create(format, paths, options));
//   while (true) {
//     absl::StatusOr<std::unique_ptr<GraphReader>> reader = inputs->Next();
//     if (!reader.ok() && IsRefusal(reader.status())) ...  // the ledger has it; the next call goes on
//     if (*reader == nullptr) break;
//     ...                                                   // read it to its end, and destroy it
//   }
//   const std::vector<v1::SourceFile>& sources = inputs->sources();
#ifndef PACKTRAIN_CLIENT_INGEST_INPUT_LIST_H_
#define PACKTRAIN_CLIENT_INGEST_INPUT_LIST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/archive_reader.h"
#include "client/ingest/disk_file.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/input_folder.h"
#include "client/ingest/source_files.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// In the order of the arguments, the files of a folder by name, and the members of an archive as it has them.
// Used by one thread at a time.
class InputList {
 public:
  // Finds every file, and opens none. `format` opens graphs or folders, and is borrowed. Errors of FindFiles,
  // and INVALID_ARGUMENT for a name that is not UTF-8.
  static absl::StatusOr<std::unique_ptr<InputList>> Create(const Format& format,
                                                           const std::vector<std::string>& paths,
                                                           const ReadOptions& options);

  // Files, archives and folders, in their order; members of archives show only when they are read.
  const std::vector<std::string>& files() const { return found_.files; }

  // Opens the next input by the format; null behind the last. What was opened before must be gone. A refusal
  // (of ArchiveReader::Next, InputFolder::Open and the format) is that of one input: the next call goes on
  // behind it. Other errors end the import; ABORTED: a file is not what it was before Restart, or what the
  // options say of it.
  absl::StatusOr<std::unique_ptr<GraphReader>> Next();

  // Of the input that Next opened or refused last: FILE, ARCHIVE/MEMBER or FOLDER. It names a graph by StemOf.
  const std::string& path() const { return path_; }

  // Whether all can be read a second time, which a pipe cannot.
  bool can_restart() const { return can_restart_; }
  // The next call of Next opens the first input. What was opened before must be gone.
  absl::Status Restart();

  // Reads what is left of the file that is open, for its digest; nothing may be read of it afterwards. Next
  // does so for the file before.
  absl::Status Close();

  // Bytes on disk of all inputs, where a pipe counts as none, and of these consumed since the last Restart.
  std::uint64_t total_bytes() const { return total_bytes_; }
  std::uint64_t consumed_bytes() const;

  // The files, archives and files of folders that were closed since the last Restart, as they lie on disk.
  const std::vector<v1::SourceFile>& sources() const { return sources_; }

  // What folders and archives hold beside the files of the format, as far as it was met since the last Restart.
  std::vector<PassedOver> passed_over() const;

 private:
  InputList(const Format& format, FoundFiles found, const ReadOptions& options);

  absl::Status Measure();
  absl::StatusOr<std::unique_ptr<GraphReader>> OpenMember();
  absl::StatusOr<std::unique_ptr<GraphReader>> OpenFolder();
  absl::Status OpenFile(std::unique_ptr<ByteSource>* file);
  absl::Status AddSource(v1::SourceFile source);

  const Format& format_;
  const FoundFiles found_;
  const ReadOptions options_;
  bool can_restart_ = true;
  std::uint64_t total_bytes_ = 0;

  std::size_t next_ = 0;  // of `found_.files`
  std::string path_;
  std::shared_ptr<DiskFile> file_;          // that is open; null: none
  std::unique_ptr<ArchiveReader> archive_;  // of `file_`, where it is one
  std::unique_ptr<InputFolder> folder_;     // that is open; null: none
  std::uint64_t closed_bytes_ = 0;
  std::vector<v1::SourceFile> sources_;
  std::vector<v1::SourceFile> first_sources_;  // before the first Restart
  std::vector<PassedOver> passed_over_;        // of what was closed
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_INPUT_LIST_H_
