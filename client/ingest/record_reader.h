// For formats whose records can be parsed side by side: records are cut off a file one after the other, parsed
// by several threads, and come out in the order of the file, the same for any number of threads.
//
// Such a format is a RecordCutter, which does as little as finding the ends of records allows, and a
// RecordParser, which does the work:
//
//   absl::StatusOr<std::unique_ptr<GraphReader>> OpenWords(std::unique_ptr<ByteSource> file,
//                                                          const ReadOptions& options) {
//     auto lines = std::make_unique<LineReader>(std::move(file), options.limits);
//     return NewRecordReader(std::make_unique<LineCutter>(std::move(lines)),
//                            [] { return std::make_unique<WordParser>(); }, options.threads);
//   }
#ifndef PACKTRAIN_CLIENT_INGEST_RECORD_READER_H_
#define PACKTRAIN_CLIENT_INGEST_RECORD_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/origin.h"

namespace packtrain::ingest {

// A record as it lies in its file. Made to be cut into again and again, so that cutting allocates nothing.
struct RawRecord {
  Origin origin;             // its file, number and first line
  std::string text;          // in whatever form the parser of the format wants it
  bool leaves_rest = false;  // a refusal of it leaves the rest (refusal.h): no further record was found
};

// Cuts one file into records. Used by one thread at a time.
class RecordCutter {
 public:
  virtual ~RecordCutter() = default;

  // Cuts the next record off; false at the end of the file, and then ever after. A refusal and any other error
  // are as those of GraphReader::Next: the origin is that of the refused record.
  virtual absl::StatusOr<bool> Next(RawRecord* record) = 0;
};

// Parses the records of one file. Used by one thread; several may work beside each other.
class RecordParser {
 public:
  virtual ~RecordParser() = default;

  // The same for all parsers of a file, at any time.
  virtual const GraphLayout& layout() const = 0;

  // Reads a record into `graph`, which is empty but for its place. Labels are views into `record`. A refusal is
  // at the place of the record, unless it has one of its own (RefusedAt), and the graph has the id and title
  // that it would have had. Any other error ends the import.
  virtual absl::Status Parse(const RawRecord& record, SourceGraph* graph) = 0;
};

using NewParser = std::function<std::unique_ptr<RecordParser>()>;

// Reads what `cutter` cuts with up to `threads` parsers; 0: one for each core. A file of one chunk (64 KiB of
// text, or one record that is longer) is parsed by whoever reads, without a thread. Memory is bounded by four
// chunks for each thread and one more, and where records are large, by 32 MiB of text and a record for each
// thread.
std::unique_ptr<GraphReader> NewRecordReader(std::unique_ptr<RecordCutter> cutter, NewParser new_parser,
                                             std::size_t threads);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_RECORD_READER_H_
