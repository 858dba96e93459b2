#include "server/serving/dataset_service.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/wire/status_convert.h"
#include "server/serving/page.h"

namespace packtrain::serving {
namespace {

// What a page token of ListDatasets belongs to; the list takes no query.
constexpr std::string_view kEveryDataset = "datasets";

// `last` is the last message that could be read.
absl::Status CheckEnd(const v1::ImportGraphsRequest& last, std::uint64_t received) {
  if (!last.has_end()) {
    return absl::InvalidArgumentError(
        "the import ended without its end message, or a message was no valid protobuf (such as text that is "
        "not "
        "UTF-8); it was dropped");
  }
  if (last.end().graphs() == received) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the import's end speaks of ", last.end().graphs(),
                                                 " graphs, but ", received, " came; it was dropped"));
}

}  // namespace

DatasetService::DatasetService(storage::GraphStore& store, std::uint64_t max_message_bytes,
                               std::shared_ptr<MemoryMeter> memory, StagedImportsOptions options)
    : store_(store),
      max_message_bytes_(max_message_bytes),
      max_refused_bytes_(std::min(storage::kMaxRefusedBytes, max_message_bytes / 2)),
      memory_(std::move(memory)),
      imports_(options) {}

grpc::Status DatasetService::ImportGraphs(grpc::ServerContext* context,
                                          grpc::ServerReader<v1::ImportGraphsRequest>* reader,
                                          v1::ImportGraphsResponse* response) {
  return wire::ToGrpcStatus(Import(*context, *reader, *response));
}

grpc::Status DatasetService::SealDataset(grpc::ServerContext*, const v1::SealDatasetRequest* request,
                                         v1::SealDatasetResponse* response) {
  return wire::ToGrpcStatus(Seal(*request, *response));
}

grpc::Status DatasetService::ListDatasets(grpc::ServerContext*, const v1::ListDatasetsRequest* request,
                                          v1::ListDatasetsResponse* response) {
  return wire::ToGrpcStatus(List(*request, *response));
}

grpc::Status DatasetService::GetDataset(grpc::ServerContext*, const v1::GetDatasetRequest* request,
                                        v1::GetDatasetResponse* response) {
  return wire::ToGrpcStatus(Get(*request, *response));
}

absl::Status DatasetService::CheckNotDraining() const {
  if (!draining_) return absl::OkStatus();
  return absl::UnavailableError("the server is shutting down and takes no import; import again later");
}

absl::Status DatasetService::Import(const grpc::ServerContext& context,
                                    grpc::ServerReader<v1::ImportGraphsRequest>& reader,
                                    v1::ImportGraphsResponse& response) {
  if (absl::Status status = CheckNotDraining(); !status.ok()) return status;
  absl::StatusOr<StagedImports::Slot> slot = imports_.Begin();
  if (!slot.ok()) return slot.status();
  v1::ImportGraphsRequest message;
  if (!reader.Read(&message) || !message.has_header()) {
    return absl::InvalidArgumentError("the first message of an import must be its header");
  }
  absl::StatusOr<std::unique_ptr<storage::ImportSession>> session =
      storage::ImportSession::Begin(store_, message.header(), max_refused_bytes_);
  if (!session.ok()) return session.status();
  MemoryMeter::Charge memory;
  if (absl::Status status = ReadBlocks(reader, message, **session, memory); !status.ok()) return status;
  // Reading also ends where the call broke, and where a message does not parse.
  if (context.IsCancelled()) return absl::CancelledError("the import broke off and was dropped");
  if (absl::Status status = CheckEnd(message, (*session)->response().received()); !status.ok()) return status;
  response = (*session)->response();
  std::unique_ptr<storage::DatasetWriter> writer = (*session)->TakeWriter();
  memory = memory_->Add(writer->memory_bytes());
  response.set_import_id(imports_.Add({*std::move(slot), std::move(memory), std::move(writer)}));
  return absl::OkStatus();
}

absl::Status DatasetService::ReadBlocks(grpc::ServerReader<v1::ImportGraphsRequest>& reader,
                                        v1::ImportGraphsRequest& message, storage::ImportSession& session,
                                        MemoryMeter::Charge& memory) {
  while (reader.Read(&message) && message.has_block()) {
    if (absl::Status status = session.Add(message.block()); !status.ok()) return status;
    memory = memory_->Add(session.memory_bytes());
  }
  return absl::OkStatus();
}

absl::Status DatasetService::Seal(const v1::SealDatasetRequest& request, v1::SealDatasetResponse& response) {
  if (absl::Status status = CheckNotDraining(); !status.ok()) return status;
  absl::StatusOr<StagedImports::Import> import = imports_.Take(request.import_id());
  if (!import.ok()) return import.status();
  absl::StatusOr<storage::DatasetWriter::SealResult> sealed = import->writer->Seal(request);
  if (!sealed.ok()) return sealed.status();
  *response.mutable_dataset() = std::move(sealed->dataset);
  response.set_unchanged(sealed->unchanged);
  return absl::OkStatus();
}

absl::Status DatasetService::List(const v1::ListDatasetsRequest& request,
                                  v1::ListDatasetsResponse& response) const {
  const absl::StatusOr<std::string> after = KeyOfPageToken(request.page_token(), kEveryDataset);
  if (!after.ok()) return after.status();
  absl::StatusOr<std::vector<v1::Dataset>> datasets = store_.List();
  if (!datasets.ok()) return datasets.status();
  Page page(request.page_size(), max_message_bytes_);
  for (v1::Dataset& dataset : *datasets) {
    if (dataset.name() <= *after) continue;
    if (!page.Take(dataset.ByteSizeLong())) {
      response.set_next_page_token(PageToken(kEveryDataset, response.datasets().rbegin()->name()));
      break;
    }
    *response.add_datasets() = std::move(dataset);
  }
  return absl::OkStatus();
}

absl::Status DatasetService::Get(const v1::GetDatasetRequest& request, v1::GetDatasetResponse& response) {
  absl::StatusOr<std::shared_ptr<const storage::Dataset>> dataset = store_.Open(request.dataset());
  if (!dataset.ok()) return dataset.status();
  *response.mutable_dataset() = (*dataset)->description();
  return absl::OkStatus();
}

}  // namespace packtrain::serving
