// Golden files: bytes in hexadecimal, blocks apart by empty lines. A line that begins with '#' is a comment.
#ifndef PACKTRAIN_TESTS_TESTING_GOLDEN_H_
#define PACKTRAIN_TESTS_TESTING_GOLDEN_H_

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace packtrain::testing {

// The bytes of each block of tests/golden/NAME; none where there is no such file.
inline std::vector<std::string> GoldenBlocks(const std::string& name) {
  std::ifstream file(std::string(PACKTRAIN_GOLDEN) + "/" + name);
  EXPECT_TRUE(file.is_open()) << name;
  std::vector<std::string> blocks;
  bool begins = true;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) begins = true;
    if (line.empty() || line.starts_with('#')) continue;
    if (std::exchange(begins, false)) blocks.emplace_back();
    std::erase(line, ' ');
    for (std::size_t at = 0; at + 1 < line.size(); at += 2) {
      blocks.back().push_back(static_cast<char>(std::stoi(line.substr(at, 2), nullptr, 16)));
    }
  }
  return blocks;
}

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TESTING_GOLDEN_H_
