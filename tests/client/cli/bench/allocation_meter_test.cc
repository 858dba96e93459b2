#include "client/cli/bench/allocation_meter.h"

#include <gmock/gmock.h>

#include <memory>
#include <thread>
#include <vector>

namespace packtrain::cli {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Lt;

constexpr std::uint64_t kMebibyte = 1 << 20;

std::vector<char> Hold(std::uint64_t bytes) { return std::vector<char>(bytes); }

TEST(AllocationMeterTest, CountsTheMostThatWasHeldAtOneTime) {
  const AllocationMeter meter;
  for (int i = 0; i < 5; ++i) Hold(kMebibyte);
  EXPECT_THAT(meter.peak_bytes(), AllOf(Ge(kMebibyte), Lt(2 * kMebibyte)));
  const std::vector<char> a = Hold(kMebibyte), b = Hold(kMebibyte);
  EXPECT_THAT(meter.peak_bytes(), AllOf(Ge(2 * kMebibyte), Lt(3 * kMebibyte)));
}

TEST(AllocationMeterTest, CountsWhatEveryThreadHolds) {
  const AllocationMeter meter;
  std::vector<char> held;
  std::thread([&held] { held = Hold(kMebibyte); }).join();
  EXPECT_THAT(meter.peak_bytes(), AllOf(Ge(kMebibyte), Lt(2 * kMebibyte)));
}

TEST(AllocationMeterTest, EachMeterBeginsAtNothing) {
  const std::vector<char> before = Hold(3 * kMebibyte);
  { const AllocationMeter first; }
  const AllocationMeter meter;
  EXPECT_LT(meter.peak_bytes(), kMebibyte);
}

}  // namespace
}  // namespace packtrain::cli
