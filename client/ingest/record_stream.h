// The records of all files of an import, one after another.
//
//   RecordStream records(inputs);
//   ReadRecord record;
//   while (true) {
//     ABSL_ASSIGN_OR_RETURN(const bool more, records.Next(&record));
//     if (!more) break;
//     ...
//   }
#ifndef PACKTRAIN_CLIENT_INGEST_RECORD_STREAM_H_
#define PACKTRAIN_CLIENT_INGEST_RECORD_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/input_list.h"
#include "client/ingest/origin.h"

namespace packtrain::ingest {

// A file that was opened.
struct InputFile {
  std::string path;
  std::uint64_t number = 0;  // among all that were opened, from 1
  GraphLayout layout;
};

// A record as it was read. Made to be read into again and again.
struct ReadRecord {
  std::shared_ptr<const InputFile> file;  // null before the first record
  SourceGraph graph = SourceGraph(GraphLayout());
  bool has_id = false;   // the source gives `graph.id`
  bool is_only = false;  // its file holds no other record
  absl::Status refusal;  // why it is no graph; OK: it is one

  Origin Place() const {
    return {graph.file.empty() ? file->path : graph.file, file->layout.record_word, graph.record, graph.line};
  }
  // Makes the labels outlast the next call of Next.
  void KeepLabels();

 private:
  std::vector<char> kept_labels_;  // no string, whose characters may move with it
};

// Used by one thread.
class RecordStream {
 public:
  // Reads what `inputs` has yet to open; borrowed, and read by nobody else.
  explicit RecordStream(InputList& inputs) : inputs_(inputs) {}

  // Reads the next record of whatever file; false at the end of the last one. What is refused comes as a
  // record, also a file that is none of the format. Any error ends the import.
  absl::StatusOr<bool> Next(ReadRecord* record);

  // Passes over all that was not read yet.
  absl::Status Stop();

 private:
  // Opens the next file and reads its first record; false where it holds none.
  absl::StatusOr<bool> BeginFile(ReadRecord* record);
  // `ended_` where there is no next file.
  absl::Status OpenFile();
  // Reads on in the open file.
  absl::StatusOr<bool> ReadOn(ReadRecord* record);
  void Reset(ReadRecord* record) const;

  InputList& inputs_;
  std::uint64_t opened_ = 0;  // inputs
  bool ended_ = false;
  std::shared_ptr<const InputFile> file_;
  std::unique_ptr<GraphReader> reader_;  // of `file_`; null: no file is open
  ReadRecord second_;                    // of a file, which is read together with the first
  bool has_second_ = false;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_RECORD_STREAM_H_
