// The orders of edges that kernels walk. Pointers to device memory, with the meaning that the members of
// GraphTensors of these names have.
#ifndef PACKTRAIN_TRAINER_KERNELS_EDGE_ORDERS_CUH_
#define PACKTRAIN_TRAINER_KERNELS_EDGE_ORDERS_CUH_

#include <cstdint>

namespace packtrain::trainer {

struct EdgesByReceiver {
  const std::int32_t* receiver_start = nullptr;
  const std::int32_t* senders = nullptr;
};

struct EdgesBySender {
  const std::int32_t* sender_start = nullptr;
  const std::int32_t* by_sender = nullptr;
  const std::int32_t* receivers = nullptr;
  const std::int32_t* real = nullptr;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_EDGE_ORDERS_CUH_
