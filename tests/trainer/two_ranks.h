// Two ranks in one test.
#ifndef PACKTRAIN_TESTS_TRAINER_TWO_RANKS_H_
#define PACKTRAIN_TESTS_TRAINER_TWO_RANKS_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "tests/testing/status_matchers.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/ranks/world.h"

namespace packtrain::testing {

inline std::uint16_t FreePort() {
  const int socket_fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(socket_fd, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(socket_fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(socket_fd);
  return ntohs(address.sin_port);
}

// Two ranks of this process, each driven by a thread of its own.
template <typename RankZero, typename RankOne>
void WithTwoRanks(RankZero rank_zero, RankOne rank_one) {
  // As the trainer does: a rank may write to one that has gone.
  std::signal(SIGPIPE, SIG_IGN);
  trainer::World world;
  world.size = 2;
  world.master_port = FreePort();
  trainer::World other_world = world;
  other_world.rank = 1;
  const trainer::SyncOptions options{.timeout = std::chrono::seconds(60),
                                     .watch = {.peer_timeout = std::chrono::milliseconds(200)},
                                     .end_process = nullptr};
  std::thread other([other_world, options, rank_one] {
    absl::StatusOr<std::unique_ptr<trainer::GradientSync>> sync =
        trainer::GradientSync::Connect(other_world, options);
    ASSERT_THAT(sync, IsOk());
    rank_one(*std::move(sync));
  });
  absl::StatusOr<std::unique_ptr<trainer::GradientSync>> sync = trainer::GradientSync::Connect(world, options);
  EXPECT_THAT(sync, IsOk());
  if (sync.ok()) rank_zero(*std::move(sync));
  other.join();
}

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TRAINER_TWO_RANKS_H_
