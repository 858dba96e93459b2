// From stored blocks of steps, which may overlap, to steps in order.
#ifndef PACKTRAIN_SERVER_RUNS_BLOCK_MERGER_H_
#define PACKTRAIN_SERVER_RUNS_BLOCK_MERGER_H_

#include <vector>

#include "absl/status/status.h"
#include "proto/wire/step_columns.h"
#include "server/runs/run_store.h"

namespace packtrain::runs {

// Puts blocks of one reporter that overlap in steps together, so that steps ascend over all blocks. Used by
// one thread.
class BlockMerger {
 public:
  // `sink` is borrowed for the life of the object.
  explicit BlockMerger(RunStore::StepSink sink) : sink_(sink) {}

  // Blocks come by reporter, and of one reporter in order of their first steps; `steps` is not empty.
  absl::Status Add(Reporter reporter, std::vector<wire::StepRecord> steps);
  // Gives out what Add still holds; the last call.
  absl::Status Flush();

 private:
  void Merge(const std::vector<wire::StepRecord>& steps);

  const RunStore::StepSink sink_;
  Reporter reporter_;
  std::vector<wire::StepRecord> pending_;
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_BLOCK_MERGER_H_
