// A part of a data set as a file of format native, made without a server: `packtrain import ... -o PART`.
//
//   ABSL_ASSIGN_OR_RETURN(std::unique_ptr<NativePart> part, NativePart::Create("part0.packtrain"));
//   LocalRecords records(*part);
//   ABSL_ASSIGN_OR_RETURN(staged, pipeline.Run(records, display));
//   ABSL_RETURN_IF_ERROR(part->Commit(pipeline.SealRequest(staged, "")));
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_PART_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_PART_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/block_sink.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/base/whole_file.h"

namespace packtrain::ingest {

// Writes the records that it is given (native_file.h). The header of a part has a schema and no name, version
// or splits, which the join gives it; splits that the sources themselves have, and where the graphs came from,
// are known last, and stand behind the graphs, the latter in a second header before the end. Begun again, it
// forgets what was written. Used by one thread.
class NativePart : public BlockSink {
 public:
  // INVALID_ARGUMENT, here and later: the file cannot be written.
  static absl::StatusOr<std::unique_ptr<NativePart>> Create(std::string path);

  absl::Status Begin(const v1::ImportHeader& header) override;
  // INVALID_ARGUMENT: the block holds graphs that are no records yet.
  absl::Status Write(Block block) override;
  absl::StatusOr<v1::ImportGraphsResponse> Finish() override;

  // Completes the file and puts it in its place. To be called once, last; without it, no file is left.
  absl::Status Commit(const v1::SealDatasetRequest& seal);

  std::uint64_t bytes() const { return bytes_; }

 private:
  NativePart(std::string path, std::unique_ptr<base::WholeFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status WriteBytes(const std::string& bytes);
  absl::Status WriteSplit(std::string_view name, const google::protobuf::RepeatedField<std::uint32_t>& graphs);

  const std::string path_;
  std::unique_ptr<base::WholeFile> file_;
  bool begun_ = false;
  std::uint64_t graphs_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_PART_H_
