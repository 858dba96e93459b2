// The keys that --json prints of the protocol's messages, in their order. Scripts rely on them.
#include <gmock/gmock.h>

#include <string>

#include "client/cli/dataset/dataset_json.h"
#include "client/cli/plan/plan_json.h"
#include "client/cli/run/run_json.h"
#include "client/cli/run/run_summary.h"
#include "client/cli/server/fsck_json.h"
#include "packtrain/v1/server_info.pb.h"

namespace packtrain::cli {
namespace {

// "a b{c d} e[f]": those of an object in braces, those of the first object of an array in brackets.
std::string KeysIn(const Json& object) {
  std::string keys;
  for (const auto& [key, value] : object.items()) {
    keys += (keys.empty() ? "" : " ") + key;
    if (value.is_object() && !value.empty()) keys += '{' + KeysIn(value) + '}';
    if (value.is_array() && !value.empty() && value[0].is_object()) keys += '[' + KeysIn(value[0]) + ']';
  }
  return keys;
}

constexpr char kQuantiles[] = "{mean median p5 p90 p95 p99 stddev}";
constexpr char kListed[] =
    "run state model target dataset version policy batch_graphs skip_above precision engine world_size seed "
    "model_seed "
    "steps "
    "started hardware labels";

std::string FigureKeys() {
  std::string keys = "phases_us{";
  for (const char* phase : {"wait", "copy", "forward", "backward", "optimizer", "comm", "total"}) {
    keys += (keys.back() == '{' ? "" : " ") + std::string(phase) + kQuantiles;
  }
  return keys + "} server_build_us" + kQuantiles + " server_queue_us" + kQuantiles +
         " graphs_per_second nodes_per_second edges_per_second seconds_per_graph wait_share left_out";
}

// Of a summary with one record of each kind, behind `run` and `steps`.
std::string SummaryKeys() {
  return "steady_steps " + FigureKeys() +
         " seconds_per_epoch fill{graphs nodes edges} shapes captures capture_seconds joules_per_graph "
         "peak_device_bytes events[name count seconds] "
         "corrupt_graphs{count graphs list[epoch step batch split graph] truncated} "
         "losses_left_out evaluations_left_out lost_records whole{steps " +
         FigureKeys() + "}";
}

RunSummary SampleRun() {
  RunSummary read;
  read.figures.add_events();
  read.figures.mutable_corrupt_graphs()->add_list();
  return read;
}

TEST(JsonKeysTest, OfADataset) {
  v1::Dataset dataset;
  dataset.mutable_schema()->add_fields();
  dataset.mutable_schema()->add_targets();
  dataset.mutable_nodes()->add_histogram();
  v1::Split& split = *dataset.add_splits();
  split.set_name("train");
  split.add_targets();
  dataset.mutable_lineage()->add_sources();
  EXPECT_EQ(
      KeysIn(MessageToJson(dataset, DatasetRules())),
      "name version graphs nodes{total mean p50 p99 max} edges{total mean p50 p99 max} "
      "histogram{nodes[count graphs] edges} edge_builder bytes fields[name scope dtype dims unit] "
      "targets[name unit] splits{train{graphs targets[name count mean stddev median] mean_log_degree}} "
      "classes lineage{sources[name bytes sha256] edges derived_from command program_version imported_at_ms}");
}

TEST(JsonKeysTest, OfARenumberedDataset) {
  v1::Dataset dataset;
  dataset.mutable_schema()->set_renumbered(v1::RENUMBERING_RCM);
  dataset.mutable_lineage()->set_renumbered(v1::RENUMBERING_RCM);
  dataset.mutable_bandwidth()->add_histogram();
  dataset.mutable_bandwidth_as_read()->set_p50(7);
  const Json json = MessageToJson(dataset, DatasetRules());
  EXPECT_EQ(KeysIn(json),
            "name version graphs nodes{total mean p50 p99 max} edges{total mean p50 p99 max} "
            "bandwidth{mean p50 p99 max} bandwidth_as_read{mean p50 p99 max} "
            "histogram{nodes edges bandwidth[count graphs] bandwidth_as_read} edge_builder renumbered bytes "
            "fields targets splits classes "
            "lineage{sources edges renumbered derived_from command program_version imported_at_ms}");
  EXPECT_EQ(json["renumbered"], "rcm");
  EXPECT_EQ(json["lineage"]["renumbered"], "rcm");
  EXPECT_EQ(json["bandwidth_as_read"]["p50"], 7);
}

TEST(JsonKeysTest, OfADeletion) {
  v1::DeleteDatasetResponse response;
  response.add_versions();
  EXPECT_EQ(KeysIn(MessageToJson(response)),
            "versions[dataset graphs bytes running_runs reclaimed] current_version");
}

TEST(JsonKeysTest, OfAPlan) {
  v1::GetPlanResponse plan;
  plan.mutable_budget();
  plan.add_shapes();
  const Json json = MessageToJson(plan, PlanRules());
  EXPECT_EQ(
      KeysIn(json),
      "dataset batches steps graphs budget{graphs nodes edges} fill{graphs nodes edges} "
      "shapes[graphs nodes edges batches] graphs_per_batch{mean min max} "
      "oversize{action count ids truncated} rank_load{mean_over_max} bound_batches fingerprint plan_version "
      "plan_seconds dropped_graphs skipped_graphs");
  plan.clear_budget();
  EXPECT_EQ(MessageToJson(plan, PlanRules())["budget"], nullptr);
}

TEST(JsonKeysTest, OfAPlanOfSupergraphs) {
  v1::GetPlanResponse plan;
  plan.mutable_budget()->set_block_nodes(64);
  plan.add_shapes()->mutable_shape()->set_block_nodes(64);
  const Json json = MessageToJson(plan, PlanRules());
  EXPECT_EQ(KeysIn(json["budget"]), "graphs nodes edges block_nodes");
  EXPECT_EQ(KeysIn(json["shapes"][0]), "graphs nodes edges block_nodes batches");
}

TEST(JsonKeysTest, OfAPlannedBatch) {
  EXPECT_EQ(KeysIn(MessageToJson(v1::GetPlannedBatchResponse(), PlanRules())),
            "index step rank ids n_node n_edge shape{graphs nodes edges} crc32c fingerprint");
}

TEST(JsonKeysTest, OfRuns) {
  EXPECT_EQ(KeysIn(RunRow(v1::Run())), kListed);
  EXPECT_EQ(KeysIn(MessageToJson(v1::Run(), RunRules())),
            std::string(kListed) +
                " parameters plan_fingerprint optimizer learning_rate planned_steps on_corrupt timing_method "
                "git_revision device{device name count cpu host driver} finished attempts input "
                "settings{threads read_ahead_bytes learning_rate_schedule max_captures evaluate_every "
                "checkpoint_every other} "
                "environment{server_builders shares_host_with_server power_limit_watts} message end_step "
                "followed_by followed_at_step lost_records");
}

TEST(JsonKeysTest, OfASummary) { EXPECT_EQ(KeysIn(SummaryToJson(SampleRun())), "run steps " + SummaryKeys()); }

TEST(JsonKeysTest, OfAnEvaluation) {
  EXPECT_EQ(
      KeysIn(MessageToJson(v1::Evaluation(), RunRules())),
      "step split graphs mae rmse accuracy constant_predictor{mae rmse accuracy} seconds attempt filter_error");
}

TEST(JsonKeysTest, OfAComparison) {
  v1::CompareRunsResponse response;
  v1::PairComparison& pair = *response.add_cells()->add_pairs();
  response.add_excluded();
  const std::string pair_keys = "a b n_a n_b ratio ci95 welch_p mann_whitney_p holm_p effect verdict sentence";
  const std::string differences = " mixed[key a b] also_differs[key a b] copies[run of] shares_seeds";
  pair.add_mixed();
  pair.add_also_differs();
  pair.add_copies();
  EXPECT_EQ(KeysIn(MessageToJson(response, RunRules())),
            "metric test alpha cells[factors pairs[" + pair_keys + differences + "]] excluded[run reason]");
  pair.set_student_p(0.5);
  EXPECT_EQ(KeysIn(MessageToJson(pair, RunRules())), pair_keys + " student_p" + differences);
}

TEST(JsonKeysTest, OfACheckOfStores) {
  EXPECT_EQ(KeysIn(MessageToJson(v1::FsckFinding(), FsckRules())),
            "kind message dataset graph source_id split run file");
  EXPECT_EQ(KeysIn(MessageToJson(v1::FsckSummary(), FsckRules())), "files datasets graphs runs bytes unused");
}

TEST(JsonKeysTest, OfAServer) {
  EXPECT_EQ(KeysIn(MessageToJson(v1::GetServerInfoResponse())),
            "version api limits{max_receive_message_bytes max_batch_bytes max_streams builders} "
            "memory{cap_bytes used_bytes resident_dataset_bytes process_rss_bytes parts} features host_id "
            "process_id disk{kept_imports kept_import_bytes}");
}

TEST(JsonValuesTest, OfARunThatIsFinished) {
  v1::Run run;
  run.mutable_description()->set_dataset("qm9@0123");
  run.mutable_description()->mutable_spec()->set_policy(v1::POLICY_STATIC);
  run.mutable_description()->mutable_hardware()->set_name("H200");
  run.set_started_ms(1'738'324'800'000);
  const Json running = MessageToJson(run, RunRules());
  EXPECT_EQ(running["dataset"], "qm9");
  EXPECT_EQ(running["version"], "0123");
  EXPECT_EQ(running["policy"], "static-multiple");
  EXPECT_EQ(running["hardware"], "H200");
  EXPECT_EQ(running["started"], "2025-01-31T12:00:00Z");
  EXPECT_EQ(running["finished"], nullptr);
  EXPECT_EQ(running["on_corrupt"], "stop");
  run.mutable_description()->set_dataset("qm9");
  EXPECT_EQ(RunRow(run)["version"], "");
}

TEST(JsonValuesTest, AnIntervalIsAnArrayOrNull) {
  v1::PairComparison pair;
  EXPECT_EQ(MessageToJson(pair, RunRules())["ci95"], nullptr);
  pair.set_ci95_low(0.5);
  pair.set_ci95_high(2);
  EXPECT_EQ(MessageToJson(pair, RunRules())["ci95"], (Json{0.5, 2.0}));
}

// A rule for a field that was renamed or removed would hold for nothing.
TEST(JsonRulesTest, EachNamesAFieldOfTheProtocol) {
  const google::protobuf::DescriptorPool& pool = *google::protobuf::DescriptorPool::generated_pool();
  for (const JsonRules* rules : {&DatasetRules(), &PlanRules(), &RunRules(), &FsckRules()}) {
    for (const auto& [field, rule] : rules->fields) {
      EXPECT_NE(pool.FindFieldByName("packtrain.v1." + field), nullptr) << field;
    }
    for (const auto& [message, keys] : rules->first_keys) {
      EXPECT_NE(pool.FindMessageTypeByName("packtrain.v1." + message), nullptr) << message;
    }
  }
}

}  // namespace
}  // namespace packtrain::cli
