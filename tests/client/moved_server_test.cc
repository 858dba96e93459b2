// A server that moves to another address under its name is found within the time of some dials.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "client/internal/channel.h"
#include "client/internal/dialer.h"

namespace packtrain::client {
namespace {

constexpr char kBefore[] = "127.0.0.2";
constexpr char kAfter[] = "127.0.0.3";
// Much less than the 30 s that gRPC by itself lets pass between two look-ups.
constexpr std::chrono::milliseconds kTime{15'000};

// A socket of an address and a port, 0: any that is free; closed with its owner.
class BoundSocket {
 public:
  BoundSocket(int type, const char* host, std::uint16_t port) : fd_(socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    inet_pton(AF_INET, host, &name.sin_addr);
    socklen_t size = sizeof(name);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&name), size), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&name), &size);
    port_ = ntohs(name.sin_port);
  }
  ~BoundSocket() { close(fd_); }
  BoundSocket(const BoundSocket&) = delete;
  BoundSocket& operator=(const BoundSocket&) = delete;

  int fd() const { return fd_; }
  std::uint16_t port() const { return port_; }

 private:
  const int fd_;
  std::uint16_t port_ = 0;
};

// Listens, and closes each connection at once.
class Listener {
 public:
  Listener(const char* host, std::uint16_t port) : socket_(SOCK_STREAM, host, port) {
    EXPECT_EQ(listen(socket_.fd(), SOMAXCONN), 0);
  }

  std::uint16_t port() const { return socket_.port(); }

  bool IsDialledWithin(std::chrono::milliseconds time) const {
    pollfd wait = {.fd = socket_.fd(), .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, static_cast<int>(time.count())) != 1) return false;
    return close(accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC)) == 0;
  }

 private:
  const BoundSocket socket_;
};

// Answers every question for an IPv4 address with one and the same, and all others with none (RFC 1035).
class NameServer {
 public:
  explicit NameServer(const char* address)
      : address_(inet_addr(address)), socket_(SOCK_DGRAM, "127.0.0.1", 0), serving_([this] { Serve(); }) {}
  ~NameServer() {
    ending_ = true;
    serving_.join();
  }

  std::uint16_t port() const { return socket_.port(); }
  void MoveTo(const char* address) { address_ = inet_addr(address); }

 private:
  static constexpr std::size_t kHeader = 12;

  void Serve() {
    pollfd wait = {.fd = socket_.fd(), .events = POLLIN, .revents = 0};
    while (!ending_) {
      if (poll(&wait, 1, /*milliseconds=*/20) == 1) AnswerOne();
    }
  }

  void AnswerOne() {
    std::array<char, 512> question{};
    sockaddr_in from{};
    socklen_t size = sizeof(from);
    const ssize_t length =
        recvfrom(socket_.fd(), question.data(), question.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (length <= static_cast<ssize_t>(kHeader)) return;
    const std::string answer = Answer({question.data(), static_cast<std::size_t>(length)});
    sendto(socket_.fd(), answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
  }

  // The header, the question as it came, and an address of no lifetime where one was asked for.
  std::string Answer(const std::string& question) const {
    const std::size_t end = question.find('\0', kHeader) + 5;  // of the name, and its type and class
    const bool asks_for_address = question.substr(end - 4, 2) == std::string("\0\1", 2);
    std::string answer = question.substr(0, 2) + std::string("\x81\x80\0\1\0", 5);
    answer.push_back(asks_for_address ? 1 : 0);
    answer += std::string(4, '\0') + question.substr(kHeader, end - kHeader);
    if (!asks_for_address) return answer;
    answer += std::string("\xc0\x0c\0\1\0\1\0\0\0\0\0\4", 12);
    const in_addr_t address = address_;
    return answer.append(reinterpret_cast<const char*>(&address), sizeof(address));
  }

  std::atomic<in_addr_t> address_;
  std::atomic<bool> ending_ = false;
  const BoundSocket socket_;
  std::thread serving_;  // last: it uses all of the above
};

TEST(MovedServer, IsFoundAtItsNewAddress) {
  NameServer names(kBefore);
  auto before = std::make_unique<Listener>(kBefore, 0);
  const std::uint16_t port = before->port();
  const ConnectionOptions options = {.server = "dns://127.0.0.1:" + std::to_string(names.port()) +
                                               "/data-node.test:" + std::to_string(port)};
  const std::shared_ptr<grpc::Channel> channel = NewChannel(options, grpc::ChannelArguments());
  const Dialer dialer(channel);
  ASSERT_TRUE(before->IsDialledWithin(kTime));
  before.reset();
  const Listener after(kAfter, port);
  names.MoveTo(kAfter);
  EXPECT_TRUE(after.IsDialledWithin(kTime));
}

}  // namespace
}  // namespace packtrain::client
