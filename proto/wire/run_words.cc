#include "proto/wire/run_words.h"

namespace packtrain::wire {

std::string PadName(const v1::BatchSpec& spec) {
  if (spec.pad() == v1::PAD_LADDER) return "ladder:" + std::to_string(spec.ladder_rungs());
  return WordOf(spec.pad(), kPadWords);
}

std::string PolicyName(const v1::BatchSpec& spec) {
  std::string policy = WordOf(spec.policy(), kPolicyWords);
  if (spec.policy() != v1::POLICY_STATIC) return policy;
  return policy + "-" + (spec.pad() == v1::PAD_UNSPECIFIED ? "multiple" : PadName(spec));
}

std::string StateName(v1::RunState state) { return WordOf(state, kStateWords); }

std::string HardwareName(const v1::Hardware& hardware) {
  const std::string& name = hardware.name().empty() ? hardware.device() : hardware.name();
  return hardware.count() > 1 ? std::to_string(hardware.count()) + " x " + name : name;
}

}  // namespace packtrain::wire
