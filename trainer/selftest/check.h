// A check that a program can make of itself, on the machine where it is to train.
#ifndef PACKTRAIN_TRAINER_SELFTEST_CHECK_H_
#define PACKTRAIN_TRAINER_SELFTEST_CHECK_H_

#include <string_view>

#include "absl/status/status.h"

namespace packtrain::trainer {

struct Check {
  std::string_view name;  // a fact, such as "fused messages are the plain ones"
  absl::Status (*run)();  // an error says what differs; an exception is a failure, too
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_CHECK_H_
