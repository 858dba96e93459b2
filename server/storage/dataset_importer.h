// Makes data sets, by import or out of stored ones: DatasetService's ImportGraphs, ContinueImport, SealDataset
// and DeriveDataset without the transport.
//
//   DatasetImporter importer(store, memory, {.program_version = "1.0"});
//   auto slot = importer.Admit();
//   auto staged = importer.Import(*std::move(slot), next_message);
//   seal.set_import_id(staged->import_id());
//   auto sealed = importer.Seal(seal);
#ifndef PACKTRAIN_SERVER_STORAGE_DATASET_IMPORTER_H_
#define PACKTRAIN_SERVER_STORAGE_DATASET_IMPORTER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/edges/working_memory.h"
#include "server/limits/memory_budget.h"
#include "server/limits/slots.h"
#include "server/storage/graph_store.h"
#include "server/storage/import_message.h"
#include "server/storage/import_session.h"
#include "server/storage/running_imports.h"
#include "server/storage/staged_imports.h"

namespace packtrain::storage {

struct DatasetImporterOptions {
  // Limit of the list of refused graphs that an import answers with.
  std::uint64_t max_refused_bytes = kMaxRefusedBytes;
  // Stands in the lineage of what is derived.
  std::string program_version;
  StagedImportsOptions imports = {};
};

// Any number of threads may use it.
class DatasetImporter {
 public:
  // `store` is borrowed. Imports and derivations take what they hold from `memory`, and fail where it is in
  // use.
  DatasetImporter(GraphStore& store, std::shared_ptr<limits::MemoryBudget> memory,
                  DatasetImporterOptions options);

  // From now on nothing is begun, staged or sealed: that fails with the status of CheckNotDraining.
  void Drain() { draining_ = true; }
  // UNAVAILABLE once Drain was called.
  absl::Status CheckNotDraining() const;

  // The place of an import, which it has from before its first message until it is sealed or dropped. It must
  // not outlive the importer. RESOURCE_EXHAUSTED: all places are taken. UNAVAILABLE: the server drains.
  absl::StatusOr<limits::Slots::Slot> Admit();

  // The next message of an import that holds `held_bytes` of memory for imports, valid until the call after.
  using NextMessage = absl::FunctionRef<absl::StatusOr<ImportMessage>(std::uint64_t held_bytes)>;
  // Reads and stages one import, and keeps it under the id in the answer. A failure, of `next` too, drops it,
  // or keeps what is on the disk as DatasetService.ImportGraphs says. It waits for memory while it is `wanted`;
  // null: always. `end` makes `next` fail, for another client that goes on with the import; null: that client
  // waits. Codes as DatasetService.ImportGraphs; RESOURCE_EXHAUSTED also where an allocation fails, here and in
  // Seal and Derive.
  absl::StatusOr<v1::ImportGraphsResponse> Import(limits::Slots::Slot slot, NextMessage next,
                                                  const std::function<bool()>& wanted = nullptr,
                                                  RunningImports::End end = nullptr);

  // Codes as DatasetService.ContinueImport.
  absl::StatusOr<v1::ContinueImportResponse> Continue(const v1::ContinueImportRequest& request);

  // Publishes an import that was staged; a failure keeps it. Codes as DatasetService.SealDataset.
  absl::StatusOr<v1::SealDatasetResponse> Seal(const v1::SealDatasetRequest& request,
                                               const std::function<bool()>& wanted = nullptr);

  // Imports and seals what the store holds already. Ends early with CANCELLED once it is not `wanted`. Codes as
  // DatasetService.DeriveDataset.
  absl::StatusOr<v1::DeriveDatasetResponse> Derive(const v1::DeriveDatasetRequest& request,
                                                   const std::function<bool()>& wanted = nullptr);

 private:
  // Import and Derive, but for what is thrown.
  absl::StatusOr<v1::ImportGraphsResponse> ImportAll(limits::Slots::Slot slot, NextMessage next,
                                                     const std::function<bool()>& wanted,
                                                     RunningImports::End end);
  absl::StatusOr<v1::DeriveDatasetResponse> StageAndSeal(const v1::DeriveDatasetRequest& request,
                                                         const std::function<bool()>& wanted);
  absl::StatusOr<std::unique_ptr<ImportSession>> BeginSession(const v1::ImportHeader& header,
                                                              limits::MemoryBudget::Reservation& memory,
                                                              const std::function<bool()>& wanted,
                                                              edges::WorkingMemory::Take take);
  // Stages the blocks that follow the header, up to the end message; `take` makes `memory` grow with what is
  // held of them.
  absl::Status StageBlocks(ImportSession& session, NextMessage next,
                           const limits::MemoryBudget::Reservation& memory,
                           const edges::WorkingMemory::Take& take);
  absl::StatusOr<std::unique_ptr<DatasetWriter>> Stage(const Dataset& source,
                                                       const v1::DeriveDatasetRequest& request,
                                                       limits::MemoryBudget::Reservation& memory,
                                                       const std::function<bool()>& wanted);
  v1::SealDatasetRequest SealOf(const Dataset& source, const v1::DeriveDatasetRequest& request) const;

  // Memory for an import that begins. Codes as MemoryBudget::Reserve.
  absl::StatusOr<limits::MemoryBudget::Reservation> ReserveFirst(const std::function<bool()>& wanted);

  GraphStore& store_;
  const std::shared_ptr<limits::MemoryBudget> memory_;
  const std::uint64_t max_refused_bytes_;
  const std::string program_version_;
  std::atomic<bool> draining_{false};
  RunningImports running_;
  StagedImports imports_;
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_DATASET_IMPORTER_H_
