// Refuses enum values that this program does not know, which proto3 passes on as numbers. Code that branches on
// an enum checks its message first.
#ifndef PACKTRAIN_PROTO_BASE_ENUM_CHECK_H_
#define PACKTRAIN_PROTO_BASE_ENUM_CHECK_H_

#include <string_view>

#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}

namespace packtrain::base {

// INVALID_ARGUMENT: an enum in `message`, at any depth, has a value that is none of its own. The status names
// field and value, such as "header.schema.fields.scope = 9", where `message` is called "header"; and has the
// field as a detail (error_details.h).
absl::Status CheckEnums(std::string_view name, const google::protobuf::Message& message);

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_ENUM_CHECK_H_
