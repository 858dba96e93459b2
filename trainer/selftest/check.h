// A check that a program can make of itself, on the machine where it is to train.
#ifndef PACKTRAIN_TRAINER_SELFTEST_CHECK_H_
#define PACKTRAIN_TRAINER_SELFTEST_CHECK_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace packtrain::trainer {

struct Check {
  std::string_view name;  // a fact, such as "fused messages are the plain ones"
  absl::Status (*run)();  // an error says what differs; an exception is a failure, too
  // Why it cannot be tried on this machine; empty where it can. Null: it can on each.
  std::string (*why_not)() = nullptr;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_CHECK_H_
