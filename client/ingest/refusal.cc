#include "client/ingest/refusal.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace packtrain::ingest {
namespace {

constexpr char kReasonType[] = "reason";
constexpr char kLeavesRestType[] = "leaves_rest";

}  // namespace

absl::Status Refusal(std::string_view reason, std::string_view message) {
  absl::Status status = absl::InvalidArgumentError({message.data(), message.size()});
  status.SetPayload(kReasonType, absl::Cord(absl::string_view(reason.data(), reason.size())));
  return status;
}

bool IsRefusal(const absl::Status& status) { return status.GetPayload(kReasonType).has_value(); }

absl::Status WithMessage(const absl::Status& refusal, std::string_view message) {
  absl::Status status(refusal.code(), {message.data(), message.size()});
  refusal.ForEachPayload(
      [&](absl::string_view type, const absl::Cord& payload) { status.SetPayload(type, payload); });
  return status;
}

absl::Status LeavingRest(absl::Status status) {
  if (!IsRefusal(status) || LeavesRest(status)) return status;
  status = WithMessage(status, absl::StrCat(status.message(), "; nothing is read from there on"));
  status.SetPayload(kLeavesRestType, absl::Cord());
  return status;
}

bool LeavesRest(const absl::Status& status) { return status.GetPayload(kLeavesRestType).has_value(); }

std::string ReasonOf(const absl::Status& status) {
  const absl::optional<absl::Cord> reason = status.GetPayload(kReasonType);
  return reason ? std::string(*reason) : "unreadable";
}

}  // namespace packtrain::ingest
