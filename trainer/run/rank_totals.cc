#include "trainer/run/rank_totals.h"

#include <torch/types.h>

#include <cstdint>

#include "proto/base/status_macros.h"

namespace packtrain::trainer {

absl::Status SumGraphs(StepTotals& totals, GradientSync& sync) {
  const at::Tensor graphs = at::tensor(
      {static_cast<std::int64_t>(totals.graphs), static_cast<std::int64_t>(totals.steady_graphs)}, at::kLong);
  ABSL_RETURN_IF_ERROR(sync.Sum(graphs));
  totals.graphs = static_cast<std::uint64_t>(graphs[0].item<std::int64_t>());
  totals.steady_graphs = static_cast<std::uint64_t>(graphs[1].item<std::int64_t>());
  return absl::OkStatus();
}

}  // namespace packtrain::trainer
