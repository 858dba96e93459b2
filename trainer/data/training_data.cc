#include "trainer/data/training_data.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/random_hex.h"
#include "proto/base/status_macros.h"
#include "trainer/data/target.h"

namespace packtrain::trainer {
namespace {

// However small the batches are: these last for a tenth of a second of the shortest steps.
constexpr std::size_t kMaxBatchesAhead = 256;

// Fills in what follows from the data set's description.
absl::Status Choose(const TrainingDataRequest& request, TrainingData& data) {
  ABSL_ASSIGN_OR_RETURN(data.spec.split, ResolveSplit(data.dataset, request.spec.split));
  ABSL_ASSIGN_OR_RETURN(ChosenInputs chosen, ChooseInputs(data.dataset, data.spec.split, request.inputs));
  data.need = chosen.need;
  data.feed = std::move(chosen.feed);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainingData> LoadTrainingData(std::shared_ptr<client::Connection> connection,
                                              const TrainingDataRequest& request) {
  TrainingData data;
  data.connection = std::move(connection);
  data.spec = request.spec;
  data.read_ahead_mib = request.read_ahead_mib;
  data.on_corrupt = request.on_corrupt;
  data.rank = request.rank;
  data.world_size = request.world_size;
  data.place = base::RandomHex();
  ABSL_ASSIGN_OR_RETURN(data.dataset, client::GetDatasetInfo(*data.connection, request.dataset));
  ABSL_RETURN_IF_ERROR(Choose(request, data));
  ABSL_ASSIGN_OR_RETURN(data.plan, client::GetPlanInfo(*data.connection, data.dataset.reference, data.spec,
                                                       /*epoch=*/0, data.world_size));
  return data;
}

bool HasLabels(const TrainingData& data, const client::SplitInfo& split) {
  if (!data.feed.layout.inputs.Has(Input::kTargets)) return split.graphs > 0;
  return split.graphs > 0 && std::ranges::any_of(data.feed.targets, [&](const Target& target) {
           return split.targets.at(target.column).count > 0;
         });
}

absl::StatusOr<std::unique_ptr<client::BatchReader>> OpenBatches(const TrainingData& data,
                                                                 const wire::BatchSpec& spec,
                                                                 const std::string& fingerprint,
                                                                 std::uint64_t epochs, StreamStart start) {
  return client::BatchReader::Open(
      data.connection, {.dataset = data.dataset.reference,
                        .spec = spec,
                        .rank = data.rank,
                        .world_size = data.world_size,
                        .start_epoch = start.epoch,
                        .start_step = start.step,
                        .segments = std::move(start.segments),
                        .epochs = epochs,
                        .expected_fingerprint = fingerprint,
                        .on_corrupt = data.on_corrupt,
                        .place = data.place,
                        .read_ahead = {.batches = kMaxBatchesAhead, .bytes = data.read_ahead_mib << 20}});
}

}  // namespace packtrain::trainer
