#include "client/internal/reachability.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace packtrain::client {
namespace {

constexpr std::uint64_t kLoss = 2;

}  // namespace

Reachability::View::~View() {
  if (failures_ >= kLoss) server_.Back(/*tell=*/false);
}

void Reachability::View::Failed(const absl::Status& cause) {
  if (++failures_ == kLoss) server_.Lost(cause);
}

void Reachability::View::Answered() {
  if (failures_ >= kLoss) server_.Back(/*tell=*/true);
  failures_ = 0;
}

void Reachability::Lost(const absl::Status& cause) {
  base::MutexLock lock(mutex_);
  if (lost_++ > 0 || !options_.on_notice) return;
  options_.on_notice(absl::StrCat("the server at ", options_.server, " cannot be reached (", cause.message(),
                                  "); trying for ", static_cast<double>(options_.give_up.count()) / 1000,
                                  " s"));
}

void Reachability::Back(bool tell) {
  base::MutexLock lock(mutex_);
  if (--lost_ > 0 || !tell || !options_.on_notice) return;
  options_.on_notice(absl::StrCat("the server at ", options_.server, " is back"));
}

}  // namespace packtrain::client
