#include "trainer/data/training_data.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

// However small they are: a tenth of a second of the shortest steps.
constexpr std::size_t kMostBatchesAhead = 256;

absl::StatusOr<std::int64_t> CountClasses(const client::DatasetInfo& dataset,
                                          std::optional<std::int64_t> wanted) {
  const auto present = static_cast<std::int64_t>(dataset.classes.size());
  if (!wanted.has_value() || *wanted >= present) return wanted.value_or(present);
  return absl::InvalidArgumentError(
      absl::StrCat("--classes ", *wanted, ": ", dataset.reference, " has ", present, " atom classes"));
}

// Fills in what follows from the data set's description.
absl::Status Choose(const TrainingDataRequest& request, TrainingData& data) {
  ABSL_ASSIGN_OR_RETURN(const std::string split, ResolveSplit(data.dataset, request.spec.split));
  data.spec.split = split;
  ABSL_ASSIGN_OR_RETURN(const Target target, ChooseTarget(data.dataset, split, request.target));
  data.target = target;
  ABSL_ASSIGN_OR_RETURN(const ClassTable table, MakeClassTable(data.dataset));
  data.class_table = table;
  ABSL_ASSIGN_OR_RETURN(const std::int64_t classes, CountClasses(data.dataset, request.classes));
  data.classes = classes;
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
  ABSL_ASSIGN_OR_RETURN(client::DatasetInfo dataset, client::GetDatasetInfo(*data.connection, request.dataset));
  data.dataset = std::move(dataset);
  ABSL_RETURN_IF_ERROR(Choose(request, data));
  ABSL_ASSIGN_OR_RETURN(client::PlanInfo plan, client::GetPlanInfo(*data.connection, data.dataset.reference,
                                                                   data.spec, /*epoch=*/0, data.world_size));
  data.plan = std::move(plan);
  return data;
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
                        .read_ahead = {.batches = kMostBatchesAhead, .bytes = data.read_ahead_mib << 20}});
}

}  // namespace packtrain::trainer
