// A data set that can be made slow to plan.
#ifndef PACKTRAIN_TESTS_SERVER_BATCHES_HELD_DATASET_H_
#define PACKTRAIN_TESTS_SERVER_BATCHES_HELD_DATASET_H_

#include <atomic>
#include <cstdint>
#include <latch>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/graph_store.h"

namespace packtrain::testing {

// Another data set. Planning asks for its split: `free` times that is told at once, then not before Release.
class HeldDataset final : public storage::Dataset {
 public:
  HeldDataset(std::shared_ptr<const storage::Dataset> dataset, int free)
      : dataset_(std::move(dataset)), free_(free) {}

  const v1::Dataset& description() const override { return dataset_->description(); }
  std::span<const std::uint32_t> n_node() const override { return dataset_->n_node(); }
  std::span<const std::uint32_t> n_edge() const override { return dataset_->n_edge(); }
  absl::StatusOr<std::span<const std::uint32_t>> Split(std::string_view name) const override {
    if (free_-- <= 0) Hold();
    return dataset_->Split(name);
  }
  absl::Status ReadRecords(std::span<const std::uint32_t> graphs, RecordSink sink) const override {
    return dataset_->ReadRecords(graphs, sink);
  }
  absl::Status ScanRecords(RecordSink sink) const override { return dataset_->ScanRecords(sink); }

  // Waits for the call that is held; there is one at most.
  void AwaitAsked() const { asked_.wait(); }
  void Release() const { released_.count_down(); }

 private:
  void Hold() const {
    asked_.count_down();
    released_.wait();
  }

  const std::shared_ptr<const storage::Dataset> dataset_;
  mutable std::atomic<int> free_;
  mutable std::latch asked_{1};
  mutable std::latch released_{1};
};

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_SERVER_BATCHES_HELD_DATASET_H_
