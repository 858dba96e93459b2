// Sorted files: written outside a database, then taken in whole.
//
//   rocks::SortedFileWriter graphs(database, Family::kGraphs, "staging/1-graphs", file_bytes);
//   ABSL_RETURN_IF_ERROR(graphs.Add(key, record));  // again and again, keys ascending
//   ABSL_ASSIGN_OR_RETURN(const std::vector<rocks::SortedFile> files, graphs.Finish());
//   ABSL_RETURN_IF_ERROR(rocks::Ingest(*database, files));
#ifndef PACKTRAIN_SERVER_ROCKS_SORTED_FILES_H_
#define PACKTRAIN_SERVER_ROCKS_SORTED_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rocks/database.h"

namespace packtrain::rocks {

// A finished file, and the keys it begins and ends with.
struct SortedFile {
  FamilyId family;
  std::string path;
  std::string first_key;
  std::string last_key;
};

// Where the file of this number is.
std::string SortedFilePath(const std::string& stem, std::size_t number);

// Writes ascending keys into files. Used by one thread. A file is created when its first key comes, and all of
// them are removed at the end unless they were moved away, or are to stay.
class SortedFileWriter {
 public:
  // Files are named STEM-0.sst, STEM-1.sst, ...; a new one begins when one has reached `file_bytes`.
  SortedFileWriter(std::shared_ptr<Database> database, FamilyId family, std::string stem,
                   std::uint64_t file_bytes);
  // Goes on behind `files`, which an earlier writer with this stem has ended.
  SortedFileWriter(std::shared_ptr<Database> database, FamilyId family, std::string stem,
                   std::uint64_t file_bytes, std::vector<SortedFile> files);
  ~SortedFileWriter();
  SortedFileWriter(const SortedFileWriter&) = delete;
  SortedFileWriter& operator=(const SortedFileWriter&) = delete;

  // RESOURCE_EXHAUSTED: disk full. After a failure every call gives that failure.
  absl::Status Add(std::string_view key, std::string_view value);

  // Ends and syncs the file that is being written, and returns its size; 0 where there is none. The next key
  // begins another one. Codes as Finish.
  absl::StatusOr<std::uint64_t> EndFile();

  // What ends and syncs a file, called once, by any thread, and returns its size; 0 where there is none.
  using FileEnd = std::function<absl::StatusOr<std::uint64_t>()>;
  // The first half of EndFile: the next key begins another file while the result ends this one.
  // RESOURCE_EXHAUSTED: the disk is full; it may be tried again. Where the result has failed, or was not called
  // before Finish, what Finish returns is worth nothing.
  absl::StatusOr<FileEnd> TakeFile();

  // From now on no file is removed at the end.
  void LeaveFiles() { leaves_files_ = true; }

  // Ends and syncs the last file and returns all; nothing may be added after it. RESOURCE_EXHAUSTED: the disk
  // is full down to the reserve; it may be tried again. After any other failure every call gives that failure.
  absl::StatusOr<std::vector<SortedFile>> Finish();

 private:
  struct OpenFile;
  absl::Status TryAdd(std::string_view key, std::string_view value);
  absl::Status RequireSpace(std::uint64_t bytes);
  absl::Status BeginFile(std::string_view first_key);

  const std::shared_ptr<Database> database_;
  const FamilyId family_;
  const std::string stem_;
  const std::uint64_t file_bytes_;
  std::uint64_t unchecked_bytes_ = 0;  // since the last look at the free space
  std::vector<SortedFile> files_;
  absl::Status failure_;
  bool leaves_files_ = false;
  std::unique_ptr<OpenFile> open_file_;  // the last file, while it is written
};

// Calls `visit` for each key of a file that is not taken in, ascending. DATA_LOSS: a block of it is not as it
// was written, or the file is none. A failing visit ends the reading with its status.
absl::Status ReadSortedFile(const Database& database, FamilyId family, const std::string& path,
                            Database::Visitor visit);

// Takes files into the database, moving them; all or none, synced. OK: what was taken in has been found there.
// After a failure it may be tried again.
//
// A defect of RocksDB 7.8 is kept out. A file whose ends it cannot read it takes for an empty one, or aborts
// (fixed in 8.9); so the ends are read first, which brings them into its cache.
absl::Status Ingest(Database& database, const std::vector<SortedFile>& files);

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_SORTED_FILES_H_
