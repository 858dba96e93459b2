// Which batches a request wants: a data set, a split of it, and a spec; before and after the data set is
// opened.
#ifndef PACKTRAIN_SERVER_BATCHES_RESOLVED_SPEC_H_
#define PACKTRAIN_SERVER_BATCHES_RESOLVED_SPEC_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/wire/batch_spec.h"
#include "server/storage/graph_store.h"

namespace packtrain::batches {

// What the request says. Whether there is such a data set or split is not known yet.
struct RequestedSpec {
  // INVALID_ARGUMENT: the data set's name or the policy is missing, or the spec holds an unknown or
  // contradictory value.
  static absl::StatusOr<RequestedSpec> Create(std::string_view dataset, const v1::BatchSpec& spec);

  std::string dataset;  // NAME or NAME@VERSION
  std::string split;    // empty: the data set's default
  wire::BatchSpec spec;
};

// Every default filled in. Equal fingerprints mean equal batches at every position.
struct ResolvedSpec {
  std::shared_ptr<const storage::Dataset> dataset;
  std::string split;
  wire::BatchSpec spec;
  std::string fingerprint;

  // NAME@VERSION.
  std::string reference() const;
};

// Opens the data set, which may read from disk. NOT_FOUND: there is no such data set or split.
absl::StatusOr<ResolvedSpec> Resolve(storage::GraphStore& store, const RequestedSpec& requested);

// Both at once: codes as RequestedSpec::Create and Resolve.
absl::StatusOr<ResolvedSpec> ResolveSpec(storage::GraphStore& store, std::string_view dataset,
                                         const v1::BatchSpec& spec);

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_RESOLVED_SPEC_H_
