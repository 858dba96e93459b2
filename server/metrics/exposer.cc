#include "server/metrics/exposer.h"

#include <netdb.h>
#include <netinet/in.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/metrics/families.h"

namespace packtrain::metrics {
namespace {

// A scraper comes every few seconds; a second one, or a person, may come at the same time.
constexpr char kThreads[] = "2";
// Time after which a silent connection is closed. While such connections hold both threads, scrapes wait.
constexpr char kPatienceMs[] = "2000";

std::string HostPort(const std::string& host, int port) { return absl::StrCat(host, ":", port); }

absl::Status CannotListen(const std::string& address, std::string_view reason) {
  return absl::FailedPreconditionError(absl::StrCat("cannot listen on ", address,
                                                    " for scrapes: ", std::string(reason),
                                                    "; choose another address with --metrics-port"));
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::StatusOr<AddressList> Resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;  // Debian builds civetweb, the HTTP server, without IPv6
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return CannotListen(HostPort(host, port), gai_strerror(error));
  return AddressList(found, &freeaddrinfo);
}

// The address in the form that the HTTP server takes.
std::string NumbersOf(const addrinfo& address) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  getnameinfo(address.ai_addr, address.ai_addrlen, host.data(), host.size(), port.data(), port.size(),
              NI_NUMERICHOST | NI_NUMERICSERV);
  return HostPort(host.data(), std::atoi(port.data()));
}

sockaddr_in WithPort(const addrinfo& address, std::uint16_t port) {
  sockaddr_in copy = *reinterpret_cast<const sockaddr_in*>(address.ai_addr);
  copy.sin_port = htons(port);
  return copy;
}

// Finds out why nothing can listen there, which the HTTP server does not tell.
std::string WhyNot(const addrinfo& address) {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return std::strerror(errno);
  const int on = 1;
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool free = bind(probe, address.ai_addr, address.ai_addrlen) == 0 && listen(probe, 1) == 0;
  std::string reason = free ? "the HTTP server did not start" : std::strerror(errno);
  close(probe);
  return reason;
}

class Scrape final : public prometheus::Collectable {
 public:
  explicit Scrape(std::function<ServerReading()> read) : read_(std::move(read)) {}
  std::vector<prometheus::MetricFamily> Collect() const override { return ToFamilies(read_()); }

 private:
  const std::function<ServerReading()> read_;
};

// Connects to `address` every 10 ms until it is stopped.
class Knocking {
 public:
  explicit Knocking(const sockaddr_in& address)
      : thread_([address](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any stopped;
          std::unique_lock<std::mutex> lock(mutex);
          while (!stop.stop_requested()) {
            Knock(address);
            stopped.wait_for(lock, stop, std::chrono::milliseconds(10),
                             [&stop] { return stop.stop_requested(); });
          }
        }) {}

 private:
  static void Knock(const sockaddr_in& address) {
    const int knock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)connect(knock, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    close(knock);
  }

  std::jthread thread_;
};

class HttpExposer final : public Exposer {
 public:
  // Throws as prometheus::Exposer does.
  HttpExposer(const std::string& host, const addrinfo& listen)
      : exposer_(std::in_place, std::vector<std::string>{"listening_ports", NumbersOf(listen), "num_threads",
                                                         kThreads, "request_timeout_ms", kPatienceMs}),
        port_(static_cast<std::uint16_t>(exposer_->GetListeningPorts().at(0))),
        address_(HostPort(host, port_)),
        listen_(WithPort(listen, port_)) {}

  ~HttpExposer() override {
    // The HTTP server checks whether it is to stop when somebody connects, and otherwise every two seconds.
    const Knocking knocking(listen_);
    exposer_.reset();
  }

  const std::string& address() const override { return address_; }
  void Serve(std::function<ServerReading()> read) override {
    scrape_ = std::make_shared<Scrape>(std::move(read));
    exposer_->RegisterCollectable(scrape_);
  }

 private:
  std::shared_ptr<Scrape> scrape_;  // destroyed when no scrape uses it any more
  std::optional<prometheus::Exposer> exposer_;
  const std::uint16_t port_;
  const std::string address_;
  const sockaddr_in listen_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Exposer>> Exposer::Start(const std::string& host, std::uint16_t port) {
  ABSL_ASSIGN_OR_RETURN(const AddressList resolved, Resolve(host, port));
  const addrinfo& first = *resolved;
  try {
    return std::make_unique<HttpExposer>(host, first);
  } catch (const std::exception&) {  // the HTTP server's only way to say that it could not start
    return CannotListen(HostPort(host, port), WhyNot(first));
  }
}

}  // namespace packtrain::metrics
