// What `packtrain dataset derive` and `packtrain dataset split` share: both make a version out of a stored one.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_DERIVATION_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_DERIVATION_H_

#include "absl/status/statusor.h"
#include "client/cli/command.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// Asks the server for it and prints what came of it.
absl::StatusOr<ExitCode> Derive(v1::DeriveDatasetRequest request, const GlobalOptions& global, Output& output);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_DERIVATION_H_
