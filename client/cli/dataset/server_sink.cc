#include "client/cli/dataset/server_sink.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/connection.h"
#include "client/ingest/import_identity.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

std::string Count(std::uint64_t graphs) { return FormatCount(static_cast<double>(graphs)); }

}  // namespace

absl::Status SendBlock(ingest::Block block, client::ImportStream& stream) {
  if (auto* const packed = std::get_if<ingest::PackedRecords>(&block)) {
    return stream.WritePacked(std::move(packed->bytes), packed->begin, packed->graphs);
  }
  if (auto* const records = std::get_if<v1::RecordBlock>(&block)) return stream.Write(std::move(*records));
  return stream.Write(std::move(std::get<v1::GraphBlock>(block)));
}

ServerSink::~ServerSink() {
  if (stream_ != nullptr) stream_->Drop();
}

absl::Status ServerSink::Begin(const v1::ImportHeader& header) {
  if (stream_ != nullptr) stream_->Drop();
  stream_.reset();
  ABSL_ASSIGN_OR_RETURN(connection_, Connect(global_));
  v1::ImportHeader sent = header;
  if (identity_) *sent.mutable_identity() = *identity_;
  position_ = continue_at_ = 0;
  is_void_ = false;
  if (go_on_ != GoOn::kNo) {
    ABSL_RETURN_IF_ERROR(AskWhere(sent));
  }
  if (is_void_) return absl::OkStatus();
  sent.set_continue_at(continue_at_);
  ABSL_ASSIGN_OR_RETURN(stream_, client::ImportStream::Open(connection_, sent));
  return absl::OkStatus();
}

absl::Status ServerSink::AskWhere(const v1::ImportHeader& header) {
  if (!identity_) return SayNothingIsKept({});
  v1::ContinueImportRequest request;
  *request.mutable_header() = header;
  absl::StatusOr<v1::ContinueImportResponse> kept =
      client::ServiceClient(connection_).Read<v1::ContinueImportResponse>(request);
  if (absl::IsUnimplemented(kept.status())) kept = v1::ContinueImportResponse();  // an earlier version
  ABSL_RETURN_IF_ERROR(kept.status());
  continue_at_ = kept->graphs();
  is_void_ = kept->other_header();
  if (is_void_) return absl::OkStatus();
  if (continue_at_ == 0) return SayNothingIsKept(*kept);
  output_.Note(absl::StrCat("packtrain: goes on behind ", Count(continue_at_), " graphs that the server has"));
  go_on_ = GoOn::kNo;  // a header behind this one begins anew
  return absl::OkStatus();
}

absl::Status ServerSink::SayNothingIsKept(const v1::ContinueImportResponse& kept) {
  if (std::exchange(go_on_, GoOn::kNo) != GoOn::kAsAskedFor) return absl::OkStatus();
  if (!kept.others().empty()) {
    const v1::KeptImport& other = kept.others(0);
    return absl::FailedPreconditionError(
        absl::StrCat("the server keeps ", Count(other.graphs()), " graphs of an import of ", identity_->name(),
                     " that is not this one: ", ingest::DifferenceOf(*identity_, other.identity()),
                     "; without --continue the import begins anew"));
  }
  const std::string name = identity_ ? absl::StrCat(" of ", identity_->name()) : "";
  output_.Note(
      absl::StrCat("packtrain: nothing to go on with: the server keeps no import", name, "; it begins anew"));
  return absl::OkStatus();
}

absl::Status ServerSink::Write(ingest::Block block) {
  const std::uint64_t begin = position_;
  position_ += GraphsOf(block);
  if (is_void_ || position_ <= continue_at_) return absl::OkStatus();
  if (begin < continue_at_) {
    return absl::InternalError(absl::StrCat(
        "the import was cut into blocks in another way when it broke off, at ", "graph ", continue_at_));
  }
  return SendBlock(std::move(block), *stream_);
}

absl::StatusOr<v1::ImportGraphsResponse> ServerSink::Finish() {
  if (is_void_ || position_ < continue_at_) {
    return absl::AbortedError(
        "the files do not give the graphs that the server has kept of them; import them without --continue");
  }
  absl::StatusOr<v1::ImportGraphsResponse> response = stream_->Finish();
  staged_ = response.ok();
  return response;
}

absl::StatusOr<v1::SealDatasetResponse> ServerSink::Seal(const v1::SealDatasetRequest& request) {
  return client::ServiceClient(connection_).SealDataset(request);
}

}  // namespace packtrain::cli
