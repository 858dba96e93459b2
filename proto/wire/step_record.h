// One training step as a trainer reports it, free of protobuf. Fields as StepBlock in packtrain/v1/run.proto.
#ifndef PACKTRAIN_PROTO_WIRE_STEP_RECORD_H_
#define PACKTRAIN_PROTO_WIRE_STEP_RECORD_H_

#include <cstdint>

#include "proto/wire/batch_layout.h"

namespace packtrain::wire {

// Bits of StepRecord::flags. Values equal packtrain.v1.StepFlag.
enum StepFlag : std::uint32_t {
  kWarmUp = 1,
  kCapture = 2,
  kFirstOfEpoch = 4,
  kShortBatch = 8,
  kCheckpoint = 16,
  kEvaluation = 32,
};

// Any of these takes a step out of the steady state.
inline constexpr std::uint32_t kNotSteady = kWarmUp | kCapture | kCheckpoint | kEvaluation;

// Times are nanoseconds; a phase that did not happen is 0.
struct StepRecord {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t batch_index = 0;
  Shape real;
  Shape padded;
  std::uint64_t wait_ns = 0;
  std::uint64_t copy_ns = 0;
  std::uint64_t forward_ns = 0;
  std::uint64_t backward_ns = 0;
  std::uint64_t optimizer_ns = 0;
  std::uint64_t comm_ns = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t server_build_ns = 0;
  std::uint64_t server_queue_ns = 0;
  std::uint64_t capture_ns = 0;
  std::uint32_t flags = 0;
  double loss = 0;
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_STEP_RECORD_H_
