// Which graphs have come in each pass over a data set.
#ifndef PACKTRAIN_CLIENT_CLI_BENCH_PASS_LEDGER_H_
#define PACKTRAIN_CLIENT_CLI_BENCH_PASS_LEDGER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/mutex.h"

namespace packtrain::cli {

// Any number of threads may use it.
class PassLedger {
 public:
  // Passes are read by `readers` together, over a data set of `graphs`; a complete one holds `expected` of them
  // where that is known.
  PassLedger(std::uint64_t graphs, std::optional<std::uint64_t> expected, std::uint32_t readers);

  // One reader received a batch of these graphs in pass `epoch`. DATA_LOSS: a graph that came before in this
  // pass, or that the data set does not have.
  absl::Status Add(std::uint64_t epoch, std::span<const std::uint64_t> graphs);

  // One reader has received all its batches of pass `epoch`. DATA_LOSS: it was the last of the readers, and the
  // pass held another number of graphs than expected.
  absl::Status Leave(std::uint64_t epoch);

  // Passes that all readers have left.
  std::uint64_t passes() const;

 private:
  struct Pass {
    std::vector<bool> seen;
    std::uint64_t count = 0;
    std::uint32_t left = 0;  // readers
  };

  const std::uint64_t graphs_;
  const std::optional<std::uint64_t> expected_;
  const std::uint32_t readers_;

  mutable base::Mutex mutex_;
  std::map<std::uint64_t, Pass> open_ ABSL_GUARDED_BY(mutex_);  // by epoch
  std::uint64_t passes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_BENCH_PASS_LEDGER_H_
