#include "trainer/run/step_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace packtrain::trainer {
namespace {

// Linear between the neighbouring values of `sorted`, as R's type 7.
double Quantile(const std::vector<std::uint64_t>& sorted, double q) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const auto low = static_cast<double>(sorted[below]), high = static_cast<double>(sorted[above]);
  return low + (position - static_cast<double>(below)) * (high - low);
}

}  // namespace

void StepStatistics::Add(const wire::StepRecord& step) {
  ++totals_.steps;
  totals_.graphs += step.real.graphs;
  if (!std::isnan(step.loss)) totals_.last_loss = step.loss;
  if (step.flags & wire::kNotSteady) return;
  totals_.steady_ns.push_back(step.total_ns);
  totals_.steady_graphs += step.real.graphs;
  totals_.steady_wait_ns += step.wait_ns;
}

SteadyFigures StepStatistics::Steady() const {
  std::vector<std::uint64_t> sorted = totals_.steady_ns;
  std::sort(sorted.begin(), sorted.end());
  const auto total_ns = static_cast<double>(std::accumulate(sorted.begin(), sorted.end(), std::uint64_t{0}));
  return {.steps = sorted.size(),
          .graphs = totals_.steady_graphs,
          .seconds = total_ns * 1e-9,
          .mean_us = total_ns / static_cast<double>(sorted.size()) * 1e-3,
          .median_us = Quantile(sorted, 0.5) * 1e-3,
          .p5_us = Quantile(sorted, 0.05) * 1e-3,
          .p95_us = Quantile(sorted, 0.95) * 1e-3,
          .wait_share = static_cast<double>(totals_.steady_wait_ns) / total_ns};
}

}  // namespace packtrain::trainer
