#include "client/ingest/formats/native_part.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/ingest/formats/native_file.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr int kSplitGraphs = 1 << 16;  // of one frame

}  // namespace

absl::StatusOr<std::unique_ptr<NativePart>> NativePart::Create(std::string path) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<base::WholeFile> file, base::WholeFile::Create(path));
  return std::unique_ptr<NativePart>(new NativePart(std::move(path), std::move(file)));
}

absl::Status NativePart::WriteBytes(const std::string& bytes) {
  bytes_ += bytes.size();
  return file_->Write(bytes);
}

absl::Status NativePart::Begin(const v1::ImportHeader& header) {
  if (begun_) {
    file_.reset();  // before the next one, which may have the same name
    ABSL_ASSIGN_OR_RETURN(file_, base::WholeFile::Create(path_));
  }
  begun_ = true;
  graphs_ = 0;
  bytes_ = 0;
  v1::ExportDatasetResponse message;
  *message.mutable_header()->mutable_dataset()->mutable_schema() = header.schema();
  return WriteBytes(absl::StrCat(std::string(kNativeMagic), NativeFrame(message)));
}

absl::Status NativePart::Write(Block block) {
  if (std::holds_alternative<v1::GraphBlock>(block)) {
    return absl::InvalidArgumentError("a part takes records, not graphs");
  }
  const std::uint64_t graphs = GraphsOf(block);
  if (graphs == 0) return absl::OkStatus();
  graphs_ += graphs;
  v1::ExportDatasetResponse message;
  if (auto* const records = std::get_if<v1::RecordBlock>(&block)) {
    *message.mutable_block() = std::move(*records);
  } else {
    const auto& packed = std::get<PackedRecords>(block);
    message.mutable_block()->ParseFromString(packed.bytes.substr(packed.begin));
  }
  return WriteBytes(NativeFrame(message));
}

absl::StatusOr<v1::ImportGraphsResponse> NativePart::Finish() {
  v1::ImportGraphsResponse response;
  response.set_received(graphs_);
  response.set_staged(graphs_);
  return response;
}

absl::Status NativePart::WriteSplit(std::string_view name,
                                    const google::protobuf::RepeatedField<std::uint32_t>& graphs) {
  for (int begin = 0; begin < graphs.size(); begin += kSplitGraphs) {
    v1::ExportDatasetResponse message;
    message.mutable_split()->set_split(std::string(name));
    const int end = std::min(graphs.size(), begin + kSplitGraphs);
    message.mutable_split()->mutable_graphs()->Add(graphs.begin() + begin, graphs.begin() + end);
    ABSL_RETURN_IF_ERROR(WriteBytes(NativeFrame(message)));
  }
  return absl::OkStatus();
}

absl::Status NativePart::Commit(const v1::SealDatasetRequest& seal) {
  ABSL_RETURN_IF_ERROR(WriteSplit("train", seal.by_index().train()));
  ABSL_RETURN_IF_ERROR(WriteSplit("val", seal.by_index().val()));
  ABSL_RETURN_IF_ERROR(WriteSplit("test", seal.by_index().test()));
  v1::ExportDatasetResponse description, end;
  *description.mutable_header()->mutable_dataset()->mutable_lineage() = seal.lineage();
  end.mutable_end()->set_graphs(graphs_);
  ABSL_RETURN_IF_ERROR(WriteBytes(NativeFrame(description) + NativeFrame(end)));
  return file_->Commit();
}

}  // namespace packtrain::ingest
