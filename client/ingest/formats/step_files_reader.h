// What the readers of benchmark folders have in common, whose files go in step (row_file.h): a graph may be
// refused while what belongs to it is read on, and behind files that do not go in step nothing can be read.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_STEP_FILES_READER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_STEP_FILES_READER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/refusal.h"

namespace packtrain::ingest {

class StepFilesReader : public GraphReader {
 public:
  const GraphLayout& layout() const final { return layout_; }

  absl::StatusOr<bool> Next(SourceGraph* graph) final {
    graph->Clear();
    if (ended_) return false;
    refused_ = absl::OkStatus();
    absl::StatusOr<bool> more = ReadGraph(graph);
    ended_ = !more.ok() || !*more;
    if (!more.ok()) return LeavingRest(more.status());
    if (!refused_.ok()) return refused_;
    return more;
  }

 protected:
  // Reads the next graph; false at the end. An error is that of all files; a graph alone is refused by Refuse.
  virtual absl::StatusOr<bool> ReadGraph(SourceGraph* graph) = 0;

  // Keeps the first reason for which the graph is refused; what belongs to it is read on.
  void Refuse(const absl::Status& status) {
    if (refused_.ok()) refused_ = status;
  }
  bool is_refused() const { return !refused_.ok(); }

  GraphLayout layout_;
  std::uint64_t graphs_ = 0;  // read so far

 private:
  absl::Status refused_;
  bool ended_ = false;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_STEP_FILES_READER_H_
