#include "trainer/data/training_data.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/random_hex.h"
#include "proto/base/status_macros.h"
#include "trainer/data/input_fields.h"
#include "trainer/data/target.h"

namespace packtrain::trainer {
namespace {

// However small the batches are: these last for a tenth of a second of the shortest steps.
constexpr std::size_t kMaxBatchesAhead = 256;

absl::StatusOr<std::int64_t> CountClasses(const client::DatasetInfo& dataset,
                                          std::optional<std::int64_t> wanted) {
  const auto present = static_cast<std::int64_t>(dataset.classes.size());
  if (!wanted.has_value() || *wanted >= present) return wanted.value_or(present);
  return absl::InvalidArgumentError(
      absl::StrCat("--classes ", *wanted, ": ", dataset.reference, " has ", present, " atom classes"));
}

// The values that a row of field `name` has.
absl::StatusOr<std::int64_t> WidthOf(const client::DatasetInfo& dataset, std::string_view name) {
  if (const client::FieldInfo* field = dataset.FindField(name)) return static_cast<std::int64_t>(field->width);
  return absl::FailedPreconditionError(
      absl::StrCat(dataset.reference, " has no field '", std::string(name), "', which the model reads"));
}

// Of the inputs in `feed`.
absl::Status ChooseSizes(const client::DatasetInfo& dataset, const TrainingDataRequest& request,
                         FeedOptions& feed) {
  InputSizes& sizes = feed.layout.sizes;
  for (const InputField& field : FieldsOf(feed.layout.inputs)) {
    ABSL_ASSIGN_OR_RETURN(const std::int64_t width, WidthOf(dataset, field.name));
    if (field.input == Input::kNodeFeatures) sizes.node_features = width;
    if (field.input == Input::kEdgeFeatures) sizes.edge_features = width;
  }
  if (!feed.layout.inputs.Has(Input::kAtomicNumbers)) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(feed.classes, MakeClassTable(dataset));
  ABSL_ASSIGN_OR_RETURN(sizes.classes, CountClasses(dataset, request.classes));
  return absl::OkStatus();
}

// Fills in what follows from the data set's description.
absl::Status Choose(const TrainingDataRequest& request, TrainingData& data) {
  ABSL_ASSIGN_OR_RETURN(data.spec.split, ResolveSplit(data.dataset, request.spec.split));
  data.feed.layout.inputs = request.inputs;
  if (request.inputs.Has(Input::kTarget)) {
    ABSL_ASSIGN_OR_RETURN(data.feed.target, ChooseTarget(data.dataset, data.spec.split, request.target));
  }
  return ChooseSizes(data.dataset, request, data.feed);
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
  if (!data.feed.layout.inputs.Has(Input::kTarget)) return split.graphs > 0;
  return split.graphs > 0 && split.targets.at(data.feed.target.column).count > 0;
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
