// Whole data sets as streams of messages.
#ifndef PACKTRAIN_SERVER_STORAGE_EXPORT_H_
#define PACKTRAIN_SERVER_STORAGE_EXPORT_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/storage/graph_store.h"

namespace packtrain::storage {

// What ExportDataset holds in memory at one time, with the packed form of a message: by the data set's largest
// graph. Codes as records::RecordLayout::Create.
absl::StatusOr<std::uint64_t> ExportBytes(const Dataset& dataset, std::uint64_t max_message_bytes);

using ExportSink = absl::FunctionRef<absl::Status(const v1::ExportDatasetResponse& message)>;

// Hands the messages of DatasetService.ExportDataset to `sink`, in order, each of about 1 MiB and at most
// `max_message_bytes`. OUT_OF_RANGE: the request's first graph. RESOURCE_EXHAUSTED: a graph alone is above
// that. A failing sink ends the export with its status; otherwise codes as Dataset::ScanRecords.
absl::Status ExportDataset(const Dataset& dataset, const v1::ExportDatasetRequest& request,
                           std::uint64_t max_message_bytes, ExportSink sink);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_EXPORT_H_
