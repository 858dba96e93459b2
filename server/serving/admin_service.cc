#include "server/serving/admin_service.h"

#include <optional>
#include <string>
#include <utility>

#include "proto/base/error_details.h"
#include "proto/base/status_convert.h"

namespace packtrain::serving {
namespace {

// One is enough to keep a disk busy.
constexpr std::size_t kMaxChecks = 1;

}  // namespace

AdminService::AdminService(StoreCheck fsck, IdleWatch& idle)
    : fsck_(std::move(fsck)), idle_(idle), checks_(kMaxChecks) {}

grpc::Status AdminService::Fsck(grpc::ServerContext* context, const v1::FsckRequest*,
                                grpc::ServerWriter<v1::FsckResponse>* writer) {
  if (!fsck_) return base::ToGrpcStatus(absl::UnimplementedError("this server has no stores of its own"));
  const std::optional<limits::Slots::Slot> slot = checks_.Take();
  if (!slot.has_value()) {
    return base::ToGrpcStatus(
        base::WithReason(absl::ResourceExhaustedError("another check is under way; wait for its end"),
                         "CHECK_LIMIT", {{"limit", std::to_string(kMaxChecks)}}));
  }
  IdleWatch::Call unread(idle_, [context] { context->TryCancel(); });
  const auto send = [&](const v1::FsckResponse& event) {
    unread.BeginWait();
    const bool written = writer->Write(event);
    unread.EndWait();
    if (!written) return absl::CancelledError("the client went away");
    if (!draining_) return absl::OkStatus();
    return base::WithReason(absl::UnavailableError("the server is shutting down; check again later"),
                            "SHUTTING_DOWN");
  };
  rocks::CheckReport report(send);
  absl::Status status = fsck_(report);
  if (status.ok()) {
    v1::FsckResponse last;
    *last.mutable_summary() = report.summary();
    status = send(last);
  }
  return base::ToGrpcStatus(status);
}

}  // namespace packtrain::serving
