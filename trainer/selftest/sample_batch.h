// Batches for checks, as a client receives them.
#ifndef PACKTRAIN_TRAINER_SELFTEST_SAMPLE_BATCH_H_
#define PACKTRAIN_TRAINER_SELFTEST_SAMPLE_BATCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/wire/batch.h"
#include "trainer/data/device_feed.h"

namespace packtrain::trainer {

struct SampleBatch {
  std::vector<std::uint32_t> n_node = {};               // of each graph
  wire::Shape padding = {};                             // slots after the real ones
  std::optional<wire::DType> endpoints = std::nullopt;  // of stored edges; absent: all pairs, not sent
  std::uint32_t seed = 0;                               // of everything else
};

// Any values in all fields that a feed can bring, every fourth target missing. Stored edges: up to eight end in
// a node, from any nodes of the graph, also from itself and twice from the same. DATA_LOSS: not a batch that a
// client would take.
absl::StatusOr<wire::Batch> MakeBatch(const SampleBatch& sample);

// What brings such batches: all inputs, two of three targets, and a class for each atomic number.
FeedOptions SampleFeed();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_SAMPLE_BATCH_H_
