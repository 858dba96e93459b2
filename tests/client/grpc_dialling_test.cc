// What gRPC 1.51 gets wrong on a broken channel, shown on the library alone. A failure here says that the
// installed gRPC gets it right, and that client/internal/dialer can go.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>

namespace packtrain::client {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Much more than between two attempts, and less than the five seconds between two looks of gRPC's own.
constexpr milliseconds kTime{2'000};
constexpr int kBackoffMs = 50;

// Takes connections and closes each at once.
class RudeServer {
 public:
  RudeServer() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    name_.sin_family = AF_INET;
    name_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(name_);
    EXPECT_EQ(bind(socket_, Name(), size), 0);
    listen(socket_, SOMAXCONN);
    getsockname(socket_, Name(), &size);
  }
  ~RudeServer() { close(socket_); }
  RudeServer(const RudeServer&) = delete;
  RudeServer& operator=(const RudeServer&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(ntohs(name_.sin_port)); }

  // Whether a connection came within a moment.
  bool Refuse() const {
    pollfd wait = {.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, /*milliseconds=*/10) != 1) return false;
    return close(accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)) == 0;
  }

 private:
  sockaddr* Name() { return reinterpret_cast<sockaddr*>(&name_); }

  const int socket_;
  sockaddr_in name_{};
};

// How often a channel dials in kTime, with `between` called again and again.
template <typename Between>
int Attempts(Between between) {
  const RudeServer server;
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kBackoffMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kBackoffMs);
  const std::shared_ptr<grpc::Channel> channel =
      grpc::CreateCustomChannel(server.address(), grpc::InsecureChannelCredentials(), arguments);
  int attempts = 0;
  for (const Clock::time_point end = Clock::now() + kTime; Clock::now() < end;) {
    between(*channel);
    if (server.Refuse()) ++attempts;
  }
  return attempts;
}

TEST(GrpcDialling, GoesOnWhileAThreadWaitsForTheChannel) {
  const auto wait = [](grpc::Channel& channel) {
    channel.WaitForStateChange(channel.GetState(/*try_to_connect=*/true),
                               std::chrono::system_clock::now() + milliseconds(10));
  };
  EXPECT_GT(Attempts(wait), 5);
}

TEST(GrpcDialling, StopsForSecondsWhereNobodyWaitsForTheChannel) {
  const auto look = [](grpc::Channel& channel) { channel.GetState(/*try_to_connect=*/true); };
  EXPECT_LE(Attempts(look), 2);
}

}  // namespace
}  // namespace packtrain::client
