// Files of tests/data.
#ifndef PACKTRAIN_TESTS_TESTING_TEST_DATA_H_
#define PACKTRAIN_TESTS_TESTING_TEST_DATA_H_

#include <string>
#include <string_view>

namespace packtrain::testing {

// The path of a file by its name in tests/data, such as "sdf/O2.sdf".
inline std::string TestData(std::string_view name) {
  return std::string(PACKTRAIN_TEST_DATA) + "/" + std::string(name);
}

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TESTING_TEST_DATA_H_
