// Runs command lines of packtrain in the test's own process.
#ifndef PACKTRAIN_TESTS_CLIENT_CLI_RUN_LINE_H_
#define PACKTRAIN_TESTS_CLIENT_CLI_RUN_LINE_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace packtrain::testing {

struct Printed {
  int exit_code = 0;
  std::string out;
  std::string err;

  // `out`, which must be one line of JSON.
  nlohmann::json Json() const;
};

// `words` without the program's name.
Printed RunLine(std::vector<std::string> words);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_CLI_RUN_LINE_H_
