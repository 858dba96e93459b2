// Reads which graph belongs to which split.
#ifndef PACKTRAIN_CLIENT_INGEST_SPLIT_FILE_H_
#define PACKTRAIN_CLIENT_INGEST_SPLIT_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

struct SplitLists {
  std::vector<std::string> train;
  std::vector<std::string> val;
  std::vector<std::string> test;
};

// Each line is `train ID`, `val ID` or `test ID`; the id is the rest of the line. Blank lines and lines that
// begin with "#" are passed over; plain or gzip. A graph that is not listed is in no split but "all". Refusals:
// "bad_split" for another word or no id, "duplicate_id" for an id listed twice, "empty_file".
absl::StatusOr<SplitLists> ReadSplitFile(const std::string& path, const ReadLimits& limits);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_SPLIT_FILE_H_
