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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/frame.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

// Used by one thread.
class ExtxyzReader {
 public:
  // Errors of ByteSource::Open.
  static absl::StatusOr<std::unique_ptr<ExtxyzReader>> Open(const std::string& path, const ReadLimits& limits,
                                                            std::uint64_t max_atoms);

  // Reads the next frame into `frame`; false at the end of the file. A refusal names file, line, frame and id,
  // and leaves `number`, `line` and `id` (the one it would have had) of the refused frame in `frame`; a further
  // call goes on behind that frame, or is false where what follows cannot be understood. Reasons, besides those
  // of LineReader::Next: empty_file, bad_count, no_nodes, too_many_atoms, truncated_frame, count_too_high,
  // bad_comment, bad_properties, bad_lattice, bad_pbc, short_row, unknown_symbol, not_a_number, not_finite.
  absl::StatusOr<bool> Next(Frame* frame);

  ByteSource& source() { return lines_->source(); }
  const std::string& path() const { return lines_->path(); }

 private:
  ExtxyzReader(std::unique_ptr<LineReader> lines, std::uint64_t max_atoms);

  // The next line that is not blank; false at the end.
  absl::StatusOr<bool> NextFilled(std::string_view* line);
  absl::Status ReadFrame(std::string_view count_line, Frame* frame);
  absl::Status ReadHead(std::string_view comment, Frame* frame);
  absl::Status CheckCount(std::uint64_t count) const;
  absl::Status ReadColumns(const Frame& frame);
  absl::Status ReadAtoms(std::uint64_t count, Frame* frame);
  absl::Status ReadRow(std::string_view row, Frame* frame) const;
  absl::Status ExplainRow(std::string_view row) const;
  // Leaves out the `rows` that follow in a frame refused for `status`, names it as if it were sound, and
  // returns `status` with the place.
  absl::Status Refuse(const absl::Status& status, std::uint64_t rows, Frame* frame);
  void SkipRows(std::uint64_t rows);
  void NameByComment(Frame* frame) const;
  // Takes the name of a file that holds no other frame.
  void NameByFile(Frame* frame);
  // Nothing after `status` can be read.
  absl::Status EndWith(absl::Status status);
  // `status` with file, line and frame in front.
  absl::Status Locate(const absl::Status& status, std::uint64_t line, const Frame& frame) const;

  const std::unique_ptr<LineReader> lines_;
  const std::uint64_t max_atoms_;
  const std::string stem_;
  std::uint64_t frames_ = 0;
  bool ended_ = false;
  AtomColumns columns_;
  std::string properties_;  // that `columns_` came from; empty: the default
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_EXTXYZ_READER_H_
