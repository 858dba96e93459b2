#include "proto/wire/run_words.h"

namespace packtrain::wire {

std::string StateName(v1::RunState state) { return WordOf(state, kStateWords); }

std::string HardwareName(const v1::Hardware& hardware) {
  const std::string& name = hardware.name().empty() ? hardware.device() : hardware.name();
  return hardware.count() > 1 ? std::to_string(hardware.count()) + " x " + name : name;
}

}  // namespace packtrain::wire
