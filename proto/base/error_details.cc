#include "proto/base/error_details.h"

#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"

namespace packtrain::base {

namespace {

// Empty where the status has none.
google::rpc::ErrorInfo InfoOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kErrorInfoUrl);
  google::rpc::ErrorInfo info;
  if (payload.has_value() && !info.ParseFromString(std::string(*payload))) info.Clear();
  return info;
}

}  // namespace

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

std::string ReasonOf(const absl::Status& status) { return InfoOf(status).reason(); }

std::string MetadataOf(const absl::Status& status, std::string_view key) {
  const google::rpc::ErrorInfo info = InfoOf(status);
  const auto found = info.metadata().find(std::string(key));
  return found == info.metadata().end() ? "" : found->second;
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

absl::Status WithRetryInfo(absl::Status status, std::chrono::milliseconds delay) {
  if (status.ok()) return status;
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(delay.count() / 1'000);
  info.mutable_retry_delay()->set_nanos(static_cast<int>(delay.count() % 1'000 * 1'000'000));
  status.SetPayload(kRetryInfoUrl, absl::Cord(info.SerializeAsString()));
  return status;
}

absl::Status WithRetryDelay(absl::Status status, std::chrono::milliseconds delay) {
  if (status.ok()) return status;
  absl::Status with_words(status.code(), absl::StrCat(status.message(), "; come again in ",
                                                      std::chrono::duration<double>(delay).count(), " s"));
  status.ForEachPayload([&with_words](absl::string_view type_url, const absl::Cord& payload) {
    with_words.SetPayload(type_url, payload);
  });
  return WithRetryInfo(std::move(with_words), delay);
}

std::optional<std::chrono::milliseconds> RetryDelayOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryInfoUrl);
  google::rpc::RetryInfo info;
  if (!payload.has_value() || !info.ParseFromString(std::string(*payload))) return std::nullopt;
  const google::protobuf::Duration& delay = info.retry_delay();
  return std::chrono::milliseconds(delay.seconds() * 1'000 + delay.nanos() / 1'000'000);
}

}  // namespace packtrain::base
