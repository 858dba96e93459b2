#include "trainer/ranks/store_address.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/TCPStoreBackend.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Between two attempts, and between two looks at a request to stop.
constexpr milliseconds kPollInterval{100};
// After which a new connection is begun: long enough for networks that lose a packet of it or two.
constexpr milliseconds kConnectTimeout{5'000};
// After which a silent listener is asked again on a new connection.
constexpr milliseconds kAnswerTimeout{10'000};

constexpr std::uint32_t kNonce = 0x7ac4'7a1e;

// Returns when `fd` has one of `events`. DEADLINE_EXCEEDED; CANCELLED: asked to stop.
absl::Status AwaitEvent(int fd, short events, MeetDeadline deadline, const std::stop_token& stop) {
  pollfd wait{.fd = fd, .events = events, .revents = 0};
  while (poll(&wait, 1, static_cast<int>(std::min(kPollInterval, TimeUntil(deadline)).count())) <= 0) {
    if (stop.stop_requested()) return absl::CancelledError("asked to stop");
    if (Clock::now() >= deadline) return absl::DeadlineExceededError("no answer");
  }
  return absl::OkStatus();
}

absl::Status NotThere(int error) {
  return absl::UnavailableError(absl::StrCat("rank 0 is not there: ", std::strerror(error)));
}

// A connection in the making; closed with its owner.
class Connection {
 public:
  explicit Connection(const addrinfo& address)
      : fd_(socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    error_ = fd_ >= 0 && connect(fd_, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  }
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }

  // Returns once it stands. UNAVAILABLE: it cannot be made, or not by `deadline`. CANCELLED: asked to stop.
  absl::Status Await(MeetDeadline deadline, const std::stop_token& stop) const {
    if (error_ == 0) return absl::OkStatus();
    if (error_ != EINPROGRESS) return NotThere(error_);
    const absl::Status made = AwaitEvent(fd_, POLLOUT, deadline, stop);
    if (absl::IsDeadlineExceeded(made)) return NotThere(ETIMEDOUT);
    ABSL_RETURN_IF_ERROR(made);
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    return error == 0 ? absl::OkStatus() : NotThere(error);
  }

 private:
  const int fd_;
  int error_;
};

void Append(std::uint32_t number, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// What a client of the store sends first: that it is one, and a number that the store sends back.
std::string Greeting() {
  std::string bytes(1, static_cast<char>(c10d::detail::QueryType::VALIDATE));
  Append(c10d::detail::validationMagicNumber, bytes);
  bytes.push_back(static_cast<char>(c10d::detail::QueryType::PING));
  Append(kNonce, bytes);
  return bytes;
}

std::string ExpectedAnswer() {
  std::string bytes;
  Append(kNonce, bytes);
  return bytes;
}

std::string OtherService(std::string_view what) {
  return absl::StrCat("another service listens there: it ", std::string(what));
}

// FAILED_PRECONDITION: what came is not the answer of a store.
absl::Status CheckAnswer(std::string_view answer) {
  if (answer == ExpectedAnswer()) return absl::OkStatus();
  const std::string what =
      answer.empty()
          ? "closes the connection"
          : absl::StrCat("answers '", absl::CHexEscape(absl::string_view(answer.data(), answer.size())), "'");
  return absl::FailedPreconditionError(OtherService(what));
}

// What comes first, up to 48 bytes; empty: the end. DEADLINE_EXCEEDED: nothing comes.
absl::StatusOr<std::string> Receive(int fd, Clock::time_point deadline, const std::stop_token& stop) {
  ABSL_RETURN_IF_ERROR(AwaitEvent(fd, POLLIN, deadline, stop));
  std::array<char, 48> bytes{};
  const ssize_t size = recv(fd, bytes.data(), bytes.size(), 0);
  return std::string(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

// UNAVAILABLE: nobody listens at `address`; says why. DEADLINE_EXCEEDED: who listens does not answer.
// FAILED_PRECONDITION: it answers as no store does. CANCELLED: asked to stop. Takes at most `limit` for the
// connection, and as much for the answer.
absl::Status AskStore(const addrinfo& address, milliseconds limit, const Meeting& meeting) {
  const auto within = [&](milliseconds timeout) {
    return std::min(meeting.deadline(), Clock::now() + std::min(timeout, limit));
  };
  const Connection connection(address);
  ABSL_RETURN_IF_ERROR(connection.Await(within(kConnectTimeout), meeting.stop()));
  const std::string greeting = Greeting();
  if (send(connection.fd(), greeting.data(), greeting.size(), MSG_NOSIGNAL) < 0) return CheckAnswer("");
  const absl::StatusOr<std::string> answer = Receive(connection.fd(), within(kAnswerTimeout), meeting.stop());
  if (absl::IsDeadlineExceeded(answer.status()))
    return absl::DeadlineExceededError(OtherService("does not answer"));
  ABSL_RETURN_IF_ERROR(answer.status());
  return CheckAnswer(*answer);
}

// Of a list of addresses; at least 1.
int Count(const addrinfo* address) {
  int count = 1;
  while ((address = address->ai_next) != nullptr) ++count;
  return count;
}

}  // namespace

absl::StatusOr<StoreAddress> StoreAddress::LookUp(const World& world) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = absl::StrCat(world.master_port);
  const int error = getaddrinfo(world.master_address.c_str(), port.c_str(), &hints, &found);
  if (error == 0) return StoreAddress(Addresses(found, freeaddrinfo));
  return absl::InvalidArgumentError(absl::StrCat("the name does not resolve: ", gai_strerror(error)));
}

absl::StatusOr<StoreAddress> StoreAddress::Resolve(const World& world, milliseconds timeout,
                                                   const Meeting& meeting) {
  const MeetDeadline end = std::min(meeting.deadline(), Clock::now() + timeout);
  while (true) {
    absl::StatusOr<StoreAddress> address = LookUp(world);
    if (address.ok() || Clock::now() >= end) return address;
    ABSL_RETURN_IF_ERROR(Pause(kPollInterval, meeting.stop()));
  }
}

// An address that swallows what is sent to it leaves the others a part of the time. The last question may have
// had no time for an answer, so one that came before is what is told.
absl::Status StoreAddress::AwaitStore(const Meeting& meeting) const {
  const int addresses = Count(addresses_.get());
  absl::Status told;
  while (true) {
    const milliseconds limit = TimeUntil(meeting.deadline()) / addresses;
    for (const addrinfo* address = addresses_.get(); address != nullptr; address = address->ai_next) {
      const absl::Status status = AskStore(*address, limit, meeting);
      if (status.ok() || absl::IsCancelled(status)) return status;
      if (absl::IsFailedPrecondition(status) || !absl::IsFailedPrecondition(told)) told = status;
    }
    if (Clock::now() >= meeting.deadline()) return absl::DeadlineExceededError(told.message());
    ABSL_RETURN_IF_ERROR(Pause(kPollInterval, meeting.stop()));
  }
}

}  // namespace packtrain::trainer
