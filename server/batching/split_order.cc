#include "server/batching/split_order.h"

#include "server/batching/epoch_order.h"
#include "server/batching/window_order.h"

namespace packtrain::batching {

std::vector<std::uint32_t> OrderSplit(const wire::BatchSpec& spec, std::uint64_t epoch,
                                      std::span<const std::uint32_t> split) {
  if (spec.order == wire::Order::kWindow) return InWindowOrder(spec.seed, epoch, split, *spec.order_window);
  std::vector<std::uint32_t> order(split.begin(), split.end());
  if (spec.order == wire::Order::kFull) ShuffleForEpoch(spec.seed, epoch, order);
  return order;
}

}  // namespace packtrain::batching
