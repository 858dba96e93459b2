#include "trainer/tasks/task.h"

#include <algorithm>

namespace packtrain::trainer {

const Metric* SplitMetrics::Find(std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &Metric::name);
  return found == metrics.end() ? nullptr : &*found;
}

}  // namespace packtrain::trainer
