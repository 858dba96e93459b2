// What ranks do for each other beside their sums.
#include <gmock/gmock.h>
#include <torch/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "proto/base/mutex.h"
#include "tests/testing/status_matchers.h"
#include "tests/trainer/two_ranks.h"
#include "trainer/ranks/gather_on_first.h"
#include "trainer/ranks/work_together.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using packtrain::testing::WithTwoRanks;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TwoRanks, GatherOnTheFirstInPartsOfALimitedSize) {
  const std::string zeros(3, '\0');
  WithTwoRanks(
      [&](std::unique_ptr<GradientSync> sync) {
        EXPECT_THAT(GatherOnFirst("own", *sync, 4).value(), ElementsAre("own", "ten bytes."));
        EXPECT_THAT(GatherOnFirst("", *sync, 4).value(), ElementsAre("", zeros));
        EXPECT_THAT(GatherOnFirst("own", *sync, 4).value(), ElementsAre("own", ""));
      },
      [&](std::unique_ptr<GradientSync> sync) {
        EXPECT_THAT(GatherOnFirst("ten bytes.", *sync, 4).value(), IsEmpty());
        EXPECT_THAT(GatherOnFirst(zeros, *sync, 4).value(), IsEmpty());
        EXPECT_THAT(GatherOnFirst("", *sync, 4).value(), IsEmpty());
      });
}

// Counts how often the ranks have heard of each other.
class CountingSync final : public GradientSync {
 public:
  void AwaitSums(int sums) {
    base::MutexLock lock(mutex_);
    while (sums_ < sums) summed_.Wait(mutex_);
  }

  const World& world() const override { return world_; }
  absl::Status JoinDevices(const CommunicatorMaker*) override { return absl::OkStatus(); }
  absl::Status device_sums() const override { return absl::OkStatus(); }
  absl::Status Sum(at::Tensor) override {
    base::MutexLock lock(mutex_);
    ++sums_;
    summed_.NotifyAll();
    return absl::OkStatus();
  }
  absl::Status SumOnDevice(at::Tensor) override { return absl::OkStatus(); }
  absl::Status Barrier() override { return absl::OkStatus(); }
  absl::Status CheckRanks() const override { return absl::OkStatus(); }
  void Leave(const absl::Status&) override {}

 private:
  const World world_;
  base::Mutex mutex_;
  base::CondVar summed_;
  int sums_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST(WorkTogether, TheRanksHearOfEachOtherWhileWorkGoesOn) {
  CountingSync sync;
  const auto work = [&sync] {
    sync.AwaitSums(3);
    return absl::DataLossError("the result");
  };
  EXPECT_THAT(WorkTogether(sync, work, std::chrono::milliseconds(1)), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(TwoRanks, EachIsThroughOnceBothAreAndHasItsOwnResult) {
  WithTwoRanks(
      [](std::unique_ptr<GradientSync> sync) {
        EXPECT_THAT(WorkTogether(*sync, [] { return absl::OkStatus(); }), IsOk());
        EXPECT_THAT(sync->Barrier(), IsOk());
      },
      [](std::unique_ptr<GradientSync> sync) {
        EXPECT_THAT(WorkTogether(*sync, [] { return absl::DataLossError("no"); }),
                    StatusIs(absl::StatusCode::kDataLoss));
        EXPECT_THAT(sync->Barrier(), IsOk());
      });
}

}  // namespace
}  // namespace packtrain::trainer
