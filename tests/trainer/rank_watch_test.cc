#include "trainer/ranks/rank_watch.h"

#include <gmock/gmock.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <latch>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/testing/status_matchers.h"
#include "trainer/ranks/heartbeats.h"
#include "trainer/ranks/peer_status.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

using Store = c10::intrusive_ptr<c10d::Store>;

constexpr seconds kTimeout{10};

World RankOf(std::uint32_t rank, std::uint32_t size) {
  World world;
  world.rank = rank;
  world.size = size;
  return world;
}

// Ranks on one store, at moments that the test makes up.
class HeartbeatsTest : public ::testing::Test {
 protected:
  Heartbeats Rank(std::uint32_t rank) const {
    return {store_, RankOf(rank, 3), {.timeout = kTimeout, .peer_timeout = milliseconds(1)}, begin_};
  }
  PeerStatus PeerStatusOf(std::uint32_t rank) const { return {store_, RankOf(rank, 3), milliseconds(1)}; }

  const Heartbeats::TimePoint begin_ = Heartbeats::TimePoint() + hours(1);
  const Store store_ = c10::make_intrusive<c10d::HashStore>();
};

TEST_F(HeartbeatsTest, ARankThatStopsIsNamed) {
  Heartbeats zero = Rank(0), one = Rank(1), two = Rank(2);
  for (Heartbeats* rank : {&zero, &one, &two}) ASSERT_THAT(rank->Beat(begin_), IsOk());
  for (Heartbeats* rank : {&zero, &two, &zero}) ASSERT_THAT(rank->Beat(begin_ + kTimeout), IsOk());
  const Heartbeats::TimePoint late = begin_ + 2 * kTimeout + milliseconds(1);
  ASSERT_THAT(two.Beat(late - kTimeout), StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 1 is gone")));
  EXPECT_THAT(zero.Beat(late), StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 1 is gone")))
      << "which rank 2 has left for";
}

TEST_F(HeartbeatsTest, ARankThatNeverBeganIsNamed) {
  Heartbeats zero = Rank(0), one = Rank(1);
  ASSERT_THAT(one.Beat(begin_ + kTimeout), IsOk());
  EXPECT_THAT(zero.Beat(begin_ + kTimeout + milliseconds(1)),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 2 is gone")));
}

TEST_F(HeartbeatsTest, ARankThatLeavesIsQuoted) {
  Heartbeats zero = Rank(0);
  ASSERT_THAT(PeerStatusOf(1).Leave("the disk is full"), IsOk());
  ASSERT_THAT(PeerStatusOf(2).Leave(""), IsOk());
  EXPECT_THAT(zero.Beat(begin_), StatusIs(absl::StatusCode::kAborted, "rank 1 failed: the disk is full"));
}

TEST_F(HeartbeatsTest, ARankThatHasEndedIsNotMissed) {
  Heartbeats zero = Rank(0), one = Rank(1), two = Rank(2);
  for (Heartbeats* rank : {&zero, &one, &two}) ASSERT_THAT(rank->Beat(begin_), IsOk());
  ASSERT_THAT(zero.Beat(begin_), IsOk());
  one.End();
  two.End();
  EXPECT_THAT(zero.Beat(begin_ + hours(1)), IsOk());
  zero.End();
}

TEST_F(HeartbeatsTest, TheFirstWordStays) {
  ASSERT_THAT(PeerStatusOf(1).Leave("the disk is full"), IsOk());
  ASSERT_THAT(PeerStatusOf(1).Leave(""), IsOk());
  ASSERT_THAT(PeerStatusOf(2).Leave(""), IsOk());
  EXPECT_THAT(PeerStatusOf(0).AwaitOthers(),
              StatusIs(absl::StatusCode::kAborted, "rank 1 failed: the disk is full"));
}

TEST_F(HeartbeatsTest, RanksThatOnlyMetAFailureSayWhichOne) {
  for (const std::uint32_t rank : {1, 2}) ASSERT_THAT(PeerStatusOf(rank).Leave(""), IsOk());
  EXPECT_THAT(PeerStatusOf(0).Diagnose("timed out"),
              StatusIs(absl::StatusCode::kAborted, "the ranks lost each other: timed out"));
}

c10d::TCPStoreOptions ServerOptions() {
  c10d::TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  return options;
}

TEST(Heartbeats, WithoutItsStoreRankZeroIsGone) {
  std::optional<c10d::TCPStore> server(std::in_place, "127.0.0.1", ServerOptions());
  Heartbeats one(server->clone(), RankOf(1, 2), {.timeout = kTimeout, .peer_timeout = milliseconds(1)}, {});
  ASSERT_THAT(one.Beat({}), IsOk());
  server.reset();
  EXPECT_THAT(one.Beat({}), StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 0 is gone")));
}

// Patient enough for any machine, where `timeout` and `grace` are not what the test is about.
WatchOptions Options(milliseconds timeout = seconds(60), milliseconds grace = seconds(60)) {
  return {.period = milliseconds(1), .timeout = timeout, .peer_timeout = milliseconds(100), .grace = grace};
}

void MustNotEnd(const absl::Status& status) { ADD_FAILURE() << status; }
void MustNotAbort() { ADD_FAILURE() << "nobody is lost"; }

TEST(RankWatch, AbortsWhatWaitsForARankThatIsGone) {
  std::latch aborted{1};
  const RankWatch zero(c10::make_intrusive<c10d::HashStore>(), RankOf(0, 2), Options(milliseconds(20)),
                       {.abort = [&] { aborted.count_down(); }, .end_process = MustNotEnd});
  aborted.wait();
  EXPECT_THAT(zero.status(), StatusIs(absl::StatusCode::kAborted, "rank 1 is gone or does not answer"));
}

TEST(RankWatch, AbortsWhatWaitsInARankThatGoes) {
  std::latch aborted{1};
  const Store store = c10::make_intrusive<c10d::HashStore>();
  RankWatch zero(store, RankOf(0, 2), Options(),
                 {.abort = [&] { aborted.count_down(); }, .end_process = MustNotEnd});
  zero.Abandon(absl::InternalError("the disk is full"));
  aborted.wait();
  EXPECT_THAT(zero.status(), StatusIs(absl::StatusCode::kInternal, "the disk is full"));
  EXPECT_FALSE(PeerStatus(store, RankOf(1, 2), milliseconds(1)).HasLeft(0));
}

TEST(RankWatch, EndsAProcessThatDoesNotComeBack) {
  std::latch ended{1};
  absl::Status reason;
  const RankWatch zero(c10::make_intrusive<c10d::HashStore>(), RankOf(0, 2),
                       Options(milliseconds(20), milliseconds(20)),
                       {.abort = [&] { ended.wait(); },
                        .end_process =
                            [&](const absl::Status& status) {
                              reason = status;
                              ended.count_down();
                            }});
  ended.wait();
  EXPECT_THAT(reason, StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 1 is gone or does not answer; ")));
}

// As a store whose process has been stopped.
class SilentStore final : public c10d::HashStore {
 public:
  ~SilentStore() override = default;
  std::int64_t add(const std::string&, std::int64_t) override {
    answered.wait();
    throw std::runtime_error("too late");
  }
  std::latch answered{1};
};

TEST(RankWatch, AStoreThatDoesNotAnswerIsThatOfARankThatIsGone) {
  std::latch aborted{1};
  const auto store = c10::make_intrusive<SilentStore>();
  const RankWatch one(store, RankOf(1, 2), Options(milliseconds(20)),
                      {.abort = [&] { aborted.count_down(); }, .end_process = MustNotEnd});
  aborted.wait();
  EXPECT_THAT(one.status(), StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 0 is gone")));
  store->answered.count_down();
}

TEST(RankWatch, AnOrderlyEndIsNoLoss) {
  c10d::TCPStore server("127.0.0.1", ServerOptions());
  const WatchActions none{.abort = MustNotAbort, .end_process = MustNotEnd};
  std::optional<RankWatch> zero(std::in_place, server.clone(), RankOf(0, 2), Options(), none);
  std::optional<RankWatch> one(std::in_place, server.clone(), RankOf(1, 2), Options(), none);
  server.wait({"beats/0", "beats/1"});
  std::thread end_of_zero([&] { zero.reset(); });
  server.wait({"ended/0"});
  EXPECT_THAT(one->status(), IsOk());
  one.reset();
  end_of_zero.join();
}

}  // namespace
}  // namespace packtrain::trainer
