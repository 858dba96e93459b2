#include "client/cli/run/run_json.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/wire/batch_spec_convert.h"
#include "proto/wire/run_words.h"

namespace packtrain::cli {
namespace {

using Keys = std::vector<std::string>;

// The keys of `run list`.
const Keys& ListKeys() {
  static const Keys keys = {"run",    "state",        "model",      "target",    "dataset",  "version",
                            "policy", "batch_graphs", "skip_above", "precision", "engine",   "world_size",
                            "seed",   "model_seed",   "steps",      "started",   "hardware", "labels"};
  return keys;
}

// The order of the keys, which scripts and readers rely on.
std::map<std::string, Keys, std::less<>> KeyOrder() {
  Keys run = ListKeys();
  run.insert(run.end(), {"parameters", "plan_fingerprint", "optimizer", "learning_rate", "planned_steps",
                         "on_corrupt", "timing_method", "git_revision", "device", "finished", "attempts"});
  return {{"Run", run},
          {"SummarizeRunResponse",
           {"run",
            "steady_steps",
            "phases_us",
            "server_build_us",
            "server_queue_us",
            "graphs_per_second",
            "nodes_per_second",
            "edges_per_second",
            "seconds_per_graph",
            "wait_share",
            "left_out",
            "seconds_per_epoch",
            "fill",
            "shapes",
            "captures",
            "capture_seconds",
            "joules_per_graph",
            "peak_device_bytes",
            "events",
            "corrupt_graphs",
            "losses_left_out",
            "evaluations_left_out",
            "lost_records"}},
          {"Evaluation", {"step", "split", "graphs", "mae", "rmse", "accuracy", "constant_predictor"}},
          {"CorruptGraph", {"epoch", "step", "batch", "split"}},
          {"CompareRunsResponse", {"metric", "test"}}};
}

const v1::RunDescription& DescriptionOf(const JsonField& at) {
  return static_cast<const v1::RunDescription&>(at.message);
}

// NAME@VERSION as two keys.
void PutDataset(const JsonField& at, Json& run) {
  const std::string& reference = DescriptionOf(at).dataset();
  const std::size_t end = std::min(reference.find('@'), reference.size());
  run["dataset"] = reference.substr(0, end);
  run["version"] = reference.substr(std::min(end + 1, reference.size()));
}

// The fields of the batch spec by which runs are told apart.
void PutSpec(const JsonField& at, Json& run) {
  const v1::BatchSpec& spec = DescriptionOf(at).spec();
  run["policy"] = wire::PolicyName(spec);
  run["batch_graphs"] = spec.graphs();
  run["skip_above"] = wire::SkipAboveName(spec);
  run["seed"] = spec.seed();
}

// The name alone, by which runs are compared, and all that is known of the device.
void PutHardware(const JsonField& at, Json& run) {
  run["hardware"] = wire::HardwareName(DescriptionOf(at).hardware());
  run["device"] = at.Value();
}

// A figure of steps, of which there are none: it is not known.
bool IsOfNoStep(const JsonField& at) { return static_cast<const v1::StepFigures&>(at.message).steps() == 0; }

void PutRate(const JsonField& at, Json& figures) {
  figures[at.field.name()] = IsOfNoStep(at) ? Json(nullptr) : at.Value();
}

// 0: not known.
void PutKnown(const JsonField& at, Json& object) {
  const Json value = at.Value();
  object[at.field.name()] = value == 0 ? Json(nullptr) : value;
}

void Forget(Json& json) {
  if (!json.is_structured()) json = nullptr;
  for (Json& element : json) Forget(element);
}

// The server's times stand beside the trainer's.
void PutPhases(const JsonField& at, Json& figures) {
  Json phases = at.Value();
  if (IsOfNoStep(at)) Forget(phases);
  Json of_trainer = Json::object();
  Json of_server = Json::object();
  for (const auto& [name, times] : phases.items()) {
    if (name.starts_with("server_")) {
      of_server[name + "_us"] = times;
    } else {
      of_trainer[name] = times;
    }
  }
  figures["phases_us"] = std::move(of_trainer);
  figures.update(of_server);
}

void PutSteadyFigures(const JsonField& at, Json& summary) {
  Json figures = at.Value();
  summary["steady_steps"] = figures["steps"];
  figures.erase("steps");
  summary.update(figures);
}

// Both ends of an interval in one array, or null.
void PutLowEnd(const JsonField& at, Json& pair) {
  pair["ci95"] = at.IsAbsent() ? Json(nullptr) : Json::array({at.Value()});
}
void PutHighEnd(const JsonField& at, Json& pair) {
  if (!at.IsAbsent()) pair["ci95"].push_back(at.Value());
}

}  // namespace

const JsonRules& RunRules() {
  static const JsonRules rules = {
      .fields = {{"Run.description", Spread()},
                 {"Run.started_ms", Time("started")},
                 {"Run.last_report_ms", Omit()},
                 {"Run.finished_ms", Time("finished")},
                 {"Run.followed_by", NullIfEmpty()},
                 {"RunDescription.dataset", PutDataset},
                 {"RunDescription.spec", PutSpec},
                 {"RunDescription.on_corrupt", UnspecifiedIs("stop")},
                 {"RunDescription.hardware", PutHardware},
                 {"RunDescription.libraries", Omit()},
                 {"SummarizeRunResponse.steady", PutSteadyFigures},
                 {"StepFigures.phases_us", PutPhases},
                 {"StepFigures.graphs_per_second", PutRate},
                 {"StepFigures.nodes_per_second", PutRate},
                 {"StepFigures.edges_per_second", PutRate},
                 {"StepFigures.seconds_per_graph", PutKnown},
                 {"StepFigures.wait_share", PutRate},
                 {"Fill.graphs", PutKnown},
                 {"Fill.nodes", PutKnown},
                 {"Fill.edges", PutKnown},
                 {"CorruptGraph.batch_index", Rename("batch")},
                 {"Evaluation.constant_mae", Within("constant_predictor", "mae")},
                 {"Evaluation.constant_rmse", Within("constant_predictor", "rmse")},
                 {"Evaluation.constant_accuracy", Within("constant_predictor", "accuracy")},
                 {"Evaluation.duration_ns", Seconds("seconds")},
                 {"CompareRunsResponse.test", UnspecifiedIs("welch")},
                 {"PairComparison.ci95_low", PutLowEnd},
                 {"PairComparison.ci95_high", PutHighEnd},
                 {"PairComparison.student_p", OmitIfAbsent()}},
      .first_keys = KeyOrder()};
  return rules;
}

Json RunRow(const v1::Run& run) {
  const Json all = MessageToJson(run, RunRules());
  Json row = Json::object();
  for (const std::string& key : ListKeys()) row[key] = all[key];
  return row;
}

}  // namespace packtrain::cli
