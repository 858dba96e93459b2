// What a data set brings of a model's inputs, and in which sizes.
#ifndef PACKTRAIN_TRAINER_DATA_CHOSEN_INPUTS_H_
#define PACKTRAIN_TRAINER_DATA_CHOSEN_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/dataset_info.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/graph_inputs.h"

namespace packtrain::trainer {

struct InputRequest {
  std::vector<InputNeeds> needs;             // at least one; the first that the data set meets is chosen
  std::string targets = {};                  // "A,B,.."; empty: the first one
  std::optional<std::int64_t> classes = {};  // rows of the embedding; absent: as many as the data set has
  std::optional<std::int64_t> edge_types =
      {};  // InputSizes::edge_types; absent: twice as many as the data set has
};

struct ChosenInputs {
  std::size_t need = 0;  // index of InputRequest::needs
  FeedOptions feed;
};

// A feed and the data set that it was chosen for.
struct TrainedFeed {
  client::DatasetInfo dataset;
  FeedOptions feed;
};

// For a training on `split`. INVALID_ARGUMENT: fewer classes or edge types asked for than the data set has,
// none where it does not say how many it has, or a target where nothing that is chosen reads one.
// FAILED_PRECONDITION: the data set lacks an input of each of the needs, has tokens without words, or does not
// know the degrees of its nodes. Other codes as ChooseTargets.
absl::StatusOr<ChosenInputs> ChooseInputs(const client::DatasetInfo& dataset, const std::string& split,
                                          const InputRequest& request);

// What brings a model that was trained with the feed `trained` its inputs, without labels, of batches of
// another data set, or the same. `needs` are the model's; of the optional ones those that the data set has.
// Classes are those of the training. FAILED_PRECONDITION: the data set lacks a field, has it in another width
// or with other words, or has atoms that the training's had not.
absl::StatusOr<FeedOptions> FeedForOthers(const client::DatasetInfo& dataset, const InputNeeds& needs,
                                          const TrainedFeed& trained);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_CHOSEN_INPUTS_H_
