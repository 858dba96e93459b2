// Reads extended xyz and plain xyz, any number of frames a file.
//
// A frame is a line with the number of atoms, a comment line, and a row for each atom. The comment may hold
// key=value pairs: `Lattice` and `pbc` make the cell, `Properties` says where a row has species and position
// (otherwise they are the first four columns; what follows them is skipped), `id` names the structure. Blank
// lines may stand between frames. A structure without `id` is named by the stem of its file where that holds
// one frame, else by the first word of its comment, unless that is a pair, else STEM:NUMBER.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_READER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/format.h"
#include "client/ingest/formats/extxyz_comment.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

// Node fields `z` (u8) and `pos` (f32 [3], angstrom); graph fields `cell` (f32 [3, 3], angstrom) and `pbc` (u8
// [3]) of frames with a Lattice. The pairs of the comment are the labels. Used by one thread.
class ExtxyzReader : public GraphReader {
 public:
  // Never fails.
  static absl::StatusOr<std::unique_ptr<GraphReader>> Open(std::unique_ptr<ByteSource> file,
                                                           const ReadOptions& options);

  const GraphLayout& layout() const override { return layout_; }

  // Reasons of refusals, besides those of LineReader::Next: empty_file, bad_count, no_nodes, too_many_atoms,
  // truncated_frame, count_too_high, bad_comment, bad_properties, bad_lattice, bad_pbc, short_row,
  // unknown_symbol, not_a_number, not_finite.
  absl::StatusOr<bool> Next(SourceGraph* graph) override;

 private:
  ExtxyzReader(std::unique_ptr<LineReader> lines, std::uint64_t max_atoms);

  const std::string& path() const { return lines_->path(); }
  // The next line that is not blank; false at the end.
  absl::StatusOr<bool> NextFilled(std::string_view* line);
  absl::Status ReadFrame(std::string_view count_line, SourceGraph* graph);
  absl::Status ReadHead(std::string_view comment, SourceGraph* graph);
  absl::Status CheckCount(std::uint64_t count) const;
  void AddLabels(SourceGraph* graph) const;
  absl::Status ReadColumns();
  absl::Status ReadAtoms(std::uint64_t count, SourceGraph* graph);
  absl::Status ReadRow(std::string_view row, std::vector<std::uint8_t>* z, std::vector<float>* pos) const;
  absl::Status ExplainRow(std::string_view row) const;
  // Leaves out the `rows` that follow in a frame refused for `status`, names it as if it were sound, and
  // returns `status` with the place.
  absl::Status Refuse(const absl::Status& status, std::uint64_t rows, SourceGraph* graph);
  void SkipRows(std::uint64_t rows);
  void NameByComment(SourceGraph* graph) const;
  // Takes the name of a file that holds no other frame.
  void NameByFile(SourceGraph* graph);
  // Nothing after `status` can be read.
  absl::Status EndWith(absl::Status status);
  // `status` with file, line and frame in front.
  absl::Status Locate(const absl::Status& status, std::uint64_t line, const SourceGraph& graph) const;

  const std::unique_ptr<LineReader> lines_;
  const std::uint64_t max_atoms_;
  const std::string stem_;
  const GraphLayout layout_;
  std::uint64_t frames_ = 0;
  bool ended_ = false;
  std::string comment_;          // of the frame read last
  std::vector<KeyValue> pairs_;  // of `comment_`
  AtomColumns columns_;
  std::string properties_;  // that `columns_` came from; empty: the default
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_READER_H_
