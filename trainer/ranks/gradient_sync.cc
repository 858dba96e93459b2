#include "trainer/ranks/gradient_sync.h"

#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "trainer/ranks/gloo_sync.h"
#include "trainer/ranks/meeting.h"

namespace packtrain::trainer {
namespace {

class AloneSync final : public GradientSync {
 public:
  explicit AloneSync(World world) : world_(std::move(world)) {}

  const World& world() const override { return world_; }
  absl::Status JoinDevices(const CommunicatorMaker*) override { return absl::OkStatus(); }
  absl::Status device_sums() const override { return absl::OkStatus(); }
  absl::Status Sum(at::Tensor) override { return absl::OkStatus(); }
  absl::Status SumOnDevice(at::Tensor) override { return absl::OkStatus(); }
  absl::Status Barrier() override { return absl::OkStatus(); }
  absl::Status CheckRanks() const override { return absl::OkStatus(); }
  void Leave(const absl::Status&) override {}

 private:
  const World world_;
};

double SecondsOf(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

absl::StatusOr<std::unique_ptr<GradientSync>> GradientSync::Connect(const World& world,
                                                                    const SyncOptions& options) {
  if (world.size == 1) return std::make_unique<AloneSync>(world);
  const auto begin = std::chrono::steady_clock::now();
  MeetResult sync = MeetInTime(begin + options.meet_timeout, options.stop, [world, options](Meeting& meeting) {
    return ConnectGloo(world, options, meeting);
  });
  if (sync.ok()) return sync;
  const double seconds = SecondsOf(std::chrono::steady_clock::now() - begin);
  return absl::Status(
      sync.status().code(),
      absl::StrFormat("rank %d of %d did not meet the others at %s:%d: %s; after %.1f s (--meet-timeout %g s)",
                      world.rank, world.size, world.master_address, world.master_port, sync.status().message(),
                      seconds, SecondsOf(options.meet_timeout)));
}

// As a sum in which each rank's part is zero on all others.
absl::StatusOr<std::vector<std::string>> GradientSync::Gather(const std::string& bytes) {
  const at::Tensor sizes = at::zeros({world().size}, at::kLong);
  sizes[world().rank].fill_(static_cast<std::int64_t>(bytes.size()));
  ABSL_RETURN_IF_ERROR(Sum(sizes));
  const at::Tensor all = at::zeros({sizes.sum().item<std::int64_t>()}, at::kByte);
  const std::int64_t offset = sizes.narrow(0, 0, world().rank).sum().item<std::int64_t>();
  std::copy(bytes.begin(), bytes.end(), all.mutable_data_ptr<std::uint8_t>() + offset);
  if (all.numel() > 0) {
    ABSL_RETURN_IF_ERROR(Sum(all));
  }
  std::vector<std::string> parts;
  const auto* part = reinterpret_cast<const char*>(all.const_data_ptr<std::uint8_t>());
  for (std::uint32_t rank = 0; rank < world().size; ++rank) {
    parts.emplace_back(part, sizes[rank].item<std::int64_t>());
    part += parts.back().size();
  }
  return parts;
}

absl::StatusOr<std::string> GradientSync::Share(const std::string& value) {
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> values, Gather(world().rank == 0 ? value : ""));
  return std::move(values.front());
}

absl::Status GradientSync::AllSucceed(const absl::Status& outcome) {
  const std::string reason = outcome.ok() ? "" : absl::StrCat("failed: ", outcome.message());
  const absl::StatusOr<std::vector<std::string>> reasons = Gather(reason);
  if (!outcome.ok() || !reasons.ok()) return outcome.ok() ? reasons.status() : outcome;
  std::vector<std::string> causes;
  for (std::size_t rank = 0; rank < reasons->size(); ++rank) {
    if (!(*reasons)[rank].empty()) causes.push_back(absl::StrCat("rank ", rank, " ", (*reasons)[rank]));
  }
  return causes.empty() ? absl::OkStatus() : absl::AbortedError(absl::StrJoin(causes, "; "));
}

absl::Status GradientSync::Agree(const std::string& name, const std::string& value) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> values, Gather(value));
  for (std::size_t rank = 1; rank < values.size(); ++rank) {
    if (values[rank] == values.front()) continue;
    return absl::FailedPreconditionError(absl::StrCat("the ranks differ in ", name, ": rank 0 has '",
                                                      values.front(), "', rank ", rank, " has '", values[rank],
                                                      "'"));
  }
  return absl::OkStatus();
}

}  // namespace packtrain::trainer
