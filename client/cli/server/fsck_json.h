// The JSON of a check of stores, as `packtrain fsck` prints it.
#ifndef PACKTRAIN_CLIENT_CLI_SERVER_FSCK_JSON_H_
#define PACKTRAIN_CLIENT_CLI_SERVER_FSCK_JSON_H_

#include "client/cli/message_json.h"
#include "packtrain/v1/admin.pb.h"

namespace packtrain::cli {

// Of the messages in packtrain/v1/admin.proto.
const JsonRules& FsckRules();

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_SERVER_FSCK_JSON_H_
