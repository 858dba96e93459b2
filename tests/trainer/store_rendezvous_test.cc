#include "trainer/ranks/store_rendezvous.h"

#include <gmock/gmock.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/two_ranks.h"
#include "trainer/ranks/gradient_sync.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::FreePort;
using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Longer than any test may last.
constexpr std::chrono::hours kForever{1};

World WorldOf(std::uint32_t rank, std::uint32_t size, std::uint16_t port) {
  World world;
  world.rank = rank;
  world.size = size;
  world.master_port = port;
  return world;
}

SyncOptions Options(std::chrono::milliseconds timeout, const std::stop_token& stop = {}) {
  SyncOptions options;
  options.timeout = timeout;
  options.resolve_timeout = std::chrono::milliseconds(1);
  options.stop = stop;
  return options;
}

TEST(StoreRendezvous, ARequestToStopEndsTheWait) {
  for (const std::uint32_t rank : {0u, 1u}) {
    std::stop_source stop;
    std::thread asking([&stop] { stop.request_stop(); });
    EXPECT_THAT(GradientSync::Connect(WorldOf(rank, 2, FreePort()), Options(kForever, stop.get_token())),
                StatusIs(absl::StatusCode::kCancelled, HasSubstr("asked to stop")));
    asking.join();
  }
}

// Returns when rank 1 has come to the store of `port`.
void AwaitRankOne(std::uint16_t port) {
  c10d::TCPStoreOptions options;
  options.port = port;
  options.waitWorkers = false;
  c10d::TCPStore("127.0.0.1", options).wait({"rendezvous/joined/1"});
}

TEST(StoreRendezvous, ARankThatIsAskedToStopTellsTheOthers) {
  const std::uint16_t port = FreePort();
  std::stop_source stop;
  std::thread stopped([port, &stop] {
    EXPECT_THAT(GradientSync::Connect(WorldOf(1, 3, port), Options(kForever, stop.get_token())),
                StatusIs(absl::StatusCode::kCancelled, HasSubstr("asked to stop")));
  });
  std::thread asking([port, &stop] {
    AwaitRankOne(port);
    stop.request_stop();
  });
  EXPECT_THAT(GradientSync::Connect(WorldOf(0, 3, port), Options(kForever)),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 1 was asked to stop")));
  stopped.join();
  asking.join();
}

TEST(StoreRendezvous, RanksThatDoNotComeAreNamed) {
  EXPECT_THAT(GradientSync::Connect(WorldOf(0, 3, FreePort()), Options(std::chrono::seconds(1))),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("not there: rank 1, rank 2")));
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 3, FreePort()), Options(std::chrono::milliseconds(1))),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("rank 0 is not there")));
}

TEST(StoreRendezvous, RanksWhoseWorldsDifferInSizeAllSayIt) {
  const std::uint16_t port = FreePort();
  const std::string difference = "the ranks differ in WORLD_SIZE: rank 0 has '3', rank 1 has '2'";
  std::thread other([port, &difference] {
    EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, port), Options(kForever)),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(difference)));
  });
  EXPECT_THAT(GradientSync::Connect(WorldOf(0, 3, port), Options(kForever)),
              StatusIs(absl::StatusCode::kAborted, HasSubstr(difference)));
  other.join();
}

TEST(StoreRendezvous, OfTwoProcessesThatAreOneRankOneMeetsTheOthers) {
  const std::uint16_t port = FreePort();
  std::unique_ptr<GradientSync> member;
  std::mutex mutex;
  const auto come = [&] {
    absl::StatusOr<std::unique_ptr<GradientSync>> sync =
        GradientSync::Connect(WorldOf(1, 2, port), Options(kForever));
    const std::lock_guard lock(mutex);
    if (sync.ok() && member == nullptr) {
      member = *std::move(sync);
      return;
    }
    EXPECT_THAT(sync,
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another process came as rank 1")));
  };
  std::thread one(come), other(come);
  const absl::StatusOr<std::unique_ptr<GradientSync>> first =
      GradientSync::Connect(WorldOf(0, 2, port), Options(kForever));
  EXPECT_THAT(first, IsOk());
  one.join();
  other.join();
  EXPECT_NE(member, nullptr);
}

TEST(StoreRendezvous, ANameThatDoesNotResolveIsSaidInOneLine) {
  World world = WorldOf(0, 2, FreePort());
  world.master_address = "no such host";
  EXPECT_THAT(GradientSync::Connect(world, Options(kForever)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("at no such host:"), HasSubstr("the name does not resolve"))));
}

}  // namespace
}  // namespace packtrain::trainer
