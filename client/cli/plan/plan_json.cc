#include "client/cli/plan/plan_json.h"

namespace packtrain::cli {

const JsonRules& PlanRules() {
  static const JsonRules rules = {
      .fields = {{"ShapeCount.shape", Spread()},
                 {"Shape.block_nodes", OmitIfAbsent()},
                 {"GetPlanResponse.mean_graphs", Within("graphs_per_batch", "mean")},
                 {"GetPlanResponse.min_graphs", Within("graphs_per_batch", "min")},
                 {"GetPlanResponse.max_graphs", Within("graphs_per_batch", "max")},
                 {"GetPlanResponse.rank_load_mean_over_max", Within("rank_load", "mean_over_max")},
                 {"GetPlannedBatchResponse.source_ids", Rename("ids")},
                 {"GetPlannedBatchResponse.padded", Rename("shape")},
                 {"GetPlannedBatchResponse.body_crc32c", Rename("crc32c")}}};
  return rules;
}

}  // namespace packtrain::cli
