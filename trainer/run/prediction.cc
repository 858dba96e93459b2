#include "trainer/run/prediction.h"

#include <torch/types.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/batch_reader.h"
#include "client/connection.h"
#include "client/dataset_info.h"
#include "proto/base/status_macros.h"
#include "proto/base/whole_file.h"
#include "trainer/data/chosen_inputs.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/input_fields.h"
#include "trainer/engine/device.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/engine/precision.h"
#include "trainer/models/model.h"
#include "trainer/ranks/rank_errors.h"
#include "trainer/run/evaluation.h"
#include "trainer/run/prediction_table.h"
#include "trainer/run/rank_checkpoints.h"

namespace packtrain::trainer {
namespace {

// Settings of the training that a checkpoint is of, by the names of their flags.
class TrainedSettings {
 public:
  explicit TrainedSettings(const Settings& settings) : settings_(settings) {}

  // Empty where there is no such setting.
  std::string Text(const std::string& flag) const {
    const auto found = std::ranges::find(settings_, flag, &Setting::name);
    return found == settings_.end() ? "" : found->value;
  }

  // Absent where it is no number above 0.
  std::optional<std::int64_t> Number(const std::string& flag) const {
    std::int64_t number = 0;
    return absl::SimpleAtoi(Text(flag), &number) && number > 0 ? std::optional(number) : std::nullopt;
  }

  // Without --adjacency, which is for batches with blocks and changes no prediction.
  ModelFlags Flags() const {
    return {.readout = IfAny(Text("--readout")),
            .filter = IfAny(Text("--filter")),
            .hidden = Number("--hidden"),
            .layers = Number("--layers"),
            .edge_types = Number("--edge-types")};
  }

 private:
  static std::optional<std::string> IfAny(std::string text) {
    return text.empty() ? std::nullopt : std::optional(std::move(text));
  }

  const Settings& settings_;
};

// A model as a checkpoint has it, and what brings its inputs.
struct LoadedModel {
  std::shared_ptr<Model> model;
  InputNeeds needs;  // without labels
  TrainedFeed trained;

  const std::vector<Target>& targets() const { return trained.feed.targets; }
};

absl::StatusOr<Checkpoint> ReadTrained(const std::string& folder) {
  ABSL_ASSIGN_OR_RETURN(std::optional<Checkpoint> checkpoint, ReadCheckpoint(CheckpointFolder::FileIn(folder)));
  if (checkpoint.has_value()) return *std::move(checkpoint);
  return absl::NotFoundError(absl::StrCat("no checkpoint in ", folder, " (--checkpoint)"));
}

// The inputs and targets of the training, as the description of its data set says.
absl::StatusOr<ChosenInputs> InputsOfTraining(const client::DatasetInfo& dataset,
                                              const TrainedSettings& settings,
                                              const std::vector<ModelForm>& forms) {
  InputRequest request{.needs = {},
                       .targets = settings.Text("--target"),
                       .classes = settings.Number("--classes"),
                       .edge_types = settings.Number("--edge-types")};
  for (const ModelForm& form : forms)
    request.needs.push_back({.required = form.AllInputs(), .optional = form.optional});
  return ChooseInputs(dataset, settings.Text("--split"), request);
}

absl::StatusOr<client::DatasetInfo> DatasetOfTraining(client::Connection& connection,
                                                      const TrainedSettings& settings) {
  absl::StatusOr<client::DatasetInfo> dataset = client::GetDatasetInfo(connection, settings.Text("--dataset"));
  if (dataset.ok()) return dataset;
  return absl::Status(dataset.status().code(),
                      absl::StrCat("the data set of the training, by which the model is normalised: ",
                                   dataset.status().message()));
}

absl::StatusOr<LoadedModel> LoadModel(const Checkpoint& checkpoint, client::Connection& connection,
                                      const Device& device) {
  const TrainedSettings settings(checkpoint.settings);
  const ModelFlags flags = settings.Flags();
  ABSL_ASSIGN_OR_RETURN(const ModelEntry entry, FindModel(settings.Text("--model")));
  ABSL_RETURN_IF_ERROR(CheckFlags(flags, entry));
  const std::vector<ModelForm> forms = FormsFor(flags, entry);
  ABSL_ASSIGN_OR_RETURN(client::DatasetInfo dataset, DatasetOfTraining(connection, settings));
  ABSL_ASSIGN_OR_RETURN(ChosenInputs chosen, InputsOfTraining(dataset, settings, forms));
  const ModelForm& form = forms[chosen.need];
  if (!form.task.labels.Has(Input::kTargets)) {
    return absl::FailedPreconditionError(
        "the model of the checkpoint chooses among nodes; predict writes targets");
  }
  LoadedModel loaded{
      .model = entry.create({.sizes = chosen.feed.layout.sizes,
                             .token_classes = chosen.feed.token_classes.of_token,
                             .readout = form.readout,
                             .filter = flags.filter ? std::string_view(*flags.filter) : std::string_view(),
                             .hidden = flags.hidden.value_or(0),
                             .layers = flags.layers.value_or(0),
                             .kernels = device.kernels()}),
      .needs = {.required = form.inputs, .optional = form.optional},
      .trained = {std::move(dataset), std::move(chosen.feed)}};
  loaded.model->to(device.torch_device());
  FlatParameters parameters(*loaded.model);
  ABSL_RETURN_IF_ERROR(RestoreParameters(checkpoint, parameters));
  return loaded;
}

// The columns of field `y` that hold `targets`; absent where the data set does not have one.
std::vector<std::optional<std::size_t>> ColumnsOf(const client::DatasetInfo& dataset,
                                                  const std::vector<Target>& targets) {
  const std::vector<client::TargetStatistics>& known = dataset.FindSplit("all")->targets;
  std::vector<std::optional<std::size_t>> columns;
  for (const Target& target : targets) {
    const auto found = std::ranges::find(known, target.name, &client::TargetStatistics::target);
    columns.push_back(found == known.end() ? std::nullopt : std::optional(std::size_t(found - known.begin())));
  }
  return columns;
}

// Used by one thread.
class Predicting {
 public:
  Predicting(const PredictionOptions& options, const std::stop_token& stop) : options_(options), stop_(stop) {}

  absl::StatusOr<PredictionResult> Run() {
    ABSL_ASSIGN_OR_RETURN(device_, OpenDevice(options_.device, /*local_rank=*/0));
    ABSL_RETURN_IF_ERROR(SetPrecision("f32", device_->torch_device()).status());
    ABSL_ASSIGN_OR_RETURN(const Checkpoint checkpoint, ReadTrained(options_.checkpoint));
    ABSL_ASSIGN_OR_RETURN(connection_, client::Connection::Open({.server = options_.server,
                                                                 .give_up = options_.give_up,
                                                                 .on_notice = options_.progress}));
    ABSL_ASSIGN_OR_RETURN(loaded_, LoadModel(checkpoint, *connection_, *device_));
    ABSL_RETURN_IF_ERROR(ChooseGraphs(TrainedSettings(checkpoint.settings)));
    Say(checkpoint);
    ABSL_ASSIGN_OR_RETURN(file_, base::WholeFile::Create(options_.output));
    ABSL_RETURN_IF_ERROR(WriteAll());
    const bool on_stdout = file_->IsStandardOutput();
    ABSL_RETURN_IF_ERROR(file_->Commit());
    return PredictionResult{.rows = rows_, .on_stdout = on_stdout};
  }

 private:
  // The batches to read, and the feed for them.
  absl::Status ChooseGraphs(const TrainedSettings& settings) {
    ABSL_ASSIGN_OR_RETURN(dataset_, client::GetDatasetInfo(*connection_, options_.dataset));
    ABSL_ASSIGN_OR_RETURN(const std::string split, ResolveSplit(dataset_, options_.split));
    ABSL_ASSIGN_OR_RETURN(feed_options_, FeedForOthers(dataset_, loaded_.needs, loaded_.trained));
    feed_ = device_->NewFeed(feed_options_);
    columns_ = ColumnsOf(dataset_, loaded_.targets());
    constexpr std::int64_t kGraphs = 64;
    wire::BatchSpec training;
    training.graphs = static_cast<std::uint32_t>(settings.Number("--graphs").value_or(kGraphs));
    spec_ = EvaluationSpec(training, /*plan=*/{}, split);
    return absl::OkStatus();
  }

  void Say(const Checkpoint& checkpoint) const {
    if (!options_.progress) return;
    options_.progress(absl::StrCat(TrainedSettings(checkpoint.settings).Text("--model"), " after ",
                                   checkpoint.position.steps, " steps predicts ", NamesOf(loaded_.targets()),
                                   " of split ", spec_.split, " of ", dataset_.reference));
  }

  absl::Status WriteAll() {
    std::vector<std::string> names;
    for (const Target& target : loaded_.targets()) names.push_back(target.name);
    ABSL_RETURN_IF_ERROR(file_->Write(PredictionHeader(names)));
    client::StreamRequest request;
    request.dataset = dataset_.reference;
    request.spec = spec_;
    request.epochs = 1;
    ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<client::BatchReader> batches,
                          client::BatchReader::Open(connection_, request));
    const std::stop_callback cancel(stop_, [&batches] { batches->Cancel(); });
    while (true) {
      ABSL_ASSIGN_OR_RETURN(const std::optional<wire::Batch> batch, batches->Next());
      if (!batch.has_value()) return absl::OkStatus();
      if (batch->header().empty) continue;
      ABSL_RETURN_IF_ERROR(WriteBatch(*batch));
    }
  }

  absl::Status WriteBatch(const wire::Batch& batch) {
    ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                          client::GetSourceIds(*connection_, dataset_.reference, spec_, batch.header().index));
    const std::size_t graphs = batch.header().real.graphs, targets = columns_.size();
    if (ids.size() != graphs) {
      return absl::DataLossError(absl::StrCat("batch ", batch.header().index, " of ", dataset_.reference,
                                              " has ", graphs, " graphs and ", ids.size(), " source ids"));
    }
    ABSL_ASSIGN_OR_RETURN(const std::vector<double> values, ValuesOf(batch));
    ABSL_ASSIGN_OR_RETURN(const at::Tensor predictions, PredictionsOf(batch));
    const std::span<const double> predicted(predictions.const_data_ptr<double>(), graphs * targets);
    std::string lines;
    for (std::size_t graph = 0; graph < graphs; ++graph) {
      lines += PredictionRow(ids[graph], std::span(values).subspan(graph * targets, targets),
                             predicted.subspan(graph * targets, targets));
    }
    rows_ += graphs;
    return file_->Write(lines);
  }

  // [graphs, targets], of the targets that the data set has; NaN: unknown.
  absl::StatusOr<std::vector<double>> ValuesOf(const wire::Batch& batch) const {
    const std::size_t graphs = batch.header().real.graphs;
    std::vector<double> values(graphs * columns_.size(), std::numeric_limits<double>::quiet_NaN());
    if (std::ranges::none_of(columns_, [](const auto& column) { return column.has_value(); })) return values;
    ABSL_ASSIGN_OR_RETURN(const std::span<const double> y, batch.Elements<double>(kTargetField));
    const std::size_t width = dataset_.FindSplit("all")->targets.size();
    if (y.size() != graphs * width) return absl::DataLossError("a batch has another number of targets");
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::optional<std::size_t> column = columns_[i % columns_.size()];
      if (column.has_value()) values[i] = y[i / columns_.size() * width + *column];
    }
    return values;
  }

  // f64 [graphs, targets], on the host, in the targets' units.
  absl::StatusOr<at::Tensor> PredictionsOf(const wire::Batch& batch) {
    const at::NoGradGuard no_grad;
    const GraphTensors inputs =
        NewGraphTensors(batch.header().padded, feed_options_.layout, device_->torch_device());
    ABSL_RETURN_IF_ERROR(feed_->Expand(batch, inputs));
    at::Tensor predictions = loaded_.model->Forward(inputs)
                                 .narrow(0, 0, batch.header().real.graphs)
                                 .to(at::kCPU, at::kDouble)
                                 .contiguous();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Target& target = loaded_.targets()[i];
      predictions.select(1, static_cast<std::int64_t>(i)).mul_(target.scale).add_(target.mean);
    }
    return predictions;
  }

  const PredictionOptions& options_;
  const std::stop_token stop_;
  std::unique_ptr<Device> device_;
  std::shared_ptr<client::Connection> connection_;
  LoadedModel loaded_;
  client::DatasetInfo dataset_;  // whose graphs are predicted
  wire::BatchSpec spec_;
  FeedOptions feed_options_;
  std::unique_ptr<DeviceFeed> feed_;
  std::vector<std::optional<std::size_t>> columns_;  // ColumnsOf, for each target
  std::unique_ptr<base::WholeFile> file_;
  std::uint64_t rows_ = 0;
};

}  // namespace

absl::StatusOr<PredictionResult> Predict(const PredictionOptions& options, const std::stop_token& stop) {
  try {
    absl::StatusOr<PredictionResult> result = Predicting(options, stop).Run();
    if (!result.ok() && stop.stop_requested()) return absl::CancelledError("stopped by a signal");
    return result;
  } catch (const std::exception& error) {
    return absl::InternalError(FirstLine(error));
  }
}

}  // namespace packtrain::trainer
