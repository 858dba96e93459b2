#include "tests/client/cli/run_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "client/cli/program.h"

namespace packtrain::testing {

nlohmann::json Printed::Json() const {
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1) << out;
  return nlohmann::json::parse(out, nullptr, /*allow_exceptions=*/false);
}

Printed RunLine(std::vector<std::string> words) {
  words.insert(words.begin(), "packtrain");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out;
  std::ostringstream err;
  Printed printed;
  printed.exit_code = cli::RunProgram(static_cast<int>(argv.size()), argv.data(), out, err);
  printed.out = out.str();
  printed.err = err.str();
  return printed;
}

}  // namespace packtrain::testing
