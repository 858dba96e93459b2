// Data sets as files, as `packtrain dataset export --format native` writes them.
//
// Format 1. Numbers are unsigned and little-endian.
//
//   offset  bytes  what
//        0      8  "packtrn1": the name of the format and its number
//        8         frames, end to end, up to the end of the file
//
// A frame is
//        0      4  bytes of the message
//        4      4  CRC32C of the message
//        8         the message, a serialized packtrain.v1.ExportDatasetResponse
//
// The messages are those of DatasetService.ExportDataset, in its order: a header (name, version, schema with
// its record format's fields, lineage), blocks of records (server/records/graph_record.h), splits, and the end,
// which counts the graphs and is the last frame. A part of a data set (native_part.h) has a header without name
// and version, no splits, and a second header before the end, with nothing but its lineage. The version in the
// header is a hash of schema, order, records and splits: whoever imports the file finds out whether it is
// whole.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_FILE_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_FILE_H_

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/block_source.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

inline constexpr std::string_view kNativeMagic = "packtrn1";
// Of one message; what is larger is no frame.
inline constexpr std::uint32_t kMaxFrameBytes = 1u << 30;

// The bytes of one frame.
std::string NativeFrame(const v1::ExportDatasetResponse& message);

// Reads one file. Used by one thread. Errors are INVALID_ARGUMENT and name the file, and where in it.
class NativeFile {
 public:
  // Reads up to the header. Also an error: the file is none of this format, or of a newer one.
  static absl::StatusOr<std::unique_ptr<NativeFile>> Open(std::string path);

  // The lineage of a part is there behind the end.
  const v1::Dataset& dataset() const { return dataset_; }

  // The next block or split; false behind the end. An error: a frame is corrupt, cut off or out of order, or
  // the graphs are not as many as the end says.
  absl::StatusOr<bool> Next(v1::ExportDatasetResponse* message) { return Next(message, nullptr); }
  // The same, but a block is left packed, in `block`; that has no bytes where `message` has been read.
  absl::StatusOr<bool> Next(v1::ExportDatasetResponse* message, PackedRecords* block);

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t consumed_bytes() const { return position_; }

 private:
  NativeFile(std::string path, std::uint64_t bytes);
  absl::Status ReadMagic();
  // The first bytes of the file.
  std::string Head();
  absl::Status ReadFrame(v1::ExportDatasetResponse* message);
  // The bytes of the message of a frame.
  absl::StatusOr<std::string> ReadFrameBytes();
  absl::Status Parse(const std::string& bytes, v1::ExportDatasetResponse* message) const;
  absl::Status ReadBytes(std::size_t count, std::string* bytes);
  // Checks what comes behind the end.
  absl::Status Finish(std::uint64_t graphs);
  absl::Status Invalid(std::string_view what) const;

  const std::string path_;
  const std::uint64_t bytes_;
  std::ifstream file_;
  std::uint64_t position_ = 0;
  std::uint64_t graphs_ = 0;  // read
  v1::Dataset dataset_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_FILE_H_
