#include "trainer/ranks/roll_call.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;

std::string LeaveKey(std::uint32_t rank) { return absl::StrCat("left/", rank); }

}  // namespace

absl::Status RankIsGone(std::uint32_t rank) {
  return absl::AbortedError(absl::StrCat("rank ", rank, " is gone or does not answer"));
}

RollCall::RollCall(c10::intrusive_ptr<c10d::Store> store, World world, std::chrono::milliseconds patience)
    : store_(std::move(store)), world_(std::move(world)), patience_(patience) {}

absl::Status RollCall::Leave(const std::string& word) {
  try {
    if (!HasLeft(world_.rank)) store_->set(LeaveKey(world_.rank), word);
    return absl::OkStatus();
  } catch (const std::exception&) {
    return RankIsGone(0);
  }
}

bool RollCall::HasLeft(std::uint32_t rank) const { return store_->check({LeaveKey(rank)}); }

absl::Status RollCall::Call() {
  std::vector<std::string> causes;
  const Clock::time_point deadline = Clock::now() + patience_;
  try {
    for (std::uint32_t rank = 0; rank < world_.size; ++rank) {
      if (rank == world_.rank) continue;
      if (!Awaits(rank, deadline)) {
        causes.emplace_back(RankIsGone(rank).message());
      } else if (const std::string word = store_->get_to_str(LeaveKey(rank)); !word.empty()) {
        causes.push_back(absl::StrCat("rank ", rank, " failed: ", word));
      }
    }
  } catch (const std::exception&) {
    return RankIsGone(0);
  }
  return causes.empty() ? absl::OkStatus() : absl::AbortedError(absl::StrJoin(causes, "; "));
}

absl::Status RollCall::Diagnose(const std::string& failure) {
  absl::Status cause = Leave("");
  if (cause.ok()) cause = Call();
  return cause.ok() ? absl::AbortedError(absl::StrCat("the ranks lost each other: ", failure)) : cause;
}

bool RollCall::Awaits(std::uint32_t rank, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  try {
    // Zero would be no limit.
    store_->wait({LeaveKey(rank)}, std::max(left, std::chrono::milliseconds(1)));
    return true;
  } catch (const c10::DistStoreError&) {
    return false;
  }
}

}  // namespace packtrain::trainer
