#include "trainer/ranks/gradient_sync.h"

#include <gmock/gmock.h>
#include <torch/types.h>

#include <latch>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/two_ranks.h"
#include "trainer/ranks/communicator.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using packtrain::testing::WithTwoRanks;
using ::testing::HasSubstr;

TEST(TwoRanks, GatherTheBytesOfEach) {
  const auto gather = [](const std::string& mine) {
    return [mine](std::unique_ptr<GradientSync> sync) {
      const absl::StatusOr<std::vector<std::string>> parts = sync->Gather(mine);
      ASSERT_THAT(parts, IsOk());
      EXPECT_THAT(*parts, ::testing::ElementsAre(std::string("\0\xff", 2), "other"));
      EXPECT_THAT(sync->Gather(""), IsOk());
      EXPECT_THAT(sync->Barrier(), IsOk());
    };
  };
  WithTwoRanks(gather(std::string("\0\xff", 2)), gather("other"));
}

TEST(TwoRanks, MustAgreeAndBothLearnThatTheyDoNot) {
  const auto agree = [](const std::string& mine) {
    return [mine](std::unique_ptr<GradientSync> sync) {
      EXPECT_THAT(sync->Agree("--seed", "0"), IsOk());
      EXPECT_THAT(sync->Agree("--steps", mine),
                  StatusIs(absl::StatusCode::kFailedPrecondition,
                           HasSubstr("the ranks differ in --steps: rank 0 has '10', rank 1 has '20'")));
    };
  };
  WithTwoRanks(agree("10"), agree("20"));
}

TEST(TwoRanks, ARankThatIsGoneIsNamed) {
  WithTwoRanks(
      [](std::unique_ptr<GradientSync> sync) {
        EXPECT_THAT(sync->Sum(at::ones({4})),
                    StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 1 is gone")));
      },
      [](std::unique_ptr<GradientSync>) {});
}

TEST(TwoRanks, ARankThatFailsSaysWhy) {
  WithTwoRanks(
      [](std::unique_ptr<GradientSync> sync) {
        EXPECT_THAT(sync->Sum(at::ones({4})),
                    StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 1 failed: the disk is full")));
      },
      [](std::unique_ptr<GradientSync> sync) { sync->Leave(absl::InternalError("the disk is full")); });
}

TEST(TwoRanks, AllSucceedOrAllLearnWhyOneDidNot) {
  WithTwoRanks(
      [](std::unique_ptr<GradientSync> sync) {
        EXPECT_THAT(sync->AllSucceed(absl::OkStatus()), IsOk());
        EXPECT_THAT(sync->AllSucceed(absl::DataLossError("the file is empty")),
                    StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the file is empty")));
      },
      [](std::unique_ptr<GradientSync> sync) {
        EXPECT_THAT(sync->AllSucceed(absl::OkStatus()), IsOk());
        EXPECT_THAT(sync->AllSucceed(absl::OkStatus()),
                    StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 0 failed: the file is empty")));
      });
}

TEST(TwoRanks, ShareWhatRankZeroHas) {
  const auto share = [](const std::string& mine) {
    return [mine](std::unique_ptr<GradientSync> sync) { EXPECT_EQ(*sync->Share(mine), "zero's"); };
  };
  WithTwoRanks(share("zero's"), share("one's"));
}

// Of two ranks that sum the same.
class DoublingCommunicator final : public Communicator {
 public:
  absl::Status Sum(const at::Tensor& tensor) override {
    tensor.mul_(2);
    return absl::OkStatus();
  }
  void Abort() override {}
};

// As a device that waits for another rank.
class WaitingCommunicator final : public Communicator {
 public:
  absl::Status Sum(const at::Tensor&) override {
    aborted_.wait();
    return absl::AbortedError("aborted");
  }
  void Abort() override {
    if (!aborted_.try_wait()) aborted_.count_down();
  }

 private:
  std::latch aborted_{1};
};

template <typename Made>
class FakeCard final : public CommunicatorMaker {
 public:
  explicit FakeCard(std::string card) : card_(std::move(card)) {}

  std::string card() const override { return card_; }
  absl::StatusOr<std::string> NewToken() const override { return "token of " + card_; }
  absl::StatusOr<std::unique_ptr<Communicator>> Connect(const std::string& token, const World&) const override {
    if (token != "token of zero") return absl::InternalError("not rank 0's token: " + token);
    return std::make_unique<Made>();
  }

 private:
  const std::string card_;
};

TEST(TwoRanks, WithACardEachSumOnTheCards) {
  const auto sum = [](const std::string& card) {
    return [card](std::unique_ptr<GradientSync> sync) {
      const FakeCard<DoublingCommunicator> maker(card);
      ASSERT_THAT(sync->JoinDevices(&maker), IsOk());
      EXPECT_THAT(sync->device_sums(), IsOk());
      at::Tensor values = at::ones({4});
      EXPECT_THAT(sync->SumOnDevice(values), IsOk());
      EXPECT_TRUE(values.equal(at::full({4}, 2.0f)));
      EXPECT_THAT(sync->Barrier(), IsOk());
    };
  };
  WithTwoRanks(sum("zero"), sum("one"));
}

TEST(TwoRanks, OfOneCardSumOnTheHost) {
  const auto sum = [](std::unique_ptr<GradientSync> sync) {
    const FakeCard<WaitingCommunicator> maker("zero");
    ASSERT_THAT(sync->JoinDevices(&maker), IsOk());
    EXPECT_THAT(sync->device_sums(),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("ranks 0 and 1 share a card")));
    at::Tensor values = at::ones({4});
    EXPECT_THAT(sync->SumOnDevice(values), IsOk());
    EXPECT_TRUE(values.equal(at::full({4}, 2.0f)));
  };
  WithTwoRanks(sum, sum);
}

TEST(TwoRanks, OnProcessorsSumOnTheHost) {
  const auto sum = [](std::unique_ptr<GradientSync> sync) {
    ASSERT_THAT(sync->JoinDevices(nullptr), IsOk());
    EXPECT_THAT(sync->device_sums(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("on the host")));
  };
  WithTwoRanks(sum, sum);
}

TEST(TwoRanks, ACardThatWaitsForARankThatLeavesIsFreed) {
  WithTwoRanks(
      [](std::unique_ptr<GradientSync> sync) {
        const FakeCard<WaitingCommunicator> maker("zero");
        ASSERT_THAT(sync->JoinDevices(&maker), IsOk());
        const auto left = StatusIs(absl::StatusCode::kAborted, "rank 1 failed: the disk is full");
        EXPECT_THAT(sync->SumOnDevice(at::ones({4})), left);
        EXPECT_THAT(sync->CheckRanks(), left);
        EXPECT_THAT(sync->Sum(at::ones({4})), left);
      },
      [](std::unique_ptr<GradientSync> sync) {
        const FakeCard<WaitingCommunicator> maker("one");
        ASSERT_THAT(sync->JoinDevices(&maker), IsOk());
        sync->Leave(absl::InternalError("the disk is full"));
      });
}

}  // namespace
}  // namespace packtrain::trainer
