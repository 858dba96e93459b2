// The flag --renumber of `packtrain import` and `packtrain dataset derive`.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_RENUMBER_FLAG_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_RENUMBER_FLAG_H_

#include "client/cli/command.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// Adds the flag to `command`, which sets `renumber` where it is given.
void AddRenumberFlag(CLI::App& command, v1::Renumbering& renumber);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_RENUMBER_FLAG_H_
