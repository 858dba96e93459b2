// The JSON of runs, as the commands below `packtrain run` print it.
#ifndef PACKTRAIN_CLIENT_CLI_RUN_RUN_JSON_H_
#define PACKTRAIN_CLIENT_CLI_RUN_RUN_JSON_H_

#include "client/cli/message_json.h"
#include "packtrain/v1/run.pb.h"

namespace packtrain::cli {

// Of the messages in packtrain/v1/run.proto.
const JsonRules& RunRules();

// A row of `run list`.
Json RunRow(const v1::Run& run);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_RUN_RUN_JSON_H_
