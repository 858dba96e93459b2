#include "server/serving/dataset_service.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/status_convert.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/limits/guarded.h"
#include "server/limits/page.h"
#include "server/serving/answer.h"
#include "server/serving/bounded_writer.h"
#include "server/serving/graph_sizes.h"

namespace packtrain::serving {
namespace {

// What a page token of ListDatasets belongs to; the list takes no query.
constexpr std::string_view kEveryDataset = "datasets";
constexpr std::string_view kEveryVersion = "versions";

// Exports at one time: each holds a thread, and a block.
constexpr std::size_t kMaxExports = 32;

absl::Status TooManyExports() {
  return base::WithRetryDelay(base::WithReason(absl::ResourceExhaustedError(absl::StrCat(
                                                   kMaxExports, " exports are under way, the server's limit")),
                                               "EXPORT_LIMIT", {{"limit", absl::StrCat(kMaxExports)}}),
                              std::chrono::seconds(10));
}

// Key of a page token.
std::string KeyOf(const v1::Dataset& dataset, bool all_versions) {
  return all_versions ? wire::FullName(dataset) : dataset.name();
}

}  // namespace

DatasetService::DatasetService(CallBounds& bounds, storage::GraphStore& store,
                               batches::DatasetReclaimer& reclaimer, IdleWatch& idle,
                               std::uint64_t max_message_bytes, std::shared_ptr<limits::MemoryBudget> memory,
                               storage::StagedImportsOptions options)
    : PackedService(bounds),
      bounds_(bounds),
      store_(store),
      reclaimer_(reclaimer),
      idle_(idle),
      max_message_bytes_(max_message_bytes),
      idle_limit_(options.idle_limit),
      importer_(store, std::move(memory),
                {.max_refused_bytes = std::min(storage::kMaxRefusedBytes, max_message_bytes / 2),
                 .program_version = PACKTRAIN_VERSION,
                 .imports = options}),
      exports_(kMaxExports),
      import_threads_(static_cast<int>(options.max_imports)) {
  using enum limits::MemoryPart;
  // A split may name every graph.
  const MethodBound lists{
      .part = kImports, .max_request_bytes = max_message_bytes_, .max_elements = max_message_bytes_};
  Bound(&DatasetService::SealDataset, lists);
  // A header may hold all vocabularies; the answer holds settings of other imports.
  Bound(&DatasetService::ContinueImport, {.part = kImports,
                                          .max_request_bytes = max_message_bytes_,
                                          .max_elements = max_message_bytes_,
                                          .work_bytes = 1 << 20});
  Bound(&DatasetService::ListDatasets, {.part = kListings, .work_bytes = kPageBytes});
  Bound(&DatasetService::Description, {.part = kListings});
  Bound(&DatasetService::ListGraphSizes, {.part = kListings, .work_bytes = kPageBytes});
  Bound(&DatasetService::StreamDataset, {.part = kListings});
  Bound(&DatasetService::DeriveDataset, lists);
  Bound(&DatasetService::DeleteDataset, {.part = kListings, .work_bytes = kPageBytes});
}

grpc::ServerReadReactor<grpc::ByteBuffer>* DatasetService::ImportGraphs(grpc::CallbackServerContext* context,
                                                                        grpc::ByteBuffer* response) {
  auto* const call = new ImportCall(bounds_, *context, max_message_bytes_, idle_limit_);
  absl::StatusOr<limits::Slots::Slot> slot = importer_.Admit();
  if (!slot.ok()) {
    call->End(slot.status());
    return call;
  }
  import_threads_.Post([this, call, response, slot = std::make_shared<limits::Slots::Slot>(*std::move(slot))] {
    Import(*call, std::move(*slot), *response);
  });
  return call;
}

void DatasetService::Import(ImportCall& call, limits::Slots::Slot slot, grpc::ByteBuffer& response) {
  open_imports_.Add(call);
  const absl::StatusOr<v1::ImportGraphsResponse> staged = importer_.Import(
      std::move(slot), [&call](std::uint64_t held_bytes) { return call.Next(held_bytes); },
      [&call] { return call.IsWanted(); }, [&call](const absl::Status& why) { call.Break(why); });
  open_imports_.Remove(call);
  call.End(staged.ok() ? limits::Guarded([&] { return Pack(*staged, response); }) : staged.status());
}

void DatasetService::Drain() {
  importer_.Drain();
  open_imports_.BreakAll(importer_.CheckNotDraining());
}

grpc::Status DatasetService::ContinueImport(grpc::ServerContext*, const v1::ContinueImportRequest* request,
                                            v1::ContinueImportResponse* response) {
  return Answer(importer_.Continue(*request), response);
}

grpc::Status DatasetService::SealDataset(grpc::ServerContext* context, const v1::SealDatasetRequest* request,
                                         v1::SealDatasetResponse* response) {
  return Answer(importer_.Seal(*request, WhileWanted(*context)), response);
}

grpc::Status DatasetService::ListDatasets(grpc::ServerContext*, const v1::ListDatasetsRequest* request,
                                          v1::ListDatasetsResponse* response) {
  return Answer(List(*request), response);
}

grpc::Status DatasetService::Description(grpc::ServerContext*, const v1::GetDatasetRequest& request,
                                         v1::GetDatasetResponse& response, Memory& memory) {
  return Answer(Get(request, memory), &response);
}

grpc::Status DatasetService::ListGraphSizes(grpc::ServerContext*, const v1::ListGraphSizesRequest* request,
                                            v1::ListGraphSizesResponse* response) {
  return Answer(serving::ListGraphSizes(store_, *request, max_message_bytes_), response);
}

grpc::Status DatasetService::DeriveDataset(grpc::ServerContext* context,
                                           const v1::DeriveDatasetRequest* request,
                                           v1::DeriveDatasetResponse* response) {
  return Answer(importer_.Derive(*request, WhileWanted(*context)), response);
}

grpc::Status DatasetService::DeleteDataset(grpc::ServerContext*, const v1::DeleteDatasetRequest* request,
                                           v1::DeleteDatasetResponse* response) {
  return Answer(reclaimer_.Delete(*request), response);
}

grpc::Status DatasetService::StreamDataset(grpc::ServerContext* context,
                                           const v1::ExportDatasetRequest& request,
                                           PackedWriter<v1::ExportDatasetResponse>& writer, Memory& memory) {
  const std::optional<limits::Slots::Slot> slot = exports_.Take();
  if (!slot.has_value()) return base::ToGrpcStatus(TooManyExports());
  BoundedWriter<v1::ExportDatasetResponse> out(*context, writer, idle_,
                                               [this] { return importer_.CheckNotDraining(); });
  return base::ToGrpcStatus(
      Export(request, memory, [&out](const v1::ExportDatasetResponse& message) { return out.Write(message); }));
}

absl::Status DatasetService::Export(const v1::ExportDatasetRequest& request, Memory& memory,
                                    storage::ExportSink sink) {
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<const storage::Dataset> dataset, store_.Open(request.dataset()));
  ABSL_ASSIGN_OR_RETURN(const std::uint64_t bytes, storage::ExportBytes(*dataset, max_message_bytes_));
  ABSL_RETURN_IF_ERROR(memory.Resize(memory.bytes() + bytes, limits::MemoryBudget::StatedWait()));
  return storage::ExportDataset(*dataset, request, max_message_bytes_, sink);
}

absl::StatusOr<v1::ListDatasetsResponse> DatasetService::List(const v1::ListDatasetsRequest& request) const {
  const std::string_view query = request.all_versions() ? kEveryVersion : kEveryDataset;
  ABSL_ASSIGN_OR_RETURN(const std::string after, limits::KeyOfPageToken(request.page_token(), query));
  v1::ListDatasetsResponse response;
  limits::Page page(request.page_size(), max_message_bytes_);
  const auto take = [&](v1::Dataset dataset) {
    dataset.mutable_schema()->clear_vocabularies();  // one alone may be larger than a page
    const bool taken = page.Take(BytesInPage(dataset));
    if (taken) {
      *response.add_datasets() = std::move(dataset);
    } else {
      response.set_next_page_token(
          limits::PageToken(query, KeyOf(*response.datasets().rbegin(), request.all_versions())));
    }
    return taken;
  };
  ABSL_RETURN_IF_ERROR(request.all_versions() ? store_.ListVersionsAfter(after, take)
                                              : store_.ListAfter(after, take));
  return response;
}

absl::StatusOr<v1::GetDatasetResponse> DatasetService::Get(const v1::GetDatasetRequest& request,
                                                           Memory& memory) {
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<const storage::Dataset> dataset, store_.Open(request.dataset()));
  const std::uint64_t decoded = dataset->description().SpaceUsedLong();  // its packed form takes less
  ABSL_RETURN_IF_ERROR(memory.Resize(memory.bytes() + 2 * decoded, limits::MemoryBudget::StatedWait()));
  v1::GetDatasetResponse response;
  *response.mutable_dataset() = dataset->description();
  return response;
}

}  // namespace packtrain::serving
