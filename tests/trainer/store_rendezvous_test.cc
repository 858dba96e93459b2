#include "trainer/ranks/store_rendezvous.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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
using ::testing::Not;

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
  options.meet_timeout = timeout;
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

// Listens on a port and answers each connection with the same bytes; without any it stays silent.
class OtherService {
 public:
  explicit OtherService(std::string answer)
      : answer_(std::move(answer)), fd_(socket(AF_INET, SOCK_STREAM, 0)), serving_([this] { Serve(); }) {}
  ~OtherService() {
    shutdown(fd_, SHUT_RDWR);
    serving_.join();
    for (const int connection : connections_) close(connection);
    close(fd_);
  }

  std::uint16_t port() const { return port_; }

 private:
  int Listen() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd_, 16), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

  void Serve() {
    for (int connection = 0; (connection = accept(fd_, nullptr, nullptr)) >= 0;) {
      connections_.push_back(connection);
      if (answer_.empty()) continue;
      EXPECT_GT(send(connection, answer_.data(), answer_.size(), MSG_NOSIGNAL), 0);
    }
  }

  const std::string answer_;
  const int fd_;
  const std::uint16_t port_ = static_cast<std::uint16_t>(Listen());
  std::vector<int> connections_;  // of the serving thread, until it has ended
  std::thread serving_;           // last: it uses all of the above
};

TEST(StoreRendezvous, ASilentListenerInPlaceOfRankZeroIsSaidToBeAnotherService) {
  const OtherService silent("");
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, silent.port()), Options(std::chrono::milliseconds(300))),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       AllOf(HasSubstr("another service listens there: it does not answer"),
                             HasSubstr("waited 0.3 s (--meet-timeout)"))));
}

TEST(StoreRendezvous, ARequestToStopEndsTheWaitForASilentListener) {
  const OtherService silent("");
  std::stop_source stop;
  std::thread asking([&stop] { stop.request_stop(); });
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, silent.port()), Options(kForever, stop.get_token())),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("asked to stop")));
  asking.join();
}

TEST(StoreRendezvous, AServiceOfAnotherProtocolIsSaidToBeOneWithWhatItAnswers) {
  const OtherService http("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, http.port()), Options(std::chrono::milliseconds(300))),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("another service listens there: it answers 'HTTP/1.1 400 Bad Request")));
}

TEST(StoreRendezvous, RankZeroSaysAtOnceThatItsPortIsTaken) {
  const OtherService other("");
  const absl::StatusOr<std::unique_ptr<GradientSync>> sync =
      GradientSync::Connect(WorldOf(0, 2, other.port()), Options(kForever));
  EXPECT_THAT(sync, StatusIs(absl::StatusCode::kFailedPrecondition,
                             HasSubstr("rank 0 cannot listen there, where another service may listen")));
  EXPECT_THAT(sync.status().message(), Not(HasSubstr("\n")));
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
