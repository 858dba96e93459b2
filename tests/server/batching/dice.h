// Draws for property tests, the same on every machine.
#ifndef PACKTRAIN_TESTS_SERVER_BATCHING_DICE_H_
#define PACKTRAIN_TESTS_SERVER_BATCHING_DICE_H_

#include <cstdint>
#include <initializer_list>
#include <random>

namespace packtrain::batching {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  // In least .. most; the bias does not matter here.
  std::uint32_t Between(std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(engine_() % (std::uint64_t{most} - least + 1));
  }
  bool OneIn(std::uint32_t n) { return Between(1, n) == 1; }
  template <typename T>
  T One(std::initializer_list<T> of) {
    return of.begin()[Between(0, static_cast<std::uint32_t>(of.size()) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_TESTS_SERVER_BATCHING_DICE_H_
