#include "proto/wire/run_words.h"

namespace packtrain::wire {

std::string PolicyName(const v1::BatchSpec& spec) {
  std::string policy = WordOf(spec.policy(), kPolicyWords);
  if (spec.policy() != v1::POLICY_STATIC) return policy;
  const v1::Pad pad = spec.pad() == v1::PAD_UNSPECIFIED ? v1::PAD_MULTIPLE : spec.pad();
  return policy + "-" + WordOf(pad, kPadWords);
}

std::string StateName(v1::RunState state) { return WordOf(state, kStateWords); }

std::string HardwareName(const v1::Hardware& hardware) {
  const std::string& name = hardware.name().empty() ? hardware.device() : hardware.name();
  return hardware.count() > 1 ? std::to_string(hardware.count()) + " x " + name : name;
}

}  // namespace packtrain::wire
