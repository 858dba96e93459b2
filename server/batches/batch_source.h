// What a request wants batched: a data set, a split of it, and a spec.
#ifndef PACKTRAIN_SERVER_BATCHES_BATCH_SOURCE_H_
#define PACKTRAIN_SERVER_BATCHES_BATCH_SOURCE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/wire/batch_spec.h"
#include "server/storage/graph_store.h"

namespace packtrain::batches {

// Every default filled in. Equal fingerprints mean equal batches at every position.
struct BatchSource {
  std::shared_ptr<const storage::Dataset> dataset;
  std::string split;
  wire::BatchSpec spec;
  std::string fingerprint;

  // NAME@VERSION.
  std::string reference() const;
};

// Opens the data set, which may read from disk. NOT_FOUND: no such data set or split. INVALID_ARGUMENT: the
// spec holds an unknown value.
absl::StatusOr<BatchSource> ResolveBatchSource(storage::GraphStore& store, std::string_view dataset,
                                               const v1::BatchSpec& spec);

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_BATCH_SOURCE_H_
