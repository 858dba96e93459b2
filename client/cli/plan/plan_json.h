// The JSON of plans, as `packtrain plan` prints it.
#ifndef PACKTRAIN_CLIENT_CLI_PLAN_PLAN_JSON_H_
#define PACKTRAIN_CLIENT_CLI_PLAN_PLAN_JSON_H_

#include "client/cli/message_json.h"
#include "packtrain/v1/batch.pb.h"

namespace packtrain::cli {

// Of the messages in packtrain/v1/batch.proto.
const JsonRules& PlanRules();

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_PLAN_PLAN_JSON_H_
