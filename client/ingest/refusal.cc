#include "client/ingest/refusal.h"

#include "absl/strings/cord.h"
#include "absl/types/optional.h"

namespace packtrain::ingest {
namespace {

constexpr char kReasonType[] = "reason";

}  // namespace

absl::Status Refusal(std::string_view reason, std::string_view message) {
  absl::Status status = absl::InvalidArgumentError({message.data(), message.size()});
  status.SetPayload(kReasonType, absl::Cord(absl::string_view(reason.data(), reason.size())));
  return status;
}

bool IsRefusal(const absl::Status& status) { return status.GetPayload(kReasonType).has_value(); }

std::string ReasonOf(const absl::Status& status) {
  const absl::optional<absl::Cord> reason = status.GetPayload(kReasonType);
  return reason ? std::string(*reason) : "unreadable";
}

}  // namespace packtrain::ingest
