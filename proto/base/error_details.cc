#include "proto/base/error_details.h"

#include "absl/strings/cord.h"
#include "google/rpc/error_details.pb.h"

namespace packtrain::base {

absl::Status WithReason(absl::Status status, std::string_view reason,
                        std::initializer_list<std::pair<std::string_view, std::string>> metadata) {
  if (status.ok()) return status;
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(reason));
  info.set_domain(kErrorDomain);
  for (const auto& [key, value] : metadata) (*info.mutable_metadata())[std::string(key)] = value;
  status.SetPayload(kErrorInfoUrl, absl::Cord(info.SerializeAsString()));
  return status;
}

std::string ReasonOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kErrorInfoUrl);
  google::rpc::ErrorInfo info;
  if (!payload.has_value() || !info.ParseFromString(std::string(*payload))) return "";
  return info.reason();
}

absl::Status WithField(absl::Status status, std::string_view field) {
  if (status.ok()) return status;
  google::rpc::BadRequest request;
  google::rpc::BadRequest::FieldViolation& violation = *request.add_field_violations();
  violation.set_field(std::string(field));
  violation.set_description(std::string(status.message()));
  status.SetPayload(kBadRequestUrl, absl::Cord(request.SerializeAsString()));
  return status;
}

}  // namespace packtrain::base
