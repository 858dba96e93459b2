// What a trainer asks of the server before it trains.
#ifndef PACKTRAIN_TRAINER_DATA_TRAINING_DATA_H_
#define PACKTRAIN_TRAINER_DATA_TRAINING_DATA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/batch_reader.h"
#include "client/connection.h"
#include "client/dataset_info.h"
#include "proto/wire/batch_spec.h"
#include "trainer/data/chosen_inputs.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/read_ahead.h"
#include "trainer/data/stream_start.h"

namespace packtrain::trainer {

struct TrainingDataRequest {
  std::string dataset;  // NAME or NAME@VERSION
  wire::BatchSpec spec;
  InputRequest inputs;  // of the model and its task
  std::uint64_t read_ahead_mib = kReadAheadMib;
  client::OnCorrupt on_corrupt = client::OnCorrupt::kStop;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
};

// Immutable once loaded.
struct TrainingData {
  std::shared_ptr<client::Connection> connection;
  client::DatasetInfo dataset;
  wire::BatchSpec spec;   // its split filled in
  client::PlanInfo plan;  // of epoch 0
  std::size_t need = 0;   // which of the request's needs are met
  FeedOptions feed;
  std::uint64_t read_ahead_mib = kReadAheadMib;
  client::OnCorrupt on_corrupt = client::OnCorrupt::kStop;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::string place;  // at random, of all streams of this rank
};

// Codes as ChooseInputs and ResolveSplit.
absl::StatusOr<TrainingData> LoadTrainingData(std::shared_ptr<client::Connection> connection,
                                              const TrainingDataRequest& request);

// Whether any graph of `split` has a label.
bool HasLabels(const TrainingData& data, const client::SplitInfo& split);

// This rank's batches of `spec` from `start` on; `epochs` 0: without end. An empty `fingerprint` takes whatever
// plan the server makes.
absl::StatusOr<std::unique_ptr<client::BatchReader>> OpenBatches(const TrainingData& data,
                                                                 const wire::BatchSpec& spec,
                                                                 const std::string& fingerprint,
                                                                 std::uint64_t epochs, StreamStart start);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_TRAINING_DATA_H_
