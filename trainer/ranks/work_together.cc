#include "trainer/ranks/work_together.h"

#include <torch/types.h>

#include <cstdint>
#include <future>

#include "proto/base/status_macros.h"

namespace packtrain::trainer {

absl::Status WorkTogether(GradientSync& sync, const std::function<absl::Status()>& work,
                          std::chrono::milliseconds round) {
  std::future<absl::Status> done = std::async(std::launch::async, work);
  while (true) {
    const bool is_done = done.wait_for(round) == std::future_status::ready;
    const at::Tensor working = at::tensor({std::int64_t{is_done ? 0 : 1}}, at::kLong);
    ABSL_RETURN_IF_ERROR(sync.Sum(working));
    if (working.item<std::int64_t>() == 0) return done.get();
  }
}

}  // namespace packtrain::trainer
