// The ids of graphs whose source gives them none.
//
// A graph that is alone in its file is named by the stem of that file; another one by its title where that is
// no number and no other graph of the file has it; else by STEM:RECORD. Stems that several files have get as
// many folders in front as tell the files apart: "a/mol", "b/mol". So an id depends on the whole input, which
// nobody knows at the first graph: names are given as if nothing would repeat, and where something does,
// everything is named a second time, with what was learnt.
#ifndef PACKTRAIN_CLIENT_INGEST_GRAPH_NAMES_H_
#define PACKTRAIN_CLIENT_INGEST_GRAPH_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "client/ingest/record_stream.h"

namespace packtrain::ingest {

// Memory: 16 bytes for each title of the file being read, for each title that was met twice, and for each file.
// Used by one thread.
class GraphNames {
 public:
  // `files` are all that is known beforehand.
  explicit GraphNames(const std::vector<std::string>& files);

  // Begins with the first record again. What was learnt stays.
  void Restart();

  // Sets the id of a record that has none of its own. Records come in their order.
  void Name(ReadRecord* record);

  // A title or stem of which a graph that was named since Restart should have got another id; empty: none.
  const std::string& repeated() const { return repeated_; }

 private:
  void BeginFile(const InputFile& file);
  // Whether no other record of the file has this title, as far as is known.
  bool IsUnique(const ReadRecord& record);

  // Learnt.
  absl::flat_hash_map<std::uint64_t, std::uint32_t> folders_;  // to be put in front, by hash of the stem
  absl::flat_hash_set<std::uint64_t> repeated_titles_;         // hashes of file and title
  // Met since Restart.
  absl::flat_hash_set<std::uint64_t> titles_;      // of the current file
  absl::flat_hash_set<std::uint64_t> file_names_;  // of all files
  std::uint64_t file_ = 0;                         // number of the current one; 0: none yet
  std::string file_name_;                          // of the current file
  std::string repeated_;
};

// For two files of the same path but for their endings, and of the same file given twice.
inline constexpr std::uint32_t kWholePath = std::numeric_limits<std::uint32_t>::max();

// The last `folders` folders of `path`, as far as it has them, and the stem of its file; all of `path` with its
// endings for kWholePath.
std::string NameOfFile(const std::string& path, std::uint32_t folders);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_GRAPH_NAMES_H_
