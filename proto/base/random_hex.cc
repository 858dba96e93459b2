#include "proto/base/random_hex.h"

#include <cstdint>
#include <random>

#include "absl/strings/str_cat.h"

namespace packtrain::base {

std::string RandomHex() {
  std::random_device random;
  std::string digits;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&digits, absl::Hex(std::uint32_t{random()}, absl::kZeroPad8));
  return digits;
}

}  // namespace packtrain::base
