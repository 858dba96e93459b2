#include "server/serving/admin_service.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "proto/base/error_details.h"
#include "proto/base/status_convert.h"
#include "server/serving/bounded_writer.h"

namespace packtrain::serving {
namespace {

// One is enough to keep a disk busy.
constexpr std::size_t kMaxChecks = 1;

}  // namespace

AdminService::AdminService(CallBounds& bounds, Check fsck, IdleWatch& idle)
    : PackedService(bounds), fsck_(std::move(fsck)), idle_(idle), checks_(kMaxChecks) {
  Bound(&AdminService::StreamCheck, {.part = limits::MemoryPart::kListings});
}

grpc::Status AdminService::StreamCheck(grpc::ServerContext* context, const v1::FsckRequest&,
                                       PackedWriter<v1::FsckResponse>& writer, Memory&) {
  if (!fsck_) return base::ToGrpcStatus(absl::UnimplementedError("this server has no stores of its own"));
  const std::optional<limits::Slots::Slot> slot = checks_.Take();
  if (!slot.has_value()) {
    return base::ToGrpcStatus(
        base::WithRetryDelay(base::WithReason(absl::ResourceExhaustedError("another check is under way"),
                                              "CHECK_LIMIT", {{"limit", std::to_string(kMaxChecks)}}),
                             std::chrono::seconds(30)));
  }
  BoundedWriter<v1::FsckResponse> out(*context, writer, idle_, [this] {
    if (!draining_) return absl::OkStatus();
    return base::WithReason(absl::UnavailableError("the server is shutting down; check again later"),
                            "SHUTTING_DOWN");
  });
  const auto write = [&out](const v1::FsckResponse& event) { return out.Write(event); };
  rocks::CheckReport report(write);
  absl::Status status = fsck_(report);
  if (status.ok()) {
    v1::FsckResponse last;
    *last.mutable_summary() = report.summary();
    status = out.Write(last);
  }
  return base::ToGrpcStatus(status);
}

}  // namespace packtrain::serving
