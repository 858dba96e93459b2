// The JSON of data sets, as the commands below `packtrain dataset` print it.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_DATASET_JSON_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_DATASET_JSON_H_

#include "client/cli/message_json.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// Of the messages in packtrain/v1/dataset.proto.
const JsonRules& DatasetRules();

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_DATASET_JSON_H_
