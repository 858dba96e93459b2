// What must hold whatever the input is.
#ifndef PACKTRAIN_TESTS_FUZZ_FACT_H_
#define PACKTRAIN_TESTS_FUZZ_FACT_H_

#include <cstdio>
#include <cstdlib>
#include <string>

namespace packtrain::fuzz {

// Ends the program, which counts as a crash, where `holds` is false.
inline void Expect(bool holds, const std::string& fact) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", fact.c_str());
  std::abort();
}

}  // namespace packtrain::fuzz

#endif  // PACKTRAIN_TESTS_FUZZ_FACT_H_
