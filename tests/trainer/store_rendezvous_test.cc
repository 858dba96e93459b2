#include "trainer/ranks/store_rendezvous.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"
#include "tests/trainer/two_ranks.h"
#include "trainer/ranks/gradient_sync.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::Eventually;
using packtrain::testing::FreePort;
using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// Longer than any test may last.
constexpr std::chrono::hours kForever{1};
// Longer than what a test waits for takes; after it, a test that fails ends.
constexpr std::chrono::seconds kLong{60};

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

// What a service sends on a connection; empty: nothing.
using Answer = std::function<std::string(int connection)>;

Answer Always(const std::string& answer) {
  return [answer](int) { return answer; };
}

// Listens on a port and answers each connection.
class OtherService {
 public:
  explicit OtherService(Answer answer)
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
      const std::string answer = answer_(connection);
      if (answer.empty()) continue;
      EXPECT_GT(send(connection, answer.data(), answer.size(), MSG_NOSIGNAL), 0);
    }
  }

  const Answer answer_;
  const int fd_;
  const std::uint16_t port_ = static_cast<std::uint16_t>(Listen());
  std::vector<int> connections_;  // of the serving thread, until it has ended
  std::thread serving_;           // last: it uses all of the above
};

TEST(StoreRendezvous, ASilentListenerInPlaceOfRankZeroIsSaidToBeAnotherService) {
  const OtherService silent(Always(""));
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, silent.port()), Options(std::chrono::milliseconds(300))),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       AllOf(HasSubstr("another service listens there: it does not answer"),
                             ContainsRegex("; after [0-9]+\\.[0-9] s \\(--meet-timeout 0\\.3 s\\)$"))));
}

// A store that answers the first who asks, as those do that look whether it is one, and nobody else.
Answer OnlyTheFirst() {
  return [asked = false](int connection) mutable -> std::string {
    if (std::exchange(asked, true)) return "";
    std::array<char, 10> greeting{};  // it ends with the number that is sent back
    EXPECT_EQ(recv(connection, greeting.data(), greeting.size(), MSG_WAITALL), ssize_t{greeting.size()});
    return std::string(greeting.end() - 4, greeting.end());
  };
}

TEST(StoreRendezvous, AStoreThatFallsSilentIsNotWaitedForBeyondTheTime) {
  const OtherService store(OnlyTheFirst());
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, store.port()), Options(std::chrono::milliseconds(300))),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("it still waits for the store of rank 0; after ")));
}

// A port whose listener has a full queue, so that connections to it stay in the making.
class FullListener {
 public:
  FullListener() : fd_(socket(AF_INET, SOCK_STREAM, 0)), queued_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd_, 0), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    EXPECT_EQ(connect(queued_, reinterpret_cast<sockaddr*>(&address), size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~FullListener() {
    close(queued_);
    close(fd_);
  }

  std::uint16_t port() const { return port_; }

  // Whether a connection in the making has sent its first packet a second time.
  bool WasAskedAgain() const {
    const std::string to_port = absl::StrFormat(":%04X", port_);
    std::ifstream connections("/proc/net/tcp");
    std::string slot, from, to, state, queues, timer, retransmits, rest;
    while (connections >> slot >> from >> to >> state >> queues >> timer >> retransmits) {
      std::getline(connections, rest);
      const bool in_the_making = to.ends_with(to_port) && state == "02";
      if (in_the_making && retransmits != "00000000") return true;
    }
    return false;
  }

 private:
  const int fd_, queued_;
  std::uint16_t port_ = 0;
};

TEST(StoreRendezvous, AConnectionThatTakesLongIsWaitedForUntilARequestToStop) {
  const FullListener slow;
  std::stop_source stop;
  std::thread asking([&] {
    EXPECT_TRUE(Eventually([&slow] { return slow.WasAskedAgain(); }));
    stop.request_stop();
  });
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, slow.port()), Options(kForever, stop.get_token())),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("asked to stop")));
  asking.join();
}

// Rank 0 of a world of two, as far as the ranks have joined: it takes no part in what follows.
class RankZeroThatOnlyJoins {
 public:
  std::uint16_t port() const { return port_; }

  // Returns when rank 1 has joined and goes on with Gloo, which then waits for rank 0.
  void AwaitRankOneInGloo() {
    store_->set("rendezvous/size", "2");
    store_->wait({"rendezvous/joined/1"});
    store_->set("rendezvous/members", "zero\n" + store_->get_to_str("rendezvous/joined/1"));
    const std::int64_t joined = store_->getNumKeys();
    EXPECT_TRUE(Eventually([&] { return store_->getNumKeys() > joined; }));
  }

 private:
  static c10d::TCPStoreOptions ServerOptions(std::uint16_t port) {
    c10d::TCPStoreOptions options;
    options.port = port;
    options.isServer = true;
    options.waitWorkers = false;
    return options;
  }

  const std::uint16_t port_ = FreePort();
  const c10::intrusive_ptr<c10d::Store> store_ =
      c10::make_intrusive<c10d::TCPStore>("127.0.0.1", ServerOptions(port_));
};

TEST(StoreRendezvous, ARequestToStopEndsTheWaitForConnectionsAmongRanksThatHaveJoined) {
  RankZeroThatOnlyJoins rank_zero;
  std::stop_source stop;
  std::thread asking([&] {
    rank_zero.AwaitRankOneInGloo();
    stop.request_stop();
  });
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, rank_zero.port()), Options(kLong, stop.get_token())),
              StatusIs(absl::StatusCode::kCancelled,
                       HasSubstr("asked to stop; it still waits for connections of Gloo among the ranks")));
  asking.join();
}

TEST(StoreRendezvous, ARankThatGoesBeforeTheOthersAreConnectedIsNoMatterOfTime) {
  auto rank_zero = std::make_unique<RankZeroThatOnlyJoins>();
  const std::uint16_t port = rank_zero->port();
  std::thread going([&rank_zero] {
    rank_zero->AwaitRankOneInGloo();
    rank_zero.reset();
  });
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, port), Options(kForever)),
              StatusIs(absl::StatusCode::kAborted,
                       AllOf(HasSubstr("the wait for connections of Gloo among the ranks"),
                             ContainsRegex("; after [0-9]{1,2}\\.[0-9] s \\(--meet-timeout 3600 s\\)$"))));
  going.join();
}

TEST(StoreRendezvous, AnInterfaceThatIsNotThereIsSaidAtOnce) {
  ASSERT_EQ(setenv("GLOO_SOCKET_IFNAME", "no-such-if", /*overwrite=*/1), 0);
  EXPECT_THAT(GradientSync::Connect(WorldOf(0, 2, FreePort()), Options(kLong)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("no network for the ranks by GLOO_SOCKET_IFNAME 'no-such-if'")));
  ASSERT_EQ(unsetenv("GLOO_SOCKET_IFNAME"), 0);
}

TEST(StoreRendezvous, ARequestToStopEndsTheWaitForASilentListener) {
  const OtherService silent(Always(""));
  std::stop_source stop;
  std::thread asking([&stop] { stop.request_stop(); });
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, silent.port()), Options(kForever, stop.get_token())),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("asked to stop")));
  asking.join();
}

TEST(StoreRendezvous, AServiceOfAnotherProtocolIsSaidToBeOneWithWhatItAnswers) {
  const OtherService http(Always("HTTP/1.1 400 Bad Request\r\n\r\n"));
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, http.port()), Options(std::chrono::seconds(3))),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("another service listens there: it answers 'HTTP/1.1 400 Bad Request")));
}

TEST(StoreRendezvous, WhatAServiceHasAnsweredIsToldThoughItIsSilentThen) {
  int asked = 0;  // of the serving thread
  const OtherService http([&asked](int) { return std::string(asked++ == 0 ? "HTTP/1.1 400" : ""); });
  EXPECT_THAT(GradientSync::Connect(WorldOf(1, 2, http.port()), Options(std::chrono::seconds(1))),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("it answers 'HTTP/1.1 400'")));
}

TEST(StoreRendezvous, RankZeroSaysAtOnceThatItsPortIsTaken) {
  const OtherService other(Always(""));
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
