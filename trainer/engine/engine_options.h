// How a device's work is issued.
#ifndef PACKTRAIN_TRAINER_ENGINE_ENGINE_OPTIONS_H_
#define PACKTRAIN_TRAINER_ENGINE_ENGINE_OPTIONS_H_

#include <cstddef>

namespace packtrain::trainer {

struct EngineOptions {
  bool captured = false;  // each shape's work as one CUDA graph, and that of each batch read in place; else
                          // operation by operation
  std::size_t max_captures = 256;  // graphs kept; beyond, the one that was not used for longest goes
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_ENGINE_OPTIONS_H_
