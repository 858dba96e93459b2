// Waiting for what another thread or process brings about without telling the test.
#ifndef PACKTRAIN_TESTS_TESTING_EVENTUALLY_H_
#define PACKTRAIN_TESTS_TESTING_EVENTUALLY_H_

#include <chrono>
#include <thread>

namespace packtrain::testing {

// Long for a slow machine under a sanitizer, and short beside a test's deadline (test_main.cc).
inline constexpr std::chrono::seconds kPatience{120};

// Whether `holds()` comes true within kPatience; it is asked again and again, once at least.
template <typename Condition>
[[nodiscard]] bool Eventually(Condition holds) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TESTING_EVENTUALLY_H_
