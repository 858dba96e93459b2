#include "server/serving/dataset_service.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/status_convert.h"
#include "proto/base/status_macros.h"
#include "server/log/event_log.h"
#include "server/serving/graph_sizes.h"
#include "server/serving/page.h"
#include "server/storage/derive.h"
#include "server/storage/seal.h"

namespace packtrain::serving {
namespace {

// What a page token of ListDatasets belongs to; the list takes no query.
constexpr std::string_view kEveryDataset = "datasets";
constexpr std::string_view kEveryVersion = "versions";

constexpr std::size_t kMaxLineageBytes = 1 << 20;

// Exports at one time: each holds a thread, and a block.
constexpr std::size_t kMaxExports = 32;

// Graphs between two looks at how much memory a derivation holds.
constexpr std::uint64_t kGraphsOfMemoryCheck = 1024;

// Key of a page token.
std::string KeyOf(const v1::Dataset& dataset, bool all_versions) {
  return all_versions ? absl::StrCat(dataset.name(), "@", dataset.version()) : dataset.name();
}

absl::StatusOr<std::vector<v1::Dataset>> DatasetsOf(const storage::GraphStore& store, bool all_versions) {
  absl::StatusOr<std::vector<v1::Dataset>> current = store.List();
  if (!current.ok() || !all_versions) return current;
  std::vector<v1::Dataset> all;
  for (const v1::Dataset& dataset : *current) {
    absl::StatusOr<std::vector<v1::Dataset>> versions = store.Versions(dataset.name());
    if (absl::IsNotFound(versions.status())) continue;  // deleted meanwhile
    ABSL_RETURN_IF_ERROR(versions.status());
    std::move(versions->begin(), versions->end(), std::back_inserter(all));
  }
  // As their keys sort, which a name that goes on behind another one's end makes no order by name.
  std::sort(all.begin(), all.end(),
            [](const v1::Dataset& a, const v1::Dataset& b) { return KeyOf(a, true) < KeyOf(b, true); });
  return all;
}

void LogSealed(const storage::DatasetWriter::SealResult& sealed) {
  log::Log(log::Level::kInfo, "dataset_sealed",
           {{"dataset", absl::StrCat(sealed.dataset.name(), "@", sealed.dataset.version())},
            {"graphs", std::uint64_t{sealed.dataset.graphs()}},
            {"unchanged", sealed.unchanged ? "true" : "false"}});
}

std::int64_t NowMs() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

absl::Status CheckEnd(const v1::ImportEnd& end, std::uint64_t received) {
  if (end.graphs() == received) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the import's end speaks of ", end.graphs(), " graphs, but ",
                                                 received, " came; it was dropped"));
}

// It stands in every description of the data set, which a client must be able to take.
absl::Status CheckLineage(const v1::Lineage& lineage) {
  const std::size_t bytes = lineage.ByteSizeLong();
  if (bytes <= kMaxLineageBytes) return absl::OkStatus();
  return base::WithField(
      absl::InvalidArgumentError(absl::StrCat("lineage has ", bytes, " bytes, at most ", kMaxLineageBytes,
                                              " are taken; name fewer sources")),
      "lineage");
}

absl::Status NoEnd() {
  return absl::InvalidArgumentError(
      "the import ended without its end message, or a message was no valid protobuf (such as text that is not "
      "UTF-8); it was dropped");
}

}  // namespace

DatasetService::DatasetService(storage::GraphStore& store, DatasetReclaimer& reclaimer, IdleWatch& idle,
                               std::uint64_t max_message_bytes, std::shared_ptr<limits::MemoryMeter> memory,
                               storage::StagedImportsOptions options)
    : store_(store),
      reclaimer_(reclaimer),
      idle_(idle),
      max_message_bytes_(max_message_bytes),
      max_refused_bytes_(std::min(storage::kMaxRefusedBytes, max_message_bytes / 2)),
      memory_(std::move(memory)),
      idle_limit_(options.idle_limit),
      imports_(options),
      exports_(kMaxExports),
      importers_(static_cast<int>(options.max_imports)) {}

grpc::ServerReadReactor<v1::ImportGraphsRequest>* DatasetService::ImportGraphs(
    grpc::CallbackServerContext*, v1::ImportGraphsResponse* response) {
  auto* const call = new ImportCall(idle_limit_);
  absl::StatusOr<limits::Slots::Slot> slot = Admit();
  if (!slot.ok()) {
    call->End(slot.status());
    return call;
  }
  importers_.Post([this, call, response, slot = std::make_shared<limits::Slots::Slot>(*std::move(slot))] {
    open_imports_.Add(*call);
    const absl::Status status = Import(*call, std::move(*slot), *response);
    open_imports_.Remove(*call);
    call->End(status);
  });
  return call;
}

void DatasetService::Drain() {
  draining_ = true;
  open_imports_.BreakAll(CheckNotDraining());
}

grpc::Status DatasetService::SealDataset(grpc::ServerContext*, const v1::SealDatasetRequest* request,
                                         v1::SealDatasetResponse* response) {
  return base::ToGrpcStatus(Seal(*request, *response));
}

grpc::Status DatasetService::ListDatasets(grpc::ServerContext*, const v1::ListDatasetsRequest* request,
                                          v1::ListDatasetsResponse* response) {
  return base::ToGrpcStatus(List(*request, *response));
}

grpc::Status DatasetService::GetDataset(grpc::ServerContext*, const v1::GetDatasetRequest* request,
                                        v1::GetDatasetResponse* response) {
  return base::ToGrpcStatus(Get(*request, *response));
}

grpc::Status DatasetService::ListGraphSizes(grpc::ServerContext*, const v1::ListGraphSizesRequest* request,
                                            v1::ListGraphSizesResponse* response) {
  absl::StatusOr<v1::ListGraphSizesResponse> page =
      serving::ListGraphSizes(store_, *request, max_message_bytes_);
  if (!page.ok()) return base::ToGrpcStatus(page.status());
  *response = *std::move(page);
  return grpc::Status::OK;
}

grpc::Status DatasetService::DeriveDataset(grpc::ServerContext* context,
                                           const v1::DeriveDatasetRequest* request,
                                           v1::DeriveDatasetResponse* response) {
  return base::ToGrpcStatus(Derive(
      *request, [context] { return context->IsCancelled(); }, *response));
}

grpc::Status DatasetService::DeleteDataset(grpc::ServerContext*, const v1::DeleteDatasetRequest* request,
                                           v1::DeleteDatasetResponse* response) {
  absl::StatusOr<v1::DeleteDatasetResponse> deleted = reclaimer_.Delete(*request);
  if (!deleted.ok()) return base::ToGrpcStatus(deleted.status());
  *response = *std::move(deleted);
  return grpc::Status::OK;
}

grpc::Status DatasetService::ExportDataset(grpc::ServerContext* context,
                                           const v1::ExportDatasetRequest* request,
                                           grpc::ServerWriter<v1::ExportDatasetResponse>* writer) {
  const std::optional<limits::Slots::Slot> slot = exports_.Take();
  if (!slot.has_value()) {
    return base::ToGrpcStatus(
        base::WithReason(absl::ResourceExhaustedError(absl::StrCat(
                             kMaxExports, " exports are under way, the server's limit; export again later")),
                         "EXPORT_LIMIT", {{"limit", absl::StrCat(kMaxExports)}}));
  }
  IdleWatch::Call unread(idle_, [context] { context->TryCancel(); });
  return base::ToGrpcStatus(Export(*request, [&](const v1::ExportDatasetResponse& message) {
    unread.BeginWait();
    const bool written = writer->Write(message);
    unread.EndWait();
    return written ? CheckNotDraining() : absl::CancelledError("the client went away");
  }));
}

absl::Status DatasetService::Export(const v1::ExportDatasetRequest& request, storage::ExportSink sink) {
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<const storage::Dataset> dataset, store_.Open(request.dataset()));
  return storage::ExportDataset(*dataset, request.as_columns(), max_message_bytes_, sink);
}

absl::Status DatasetService::Derive(const v1::DeriveDatasetRequest& request,
                                    absl::FunctionRef<bool()> cancelled, v1::DeriveDatasetResponse& response) {
  ABSL_RETURN_IF_ERROR(storage::CheckDatasetName(request.name()));
  ABSL_ASSIGN_OR_RETURN(const limits::Slots::Slot slot, Admit());
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<const storage::Dataset> source, store_.Open(request.dataset()));
  limits::MemoryMeter::Charge memory;
  std::uint64_t graphs = 0;
  const auto progress = [&](std::uint64_t memory_bytes) {
    if (graphs++ % kGraphsOfMemoryCheck == 0) memory = memory_->Add(memory_bytes);
    return cancelled() ? absl::CancelledError("the client went away") : CheckNotDraining();
  };
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<storage::DatasetWriter> writer,
                        storage::StageDerived(store_, *source, request, progress));
  v1::SealDatasetRequest seal = storage::SealOfDerived(*source, request);
  seal.mutable_lineage()->set_program_version(PACKTRAIN_VERSION);
  seal.mutable_lineage()->set_imported_at_ms(NowMs());
  ABSL_RETURN_IF_ERROR(CheckLineage(seal.lineage()));
  ABSL_ASSIGN_OR_RETURN(storage::DatasetWriter::SealResult sealed, writer->Seal(seal));
  LogSealed(sealed);
  *response.mutable_dataset() = std::move(sealed.dataset);
  response.set_unchanged(sealed.unchanged);
  return absl::OkStatus();
}

absl::Status DatasetService::CheckNotDraining() const {
  if (!draining_) return absl::OkStatus();
  return base::WithReason(
      absl::UnavailableError("the server is shutting down and takes no import; import again later"),
      "SHUTTING_DOWN");
}

absl::StatusOr<limits::Slots::Slot> DatasetService::Admit() {
  ABSL_RETURN_IF_ERROR(CheckNotDraining());
  return imports_.Begin();
}

absl::Status DatasetService::Import(ImportCall& call, limits::Slots::Slot slot,
                                    v1::ImportGraphsResponse& response) {
  ABSL_ASSIGN_OR_RETURN(const v1::ImportGraphsRequest* first, call.Next());
  if (first == nullptr || !first->has_header()) {
    return absl::InvalidArgumentError("the first message of an import must be its header");
  }
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<storage::ImportSession> session,
                        storage::ImportSession::Begin(store_, first->header(), max_refused_bytes_));
  log::Log(log::Level::kInfo, "import_began", {});
  limits::MemoryMeter::Charge memory;
  ABSL_RETURN_IF_ERROR(ReadBlocks(call, *session, memory));
  response = session->response();
  log::Log(log::Level::kInfo, "import_staged",
           {{"received", std::uint64_t{response.received()}}, {"staged", std::uint64_t{response.staged()}}});
  std::unique_ptr<storage::DatasetWriter> writer = session->TakeWriter();
  memory = memory_->Add(writer->memory_bytes());
  response.set_import_id(imports_.Add({std::move(slot), std::move(memory), std::move(writer)}));
  return absl::OkStatus();
}

absl::Status DatasetService::ReadBlocks(ImportCall& call, storage::ImportSession& session,
                                        limits::MemoryMeter::Charge& memory) {
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const v1::ImportGraphsRequest* message, call.Next());
    ABSL_RETURN_IF_ERROR(CheckNotDraining());
    if (message != nullptr && message->has_end()) {
      return CheckEnd(message->end(), session.response().received());
    }
    if (message == nullptr || !(message->has_block() || message->has_records())) return NoEnd();
    absl::Status added = message->has_block() ? session.Add(message->block()) : session.Add(message->records());
    ABSL_RETURN_IF_ERROR(added);
    memory = memory_->Add(session.memory_bytes());
  }
}

absl::Status DatasetService::Seal(const v1::SealDatasetRequest& request, v1::SealDatasetResponse& response) {
  ABSL_RETURN_IF_ERROR(CheckNotDraining());
  ABSL_RETURN_IF_ERROR(CheckLineage(request.lineage()));
  ABSL_ASSIGN_OR_RETURN(storage::StagedImports::Import import, imports_.Take(request.import_id()));
  absl::StatusOr<storage::DatasetWriter::SealResult> sealed = import.writer->Seal(request);
  if (!sealed.ok()) {
    imports_.PutBack(request.import_id(), std::move(import));
    return sealed.status();
  }
  LogSealed(*sealed);
  *response.mutable_dataset() = std::move(sealed->dataset);
  response.set_unchanged(sealed->unchanged);
  return absl::OkStatus();
}

absl::Status DatasetService::List(const v1::ListDatasetsRequest& request,
                                  v1::ListDatasetsResponse& response) const {
  const std::string_view query = request.all_versions() ? kEveryVersion : kEveryDataset;
  ABSL_ASSIGN_OR_RETURN(const std::string after, KeyOfPageToken(request.page_token(), query));
  ABSL_ASSIGN_OR_RETURN(std::vector<v1::Dataset> datasets, DatasetsOf(store_, request.all_versions()));
  Page page(request.page_size(), max_message_bytes_);
  for (v1::Dataset& dataset : datasets) {
    if (KeyOf(dataset, request.all_versions()) <= after) continue;
    if (!page.Take(dataset.ByteSizeLong())) {
      response.set_next_page_token(
          PageToken(query, KeyOf(*response.datasets().rbegin(), request.all_versions())));
      break;
    }
    *response.add_datasets() = std::move(dataset);
  }
  return absl::OkStatus();
}

absl::Status DatasetService::Get(const v1::GetDatasetRequest& request, v1::GetDatasetResponse& response) {
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<const storage::Dataset> dataset, store_.Open(request.dataset()));
  *response.mutable_dataset() = dataset->description();
  return absl::OkStatus();
}

}  // namespace packtrain::serving
