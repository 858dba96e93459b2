// The graphs of a server that copies those of another one.
#ifndef PACKTRAIN_SERVER_NODE_REPLICA_GRAPH_STORE_H_
#define PACKTRAIN_SERVER_NODE_REPLICA_GRAPH_STORE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/storage/graph_store.h"

namespace packtrain::node {

// The answer to a write at a replica: FAILED_PRECONDITION, which names the primary.
absl::Status WrittenAtPrimary(std::string_view primary);

// Reads `store`, and refuses to write to it. A data set that it does not have is UNAVAILABLE, as it may be on
// its way: clients ask again, here or at another server. Any number of threads may use it.
class ReplicaGraphStore final : public storage::GraphStore {
 public:
  // `store` is borrowed.
  ReplicaGraphStore(storage::GraphStore& store, std::string primary)
      : store_(store), primary_(std::move(primary)) {}

  absl::StatusOr<std::unique_ptr<storage::DatasetWriter>> NewDataset(const v1::Schema& schema) override;
  absl::StatusOr<std::shared_ptr<const storage::Dataset>> Open(std::string_view reference) override;
  absl::Status ListAfter(std::string_view after, DatasetSink sink) const override {
    return store_.ListAfter(after, sink);
  }
  absl::Status ListVersionsAfter(std::string_view after, DatasetSink sink) const override {
    return store_.ListVersionsAfter(after, sink);
  }
  absl::StatusOr<std::vector<v1::Dataset>> Versions(std::string_view reference) const override;
  absl::Status MakeCurrent(std::string_view reference) override;
  absl::StatusOr<std::vector<v1::Dataset>> Delete(std::string_view reference) override;
  absl::StatusOr<std::vector<std::string>> Deleted() const override { return store_.Deleted(); }
  absl::Status Reclaim(std::string_view reference) override { return store_.Reclaim(reference); }
  std::vector<v1::Dataset> Lost(std::string_view reference) const override { return store_.Lost(reference); }
  std::uint64_t memory_bytes() const override { return store_.memory_bytes(); }

 private:
  // Turns NOT_FOUND into UNAVAILABLE.
  absl::Status NotHere(const absl::Status& status) const;

  storage::GraphStore& store_;
  const std::string primary_;
};

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_REPLICA_GRAPH_STORE_H_
