#include "proto/wire/run_words.h"

namespace packtrain::wire {

std::string StateName(v1::RunState state) { return WordOf(state, kStateWords); }

std::string HardwareName(const v1::Hardware& hardware) {
  const std::string& name = hardware.name().empty() ? hardware.device() : hardware.name();
  return hardware.count() > 1 ? std::to_string(hardware.count()) + " x " + name : name;
}

std::string InputOf(const v1::RunDescription& description) {
  if (!description.input().empty()) return description.input();
  const auto label = description.labels().find("input");
  return label != description.labels().end() && label->second == "synthetic" ? "synthetic" : "served";
}

}  // namespace packtrain::wire
