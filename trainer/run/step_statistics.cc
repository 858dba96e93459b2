#include "trainer/run/step_statistics.h"

#include <cmath>

namespace packtrain::trainer {

void StepStatistics::Add(const wire::StepRecord& step) {
  ++totals_.steps;
  totals_.graphs += step.real.graphs;
  if (!std::isnan(step.loss)) totals_.last_loss = step.loss;
  if (step.flags & wire::kNotSteady) return;
  totals_.steady.Add(step.total_ns);
  totals_.steady_graphs += step.real.graphs;
  totals_.steady_wait_ns += step.wait_ns;
}

SteadyFigures StepStatistics::Steady() const {
  const TimeHistogram& times = totals_.steady;
  const auto total_ns = static_cast<double>(times.sum_ns());
  return {.steps = times.count(),
          .graphs = totals_.steady_graphs,
          .seconds = total_ns * 1e-9,
          .mean_us = total_ns / static_cast<double>(times.count()) * 1e-3,
          .median_us = times.Quantile(0.5) * 1e-3,
          .p5_us = times.Quantile(0.05) * 1e-3,
          .p95_us = times.Quantile(0.95) * 1e-3,
          .wait_share = static_cast<double>(totals_.steady_wait_ns) / total_ns};
}

}  // namespace packtrain::trainer
