#include "trainer/engine/nvml_device.h"

#include <gmock/gmock.h>

#include "tests/testing/status_matchers.h"

namespace packtrain::trainer {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;

TEST(NvmlDevice, TellsUseAsAShareEnergyInMicrojoulesAndItsPowerLimit) {
  const auto device = NvmlDevice::Open("0000:1B:00.0", PACKTRAIN_FAKE_NVML);
  ASSERT_THAT(device, IsOk());
  EXPECT_DOUBLE_EQ((*device)->Use(), 0.45);
  EXPECT_EQ((*device)->EnergyUj(), 1'234'000);
  EXPECT_DOUBLE_EQ((*device)->PowerLimitWatts(), 650.5);
  EXPECT_EQ((*device)->uuid(), "GPU-45");
}

TEST(NvmlDevice, WhatACardDoesNotTellIsUnknown) {
  const auto device = NvmlDevice::Open("0000:2C:00.0", PACKTRAIN_FAKE_NVML);
  ASSERT_THAT(device, IsOk());
  EXPECT_LT((*device)->Use(), 0);
  EXPECT_LT((*device)->EnergyUj(), 0);
  EXPECT_LT((*device)->PowerLimitWatts(), 0);
  EXPECT_EQ((*device)->uuid(), "");
}

TEST(NvmlDevice, IsUnavailableWithoutTheLibraryItsFunctionsOrTheCard) {
  EXPECT_THAT(NvmlDevice::Open("0000:1B:00.0", "libno-such-library.so.1"),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(NvmlDevice::Open("0000:1B:00.0", "libc.so.6"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(NvmlDevice::Open("no card", PACKTRAIN_FAKE_NVML), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace packtrain::trainer
