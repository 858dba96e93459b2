// Cuts xyz files into frames, for the formats that are made of them.
//
// A frame is a line with the number of atoms, a comment line, and a row for each atom. Blank lines may stand
// between frames.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_XYZ_FRAMES_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_XYZ_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/record_reader.h"

namespace packtrain::ingest {

// What follows the atoms of a frame.
enum class XyzTail {
  kVectors,  // nothing, or rows VEC1, VEC2 and VEC3
  kQm9,      // three lines, as in the files of QM9
};

// A frame's text is its lines, each with "\n" behind it, as far as the file has them. A row that is a whole
// number and nothing else is the count of the next frame: it is the last line of its frame, and the next frame
// begins with it as well. A molecule of QM9 whose frequencies stand where its count announces an atom ends with
// them: its SMILES and InChI, and what stands behind them in front of a count, are passed over. The rows of a
// frame with more than `max_atoms` atoms are left out.
//
// Behind a frame that is refused for lines that belong to none, the next one begins at a line with a count that
// is followed by no row of an atom: a comment may be a whole number, too.
class XyzCutter : public RecordCutter {
 public:
  XyzCutter(std::unique_ptr<LineReader> lines, const ReadLimits& limits, XyzTail tail);

  // Refusals, besides those of LineReader::Next, after which nothing more is read: "empty_file"; "bad_count"
  // where a frame should begin and no count is, "count_too_low" where a row like those of the frame follows
  // them; they say where the next frame begins, or leave the rest where none does; "frame_too_long".
  // INVALID_ARGUMENT, no refusal: the file is one of QM9, whose format is another.
  absl::StatusOr<bool> Next(RawRecord* record) override;

 private:
  // The next line that is not blank; false at the end.
  absl::StatusOr<bool> NextFilled(std::string_view* line);
  absl::Status CutComment(RawRecord* record);
  absl::Status CutRows(std::uint64_t count, RawRecord* record);
  absl::Status CutTail(RawRecord* record);
  // Passes over what stands behind frequencies that come too early. `record` leaves the rest where lines were
  // passed over that are not of its tail, and no count follows them.
  absl::Status PassTail(RawRecord* record);
  absl::Status CutVectors(RawRecord* record);
  // Refuses a frame that is followed by one row more than its count says.
  absl::Status CheckEnd(std::uint64_t count, const RawRecord& record);
  // Whether a line behind a frame belongs to it.
  bool IsOneMore(std::string_view line, std::string_view frame) const;
  // Passes over the lines up to the next frame, and says so in `refusal`.
  absl::Status PassOver(absl::Status refusal);
  // Goes to the next frame; false where there is none.
  absl::StatusOr<bool> FindCount();
  void Append(std::string_view line, std::uint64_t count, RawRecord* record);
  absl::Status BadCount(std::string_view line, const RawRecord& record);
  absl::Status NotQm9(const RawRecord& record) const;
  // Nothing after `status` can be read.
  absl::Status EndWith(absl::Status status);

  // A line that was read ahead.
  struct Line {
    std::string text;
    std::uint64_t number;
  };

  const std::unique_ptr<LineReader> lines_;
  const std::uint64_t max_atoms_;
  const std::size_t max_line_bytes_;
  const XyzTail tail_;
  std::uint64_t frames_ = 0;
  bool ended_ = false;
  std::optional<Line> count_;  // of the next frame, where it was looked for; the line behind it is unread
  bool too_long_ = false;      // the frame being cut
  bool behind_qm9_ = false;    // the comment of the frame before is one of QM9
};

// A line that holds nothing but a count, and so begins a frame.
std::optional<std::uint64_t> FrameCount(std::string_view line);

// Columns of the row of an atom in a file of QM9.
inline constexpr std::size_t kQm9AtomColumns = 5;

// The line of frequencies behind the atoms of a molecule of QM9, empty for a single atom: numbers alone. They
// are 3 N - 6 or 3 N - 5 for N atoms, and so never as many as the columns of an atom's row.
bool IsFrequencies(std::string_view line);

// Cuts the next line off a frame's text; empty at the end.
std::string_view NextLine(std::string_view* text);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_XYZ_FRAMES_H_
