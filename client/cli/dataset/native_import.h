// packtrain import native
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_NATIVE_IMPORT_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_NATIVE_IMPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/command.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// Stores the data set of a file that `packtrain dataset export --format native` wrote, under `name`, or its own
// where that is empty. Nothing is stored unless what comes out has the version that the file states.
// INVALID_ARGUMENT: the file is damaged, cut off or none of these; otherwise codes as ImportGraphs and
// SealDataset.
absl::StatusOr<v1::SealDatasetResponse> ImportNative(const std::string& path, const std::string& name,
                                                     const GlobalOptions& global, Output& output);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_NATIVE_IMPORT_H_
