// The JSON of runs, as the commands below `packtrain run` print it.
#ifndef PACKTRAIN_CLIENT_CLI_RUN_RUN_JSON_H_
#define PACKTRAIN_CLIENT_CLI_RUN_RUN_JSON_H_

#include <string>
#include <utility>

#include "client/cli/output.h"
#include "packtrain/v1/run.pb.h"

namespace packtrain::cli {

// The keys of `run list`.
Json RunToJson(const v1::Run& run);

// "qm9@0123" -> {"qm9", "0123"}.
std::pair<std::string, std::string> SplitReference(const std::string& reference);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_RUN_RUN_JSON_H_
