// Data sets in memory, with reads that fail on demand.
#ifndef PACKTRAIN_TESTS_TESTING_FAKE_GRAPH_STORE_H_
#define PACKTRAIN_TESTS_TESTING_FAKE_GRAPH_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/mutex.h"
#include "server/storage/graph_store.h"

namespace packtrain::testing {

// Any number of threads may use it. Data sets and writers may outlive it.
class FakeGraphStore : public storage::GraphStore {
 public:
  FakeGraphStore();
  ~FakeGraphStore() override;

  absl::StatusOr<std::unique_ptr<storage::DatasetWriter>> NewDataset(const v1::Schema& schema) override;
  absl::StatusOr<std::shared_ptr<const storage::Dataset>> Open(std::string_view reference) override;
  absl::Status ListAfter(std::string_view after, DatasetSink sink) const override;
  absl::Status ListVersionsAfter(std::string_view after, DatasetSink sink) const override;
  absl::StatusOr<std::vector<v1::Dataset>> Versions(std::string_view reference) const override;
  absl::Status MakeCurrent(std::string_view reference) override;
  absl::StatusOr<std::vector<v1::Dataset>> Delete(std::string_view reference) override;
  absl::StatusOr<std::vector<std::string>> Deleted() const override;
  absl::Status Reclaim(std::string_view reference) override;
  std::uint64_t memory_bytes() const override;

  // The n-th ReadRecords from now, counted from 0 over all data sets, fails with `status`, once.
  void FailRead(std::uint64_t n, absl::Status status);
  // Every ReadRecords with one of these graphs, and every ScanRecords, fails with DATA_LOSS that names the
  // graph.
  void Damage(std::set<std::uint32_t> graphs);
  // Every ScanRecords from now on fails with `status`, until it is OK.
  void FailScans(absl::Status status);

  // What the store shares with its data sets and writers.
  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TESTING_FAKE_GRAPH_STORE_H_
