#include "server/node/replica_graph_store.h"

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"

namespace packtrain::node {

absl::Status WrittenAtPrimary(std::string_view primary) {
  return base::WithReason(absl::FailedPreconditionError(
                              absl::StrCat("this server is a replica (--replica-of) and takes no writes; ",
                                           "write to its primary, ", std::string(primary))),
                          "REPLICA", {{"primary", std::string(primary)}});
}

absl::Status ReplicaGraphStore::NotHere(const absl::Status& status) const {
  if (!absl::IsNotFound(status)) return status;
  return base::WithReason(absl::UnavailableError(absl::StrCat(
                              "this replica of ", primary_, " has not got it, or not yet: ", status.message())),
                          "NOT_REPLICATED", {{"primary", primary_}});
}

absl::StatusOr<std::unique_ptr<storage::DatasetWriter>> ReplicaGraphStore::NewDataset(const v1::Schema&) {
  return WrittenAtPrimary(primary_);
}

absl::StatusOr<std::shared_ptr<const storage::Dataset>> ReplicaGraphStore::Open(std::string_view reference) {
  auto dataset = store_.Open(reference);
  if (!dataset.ok()) return NotHere(dataset.status());
  return dataset;
}

absl::StatusOr<std::vector<v1::Dataset>> ReplicaGraphStore::Versions(std::string_view reference) const {
  auto versions = store_.Versions(reference);
  if (!versions.ok()) return NotHere(versions.status());
  return versions;
}

absl::Status ReplicaGraphStore::MakeCurrent(std::string_view) { return WrittenAtPrimary(primary_); }

absl::StatusOr<std::vector<v1::Dataset>> ReplicaGraphStore::Delete(std::string_view) {
  return WrittenAtPrimary(primary_);
}

}  // namespace packtrain::node
