#include "proto/base/enum_check.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"

namespace packtrain::base {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

absl::Status CheckNumber(const std::string& path, const FieldDescriptor& field, int number) {
  if (field.enum_type()->FindValueByNumber(number) != nullptr) return absl::OkStatus();
  return WithField(absl::InvalidArgumentError(absl::StrCat(
                       path, " = ", number, " is not known to this server; it may be older than the client")),
                   path);
}

absl::Status CheckNumbers(const std::string& path, const Message& message, const FieldDescriptor& field) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!field.is_repeated()) return CheckNumber(path, field, reflection.GetEnumValue(message, &field));
  for (int k = 0; k < reflection.FieldSize(message, &field); ++k) {
    absl::Status status = CheckNumber(path, field, reflection.GetRepeatedEnumValue(message, &field, k));
    ABSL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status CheckMessages(const std::string& path, const Message& message, const FieldDescriptor& field) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!field.is_repeated()) return CheckEnums(path, reflection.GetMessage(message, &field));
  for (int k = 0; k < reflection.FieldSize(message, &field); ++k) {
    absl::Status status = CheckEnums(path, reflection.GetRepeatedMessage(message, &field, k));
    ABSL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status CheckField(const std::string& path, const Message& message, const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_ENUM:
      return CheckNumbers(path, message, field);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return CheckMessages(path, message, field);
    default:
      return absl::OkStatus();
  }
}

}  // namespace

absl::Status CheckEnums(std::string_view name, const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string path = absl::StrCat(std::string(name), ".", field->name());
    ABSL_RETURN_IF_ERROR(CheckField(path, message, *field));
  }
  return absl::OkStatus();
}

}  // namespace packtrain::base
