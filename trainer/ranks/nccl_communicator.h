// Sums over the ranks by NCCL.
#ifndef PACKTRAIN_TRAINER_RANKS_NCCL_COMMUNICATOR_H_
#define PACKTRAIN_TRAINER_RANKS_NCCL_COMMUNICATOR_H_

#include <c10/core/Device.h>

#include <memory>

#include "trainer/ranks/communicator.h"

namespace packtrain::trainer {

// Sums are work of the current stream of the CUDA device `index`, which is this thread's device.
std::unique_ptr<CommunicatorMaker> NcclOn(c10::DeviceIndex index);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_NCCL_COMMUNICATOR_H_
