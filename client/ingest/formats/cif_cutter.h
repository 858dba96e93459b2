// Cuts a CIF file into its data blocks.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_CUTTER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_CUTTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/record_reader.h"

namespace packtrain::ingest {

// A block reaches from a line that begins with `data_` outside of a text field to the next one. Used by one
// thread at a time.
class CifCutter : public RecordCutter {
 public:
  // Of a block, in lines of the longest that is allowed.
  static constexpr std::size_t kMaxBlockLines = 64;

  CifCutter(std::unique_ptr<LineReader> lines, const ReadLimits& limits)
      : lines_(std::move(lines)), max_block_bytes_(kMaxBlockLines * limits.max_line_bytes) {}

  // Refusals, besides those of LineReader::Next: empty_file; not_cif for text before the first block, which is
  // read on at; block_too_long; bad_cif, which leaves the rest, for a text field without an end.
  absl::StatusOr<bool> Next(RawRecord* record) override;

 private:
  // Goes to the line that begins the next block; false at the end.
  absl::StatusOr<bool> FindBlock();
  // Refuses what stands before the next block, and passes over it.
  absl::Status PassOver();
  // The block that begins with the line read last.
  absl::Status CutBlock(RawRecord* record);
  absl::Status End(absl::Status status);

  const std::unique_ptr<LineReader> lines_;
  const std::size_t max_block_bytes_;
  std::string_view line_;  // read last
  std::uint64_t records_ = 0;
  bool ended_ = false;
};

// What a block is called, whose text begins with "data_".
std::string_view NameOfCifBlock(std::string_view text);

inline constexpr char kCifRecordWord[] = "block";

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_CUTTER_H_
