#include "server/batches/stream_request.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_spec_convert.h"
#include "server/batching/rank_assignment.h"

namespace packtrain::batches {
namespace {

// Below gRPC's default receive limit of 4 MiB, with room for what a client may add.
constexpr std::uint32_t kDefaultMessageBytes = (4 << 20) - (64 << 10);
constexpr std::uint32_t kMinMessageBytes = 4 << 10;
constexpr std::size_t kMinPlaceBytes = 16;
constexpr std::size_t kMaxPlaceBytes = 64;

absl::StatusOr<std::uint32_t> PartBytes(std::uint32_t requested) {
  if (requested == 0) return kDefaultMessageBytes;
  if (requested >= kMinMessageBytes) return requested;
  return base::WithField(absl::InvalidArgumentError(absl::StrCat("max_message_bytes ", requested,
                                                                 " is below the minimum, ", kMinMessageBytes)),
                         "max_message_bytes");
}

absl::StatusOr<SequenceRange> RangeOf(const v1::StreamBatchesRequest& request, bool skip_corrupt) {
  SequenceRange range{.rank = request.rank(),
                      .world = wire::WorldOf(request),
                      .start_epoch = request.start_epoch(),
                      .start_step = request.start_step(),
                      .epochs = request.epochs(),
                      .skip_corrupt = skip_corrupt};
  ABSL_RETURN_IF_ERROR(CheckRank(range));
  ABSL_RETURN_IF_ERROR(batching::CheckWorld(range.world));
  return range;
}

absl::StatusOr<std::string> PlaceOf(const v1::StreamBatchesRequest& request) {
  const std::string& place = request.place();
  if (place.empty() || (place.size() >= kMinPlaceBytes && place.size() <= kMaxPlaceBytes)) return place;
  return base::WithField(
      absl::InvalidArgumentError(absl::StrCat("place has ", place.size(), " characters, ", kMinPlaceBytes,
                                              " to ", kMaxPlaceBytes, " are taken; or leave it empty")),
      "place");
}

}  // namespace

absl::StatusOr<StreamRequest> StreamRequest::Create(const v1::StreamBatchesRequest& request) {
  StreamRequest checked;
  ABSL_ASSIGN_OR_RETURN(checked.max_part_bytes, PartBytes(request.max_message_bytes()));
  ABSL_ASSIGN_OR_RETURN(const bool skip_corrupt, wire::SkipsCorrupt(request));
  ABSL_ASSIGN_OR_RETURN(checked.spec, RequestedSpec::Create(request.dataset(), request.spec()));
  ABSL_ASSIGN_OR_RETURN(checked.range, RangeOf(request, skip_corrupt));
  ABSL_ASSIGN_OR_RETURN(checked.place, PlaceOf(request));
  checked.expected_fingerprint = request.expected_fingerprint();
  return checked;
}

}  // namespace packtrain::batches
