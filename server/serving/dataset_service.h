// Answers DatasetService.
#ifndef PACKTRAIN_SERVER_SERVING_DATASET_SERVICE_H_
#define PACKTRAIN_SERVER_SERVING_DATASET_SERVICE_H_

#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.grpc.pb.h"
#include "server/batches/dataset_reclaimer.h"
#include "server/batches/worker_pool.h"
#include "server/limits/memory_budget.h"
#include "server/limits/slots.h"
#include "server/serving/idle_watch.h"
#include "server/serving/import_call.h"
#include "server/serving/packed_call.h"
#include "server/storage/dataset_importer.h"
#include "server/storage/export.h"
#include "server/storage/graph_store.h"
#include "server/storage/staged_imports.h"

namespace packtrain::serving {

// Calls run on gRPC's threads, many at a time; an import has a thread of this service for as long as it lasts,
// which reads a block, stages it, and only then reads the next.
class DatasetService final
    : public PackedService<v1::DatasetService, v1::DatasetService::WithRawCallbackMethod_ImportGraphs<
                                                   v1::DatasetService::Service>> {
 public:
  // The first four are borrowed. Messages are taken, and answers fit into messages, of `max_message_bytes`.
  // Imports take what they hold from `memory`. `idle` cuts off exports whose client does not read.
  DatasetService(CallBounds& bounds, storage::GraphStore& store, batches::DatasetReclaimer& reclaimer,
                 IdleWatch& idle, std::uint64_t max_message_bytes, std::shared_ptr<limits::MemoryBudget> memory,
                 storage::StagedImportsOptions options = {});

  // From now on imports are neither begun nor sealed, and those under way end as soon as they wait for their
  // client, or with its next message.
  void Drain();

  grpc::ServerReadReactor<grpc::ByteBuffer>* ImportGraphs(grpc::CallbackServerContext* context,
                                                          grpc::ByteBuffer* response) override;
  grpc::Status ContinueImport(grpc::ServerContext* context, const v1::ContinueImportRequest* request,
                              v1::ContinueImportResponse* response) override;
  grpc::Status SealDataset(grpc::ServerContext* context, const v1::SealDatasetRequest* request,
                           v1::SealDatasetResponse* response) override;
  grpc::Status ListDatasets(grpc::ServerContext* context, const v1::ListDatasetsRequest* request,
                            v1::ListDatasetsResponse* response) override;
  grpc::Status ListGraphSizes(grpc::ServerContext* context, const v1::ListGraphSizesRequest* request,
                              v1::ListGraphSizesResponse* response) override;
  grpc::Status DeriveDataset(grpc::ServerContext* context, const v1::DeriveDatasetRequest* request,
                             v1::DeriveDatasetResponse* response) override;
  grpc::Status DeleteDataset(grpc::ServerContext* context, const v1::DeleteDatasetRequest* request,
                             v1::DeleteDatasetResponse* response) override;

 private:
  // GetDataset and ExportDataset, which take memory for what they load.
  grpc::Status Description(grpc::ServerContext* context, const v1::GetDatasetRequest& request,
                           v1::GetDatasetResponse& response, Memory& memory);
  grpc::Status StreamDataset(grpc::ServerContext* context, const v1::ExportDatasetRequest& request,
                             PackedWriter<v1::ExportDatasetResponse>& writer, Memory& memory);
  absl::StatusOr<v1::ListDatasetsResponse> List(const v1::ListDatasetsRequest& request) const;
  absl::StatusOr<v1::GetDatasetResponse> Get(const v1::GetDatasetRequest& request, Memory& memory);
  absl::Status Export(const v1::ExportDatasetRequest& request, Memory& memory, storage::ExportSink sink);

  // Stages what `call` reads, answers it and writes into `response`.
  void Import(ImportCall& call, limits::Slots::Slot slot, grpc::ByteBuffer& response);

  CallBounds& bounds_;
  storage::GraphStore& store_;
  batches::DatasetReclaimer& reclaimer_;
  IdleWatch& idle_;
  const std::uint64_t max_message_bytes_;
  const std::chrono::milliseconds idle_limit_;
  OpenImports open_imports_;
  storage::DatasetImporter importer_;
  limits::Slots exports_;
  batches::WorkerPool import_threads_;  // last: its tasks use all of the above
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_DATASET_SERVICE_H_
