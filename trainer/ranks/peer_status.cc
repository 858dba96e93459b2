#include "trainer/ranks/peer_status.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trainer/ranks/rank_errors.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;

std::string LeaveKey(std::uint32_t rank) { return absl::StrCat("left/", rank); }

}  // namespace

PeerStatus::PeerStatus(c10::intrusive_ptr<c10d::Store> store, World world, std::chrono::milliseconds timeout)
    : store_(std::move(store)), world_(std::move(world)), timeout_(timeout) {}

absl::Status PeerStatus::Leave(const std::string& reason) {
  try {
    if (!HasLeft(world_.rank)) store_->set(LeaveKey(world_.rank), reason);
    return absl::OkStatus();
  } catch (const std::exception&) {
    return RankIsGone(0);
  }
}

bool PeerStatus::HasLeft(std::uint32_t rank) const { return store_->check({LeaveKey(rank)}); }

absl::Status PeerStatus::AwaitOthers() {
  std::vector<std::string> causes;
  const Clock::time_point deadline = Clock::now() + timeout_;
  try {
    for (std::uint32_t rank = 0; rank < world_.size; ++rank) {
      if (rank == world_.rank) continue;
      if (!LeavesBy(rank, deadline)) {
        causes.emplace_back(RankIsGone(rank).message());
      } else if (const std::string reason = store_->get_to_str(LeaveKey(rank)); !reason.empty()) {
        causes.push_back(absl::StrCat("rank ", rank, " failed: ", reason));
      }
    }
  } catch (const std::exception&) {
    return RankIsGone(0);
  }
  return causes.empty() ? absl::OkStatus() : absl::AbortedError(absl::StrJoin(causes, "; "));
}

absl::Status PeerStatus::Diagnose(const std::string& failure) {
  absl::Status cause = Leave("");
  if (cause.ok()) cause = AwaitOthers();
  return cause.ok() ? absl::AbortedError(absl::StrCat("the ranks lost each other: ", failure)) : cause;
}

bool PeerStatus::LeavesBy(std::uint32_t rank, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  try {
    // The store takes a timeout of zero for none.
    store_->wait({LeaveKey(rank)}, std::max(left, std::chrono::milliseconds(1)));
    return true;
  } catch (const c10::DistStoreError&) {
    return false;
  }
}

}  // namespace packtrain::trainer
