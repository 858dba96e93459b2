// The records of all files of an import, one after another.
//
//   RecordStream records(format, read_options, files);
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
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/origin.h"
#include "packtrain/v1/dataset.pb.h"

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

  Origin Place() const { return {file->path, file->layout.record_word, graph.record, graph.line}; }
  // Makes the labels outlast the next call of Next.
  void KeepLabels();

 private:
  std::vector<char> kept_labels_;  // no string, whose characters may move with it
};

// Used by one thread.
class RecordStream {
 public:
  // `format` opens graphs, and is borrowed.
  RecordStream(const Format& format, ReadOptions options, std::vector<std::string> files);

  // Reads the next record of whatever file; false at the end of the last one. What is refused comes as a
  // record, also a file that is none of the format. Any error ends the import.
  absl::StatusOr<bool> Next(ReadRecord* record);

  // Passes over all that was not read yet.
  absl::Status Stop();

  // Bytes on disk, for progress.
  std::uint64_t consumed_bytes() const;
  // The files that were read to their end.
  const std::vector<v1::SourceFile>& sources() const { return sources_; }

 private:
  // Opens the next file and reads its first record; false where it holds none.
  absl::StatusOr<bool> BeginFile(ReadRecord* record);
  absl::Status OpenFile();
  absl::Status CloseFile();
  // Reads on in the open file.
  absl::StatusOr<bool> ReadOn(ReadRecord* record);
  void Reset(ReadRecord* record) const;

  const Format& format_;
  const ReadOptions options_;
  const std::vector<std::string> files_;
  std::size_t next_file_ = 0;
  std::shared_ptr<const InputFile> file_;
  std::unique_ptr<GraphReader> reader_;  // of `file_`; null: no file is open
  ReadRecord second_;                    // of a file, which is read together with the first
  bool has_second_ = false;
  std::uint64_t closed_bytes_ = 0;
  std::vector<v1::SourceFile> sources_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_RECORD_STREAM_H_
