#include "client/cli/bench/pass_ledger.h"

#include "absl/strings/str_cat.h"

namespace packtrain::cli {

PassLedger::PassLedger(std::uint64_t graphs, std::optional<std::uint64_t> expected, std::uint32_t readers)
    : graphs_(graphs), expected_(expected), readers_(readers) {}

absl::Status PassLedger::Add(std::uint64_t epoch, std::span<const std::uint64_t> graphs) {
  base::MutexLock lock(mutex_);
  Pass& pass = open_[epoch];
  pass.seen.resize(graphs_);
  for (const std::uint64_t graph : graphs) {
    if (graph >= graphs_) {
      return absl::DataLossError(
          absl::StrCat("epoch ", epoch, " holds graph ", graph, " of a data set of ", graphs_, " graphs"));
    }
    if (pass.seen[graph])
      return absl::DataLossError(absl::StrCat("epoch ", epoch, " holds graph ", graph, " twice"));
    pass.seen[graph] = true;
  }
  pass.count += graphs.size();
  return absl::OkStatus();
}

absl::Status PassLedger::Leave(std::uint64_t epoch) {
  base::MutexLock lock(mutex_);
  Pass& pass = open_[epoch];
  if (++pass.left < readers_) return absl::OkStatus();
  const std::uint64_t count = pass.count;
  open_.erase(epoch);
  ++passes_;
  if (!expected_.has_value() || count == *expected_) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("epoch ", epoch, " held ", count, " graphs, its plan has ", *expected_));
}

std::uint64_t PassLedger::passes() const {
  base::MutexLock lock(mutex_);
  return passes_;
}

}  // namespace packtrain::cli
