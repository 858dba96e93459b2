// Checks of numbers on the command line. Those of CLI11 let NaN and negative counts through, and call a word
// out of range.
#ifndef PACKTRAIN_CLIENT_FLAG_CHECKS_H_
#define PACKTRAIN_CLIENT_FLAG_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/counted_word.h"

namespace CLI {
class Validator;
}

namespace packtrain::client {

// A number from `least` to `most`.
CLI::Validator NumberBetween(double least, double most);

// A whole number from `least` to `most`, in decimal digits.
CLI::Validator CountBetween(std::uint64_t least, std::uint64_t most);

// A whole number from `least` to 2^63 - 1.
CLI::Validator CountFrom(std::uint64_t least);

// One of `words`, or `counted` with its number.
CLI::Validator WordOrCounted(const std::vector<std::string>& words, const CountedWord& counted);

// Throws CLI::ParseError where a word is "--flag=", which is what `--flag=$VALUE` is without a VALUE: CLI11
// would take the word behind it for the value.
void RefuseFlagsWithoutValue(int argc, const char* const* argv);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_FLAG_CHECKS_H_
