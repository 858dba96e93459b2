// A small data set in memory for tests of what stands between plan and stream.
#ifndef PACKTRAIN_TESTS_SERVER_BATCHES_SCENARIO_H_
#define PACKTRAIN_TESTS_SERVER_BATCHES_SCENARIO_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "packtrain/v1/batch.pb.h"
#include "server/batches/batch_builder.h"
#include "server/batches/batch_sequence.h"
#include "server/batches/resolved_spec.h"
#include "server/limits/memory_budget.h"
#include "tests/testing/fake_graph_store.h"

namespace packtrain::testing {

inline constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30;

// Data sets in a fake store: `molecules`, `count` graphs of 1 to 5 nodes over and over, and `chains`, as many
// of 1 to 11 nodes, which are renumbered.
class Scenario {
 public:
  explicit Scenario(std::uint32_t count);

  FakeGraphStore& store() { return store_; }
  const std::shared_ptr<limits::MemoryBudget>& memory() const { return memory_; }
  batches::BodyMemory body_memory() const { return {memory_, bodies_}; }

  // Of the molecules: `graphs` a batch in the order of the data set.
  batches::ResolvedSpec Resolved(std::uint32_t graphs);
  // Of the chains where the spec is of supergraphs, else of the molecules.
  batches::ResolvedSpec Resolved(const v1::BatchSpec& spec);
  batches::BatchBuilder Builder(std::uint64_t max_batch_bytes = kPlenty);

 private:
  FakeGraphStore store_;
  std::shared_ptr<limits::MemoryBudget> memory_ = limits::MemoryBudget::Undivided(std::uint64_t{1} << 40);
  std::shared_ptr<wire::BodyPool> bodies_ = wire::BodyPool::Create(kPlenty);
};

std::string BodyOf(const batches::BuiltBatch& batch);

// Steps to the next batch and builds it; nullopt after the last.
absl::StatusOr<std::optional<batches::BuiltBatch>> NextBuilt(batches::BatchSequence& sequence);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_SERVER_BATCHES_SCENARIO_H_
