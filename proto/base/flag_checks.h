// Validators of command-line values, the same in every program. CLI11's own accept NaN and negative counts, and
// call a word "out of range".
#ifndef PACKTRAIN_PROTO_BASE_FLAG_CHECKS_H_
#define PACKTRAIN_PROTO_BASE_FLAG_CHECKS_H_

#include <cstdint>
#include <string>

namespace CLI {
class Validator;
}

namespace packtrain::base {

// A number from `min` to `max`.
CLI::Validator NumberBetween(double min, double max);

// A whole number from `min` to `max`, in decimal digits.
CLI::Validator CountBetween(std::uint64_t min, std::uint64_t max);

// The same for a number of bytes, which may end in K, M or G, powers of 1,024; the option gets plain digits.
CLI::Validator BytesBetween(std::uint64_t min, std::uint64_t max);

// A whole number from `min` to 2^63 - 1.
CLI::Validator CountFrom(std::uint64_t min);

// Throws CLI::ParseError if a word is "--flag=", which is what `--flag=$VALUE` becomes when VALUE is unset:
// CLI11 would take the next word for the value.
void RefuseFlagsWithoutValue(int argc, const char* const* argv);

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_FLAG_CHECKS_H_
