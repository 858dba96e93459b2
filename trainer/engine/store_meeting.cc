#include "trainer/engine/store_meeting.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trainer/engine/roll_call.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// From one look to the next. The store's own waits cannot be stopped, and write to stderr when they end in
// vain.
constexpr milliseconds kGlance{100};

constexpr char kEndedKey[] = "meeting/ended";
std::string CameKey(std::uint32_t rank) { return absl::StrCat("meeting/came/", rank); }

// CANCELLED: asked to stop before `glance` was over.
absl::Status Pause(milliseconds glance, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, glance, [] { return false; });
  return stop.stop_requested() ? absl::CancelledError("asked to stop") : absl::OkStatus();
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::StatusOr<Addresses> LookUp(const World& world) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = absl::StrCat(world.master_port);
  const int error = getaddrinfo(world.master_address.c_str(), port.c_str(), &hints, &found);
  if (error == 0) return Addresses(found, freeaddrinfo);
  return absl::InvalidArgumentError(absl::StrCat("the name does not resolve: ", gai_strerror(error)));
}

// Names of hosts that have just started may come late.
absl::StatusOr<Addresses> Resolve(const World& world, const SyncOptions& options) {
  const Clock::time_point deadline = Clock::now() + std::min(options.name_patience, options.timeout);
  while (true) {
    absl::StatusOr<Addresses> addresses = LookUp(world);
    if (addresses.ok() || Clock::now() >= deadline) return addresses;
    if (absl::Status status = Pause(kGlance, options.stop); !status.ok()) return status;
  }
}

// Of a connection that was begun; 0: it stands.
int ConnectionError(int fd) {
  pollfd wait{.fd = fd, .events = POLLOUT, .revents = 0};
  if (poll(&wait, 1, static_cast<int>(kGlance.count())) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

// The error of a connection to `address`, made and closed; 0: somebody listens there.
int Probe(const addrinfo& address) {
  const int fd = socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  int error = connect(fd, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = ConnectionError(fd);
  close(fd);
  return error;
}

int ProbeAll(const addrinfo* addresses) {
  int error = 0;
  for (const addrinfo* address = addresses; address != nullptr; address = address->ai_next) {
    error = Probe(*address);
    if (error == 0) break;
  }
  return error;
}

absl::Status AwaitListener(const addrinfo* addresses, const SyncOptions& options, Clock::time_point deadline) {
  while (true) {
    const int error = ProbeAll(addresses);
    if (error == 0) return absl::OkStatus();
    if (Clock::now() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat("rank 0 is not there: ", std::strerror(error)));
    }
    if (absl::Status status = Pause(kGlance, options.stop); !status.ok()) return status;
  }
}

// Rank 0 reaches its own store whatever its address.
c10::intrusive_ptr<c10d::Store> OpenStore(const World& world, const SyncOptions& options) {
  c10d::TCPStoreOptions store;
  store.port = world.master_port;
  store.isServer = world.rank == 0;
  store.numWorkers = world.size;
  store.waitWorkers = false;
  store.timeout = options.timeout;
  return c10::make_intrusive<c10d::TCPStore>(world.rank == 0 ? "127.0.0.1" : world.master_address, store);
}

absl::Status Missing(c10d::Store& store, const World& world) {
  std::vector<std::string> missing;
  for (std::uint32_t rank = 0; rank < world.size; ++rank) {
    if (!store.check({CameKey(rank)})) missing.push_back(absl::StrCat("rank ", rank));
  }
  return absl::DeadlineExceededError(absl::StrCat("not there: ", absl::StrJoin(missing, ", ")));
}

absl::Status AwaitAll(c10d::Store& store, const World& world, const SyncOptions& options,
                      Clock::time_point deadline) {
  std::vector<std::string> keys;
  for (std::uint32_t rank = 0; rank < world.size; ++rank) keys.push_back(CameKey(rank));
  store.set(keys[world.rank], std::string());
  while (!store.check(keys)) {
    if (store.check({kEndedKey})) return absl::AbortedError(store.get_to_str(kEndedKey));
    if (Clock::now() >= deadline) return Missing(store, world);
    if (absl::Status status = Pause(kGlance, options.stop); !status.ok()) {
      store.set(kEndedKey, absl::StrCat("rank ", world.rank, " was asked to stop"));
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<c10::intrusive_ptr<c10d::Store>> MeetAtStore(const World& world, const SyncOptions& options) {
  const Clock::time_point deadline = Clock::now() + options.timeout;
  const absl::StatusOr<Addresses> addresses = Resolve(world, options);
  if (!addresses.ok()) return addresses.status();
  if (world.rank != 0) {
    absl::Status status = AwaitListener(addresses->get(), options, deadline);
    if (!status.ok()) return status;
  }
  c10::intrusive_ptr<c10d::Store> store = OpenStore(world, options);
  try {
    absl::Status status = AwaitAll(*store, world, options, deadline);
    if (!status.ok()) return status;
  } catch (const c10::DistNetworkError&) {
    return RankIsGone(0);
  }
  return store;
}

}  // namespace packtrain::trainer
