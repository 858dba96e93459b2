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
#include "server/log/event_log.h"
#include "server/serving/graph_sizes.h"
#include "server/serving/page.h"

namespace packtrain::serving {
namespace {

// What a page token of ListDatasets belongs to; the list takes no query.
constexpr std::string_view kEveryDataset = "datasets";

constexpr std::size_t kMaxLineageBytes = 1 << 20;

absl::Status CheckEnd(const v1::ImportEnd& end, std::uint64_t received) {
  if (end.graphs() == received) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the import's end speaks of ", end.graphs(), " graphs, but ",
                                                 received, " came; it was dropped"));
}

// It stands in every description of the data set, which a client must be able to take.
absl::Status CheckLineage(const v1::Lineage& lineage) {
  const std::size_t bytes = lineage.ByteSizeLong();
  if (bytes <= kMaxLineageBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("lineage has ", bytes, " bytes, at most ", kMaxLineageBytes,
                                                 " are taken; name fewer sources"));
}

absl::Status NoEnd() {
  return absl::InvalidArgumentError(
      "the import ended without its end message, or a message was no valid protobuf (such as text that is not "
      "UTF-8); it was dropped");
}

}  // namespace

DatasetService::DatasetService(storage::GraphStore& store, std::uint64_t max_message_bytes,
                               std::shared_ptr<MemoryMeter> memory, StagedImportsOptions options)
    : store_(store),
      max_message_bytes_(max_message_bytes),
      max_refused_bytes_(std::min(storage::kMaxRefusedBytes, max_message_bytes / 2)),
      memory_(std::move(memory)),
      idle_limit_(options.idle_limit),
      imports_(options),
      importers_(static_cast<int>(options.max_imports)) {}

grpc::ServerReadReactor<v1::ImportGraphsRequest>* DatasetService::ImportGraphs(
    grpc::CallbackServerContext*, v1::ImportGraphsResponse* response) {
  auto* const call = new ImportCall(idle_limit_);
  absl::StatusOr<Slots::Slot> slot = Admit();
  if (!slot.ok()) {
    call->End(slot.status());
    return call;
  }
  importers_.Post([this, call, response, slot = std::make_shared<Slots::Slot>(*std::move(slot))] {
    call->End(Import(*call, std::move(*slot), *response));
  });
  return call;
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

grpc::Status DatasetService::ListGraphSizes(grpc::ServerContext*, const v1::ListGraphSizesRequest* request,
                                            v1::ListGraphSizesResponse* response) {
  absl::StatusOr<v1::ListGraphSizesResponse> page =
      serving::ListGraphSizes(store_, *request, max_message_bytes_);
  if (page.ok()) *response = *std::move(page);
  return wire::ToGrpcStatus(page.status());
}

absl::Status DatasetService::CheckNotDraining() const {
  if (!draining_) return absl::OkStatus();
  return absl::UnavailableError("the server is shutting down and takes no import; import again later");
}

absl::StatusOr<Slots::Slot> DatasetService::Admit() {
  if (absl::Status status = CheckNotDraining(); !status.ok()) return status;
  return imports_.Begin();
}

absl::Status DatasetService::Import(ImportCall& call, Slots::Slot slot, v1::ImportGraphsResponse& response) {
  const absl::StatusOr<const v1::ImportGraphsRequest*> first = call.Next();
  if (!first.ok()) return first.status();
  if (*first == nullptr || !(*first)->has_header()) {
    return absl::InvalidArgumentError("the first message of an import must be its header");
  }
  absl::StatusOr<std::unique_ptr<storage::ImportSession>> session =
      storage::ImportSession::Begin(store_, (*first)->header(), max_refused_bytes_);
  if (!session.ok()) return session.status();
  log::Log(log::Level::kInfo, "import_began", {});
  MemoryMeter::Charge memory;
  if (absl::Status status = ReadBlocks(call, **session, memory); !status.ok()) return status;
  response = (*session)->response();
  log::Log(log::Level::kInfo, "import_staged",
           {{"received", std::uint64_t{response.received()}}, {"staged", std::uint64_t{response.staged()}}});
  std::unique_ptr<storage::DatasetWriter> writer = (*session)->TakeWriter();
  memory = memory_->Add(writer->memory_bytes());
  response.set_import_id(imports_.Add({std::move(slot), std::move(memory), std::move(writer)}));
  return absl::OkStatus();
}

absl::Status DatasetService::ReadBlocks(ImportCall& call, storage::ImportSession& session,
                                        MemoryMeter::Charge& memory) {
  while (true) {
    const absl::StatusOr<const v1::ImportGraphsRequest*> message = call.Next();
    if (!message.ok()) return message.status();
    if (absl::Status status = CheckNotDraining(); !status.ok()) return status;
    if (*message != nullptr && (*message)->has_end()) {
      return CheckEnd((*message)->end(), session.response().received());
    }
    if (*message == nullptr || !(*message)->has_block()) return NoEnd();
    if (absl::Status status = session.Add((*message)->block()); !status.ok()) return status;
    memory = memory_->Add(session.memory_bytes());
  }
}

absl::Status DatasetService::Seal(const v1::SealDatasetRequest& request, v1::SealDatasetResponse& response) {
  if (absl::Status status = CheckNotDraining(); !status.ok()) return status;
  if (absl::Status status = CheckLineage(request.lineage()); !status.ok()) return status;
  absl::StatusOr<StagedImports::Import> import = imports_.Take(request.import_id());
  if (!import.ok()) return import.status();
  absl::StatusOr<storage::DatasetWriter::SealResult> sealed = import->writer->Seal(request);
  if (!sealed.ok()) {
    imports_.PutBack(request.import_id(), *std::move(import));
    return sealed.status();
  }
  log::Log(log::Level::kInfo, "dataset_sealed",
           {{"dataset", absl::StrCat(sealed->dataset.name(), "@", sealed->dataset.version())},
            {"graphs", std::uint64_t{sealed->dataset.graphs()}},
            {"unchanged", sealed->unchanged ? "true" : "false"}});
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
