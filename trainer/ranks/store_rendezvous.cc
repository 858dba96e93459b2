#include "trainer/ranks/store_rendezvous.h"

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
#include "absl/strings/str_split.h"
#include "proto/base/random_hex.h"
#include "proto/base/status_macros.h"
#include "trainer/ranks/rank_errors.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The time between two polls. The store's own waits cannot be stopped, and write to stderr when they time out.
constexpr milliseconds kPollInterval{100};

// Keys of the store. Rank 0 sets the world's size first, and last the tokens of all ranks, in the order of the
// ranks.
constexpr char kSizeKey[] = "rendezvous/size";
constexpr char kMembersKey[] = "rendezvous/members";
constexpr char kEndedKey[] = "rendezvous/ended";
std::string JoinedKey(std::uint32_t rank) { return absl::StrCat("rendezvous/joined/", rank); }

// Waits for `interval`. CANCELLED: asked to stop before it was over.
absl::Status Pause(milliseconds interval, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, interval, [] { return false; });
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
  const Clock::time_point deadline = Clock::now() + std::min(options.resolve_timeout, options.timeout);
  while (true) {
    absl::StatusOr<Addresses> addresses = LookUp(world);
    if (addresses.ok() || Clock::now() >= deadline) return addresses;
    ABSL_RETURN_IF_ERROR(Pause(kPollInterval, options.stop));
  }
}

// Of a connection that was begun; 0: it stands.
int ConnectionError(int fd) {
  pollfd wait{.fd = fd, .events = POLLOUT, .revents = 0};
  if (poll(&wait, 1, static_cast<int>(kPollInterval.count())) <= 0) return ETIMEDOUT;
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
    ABSL_RETURN_IF_ERROR(Pause(kPollInterval, options.stop));
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

// The rendezvous as one process takes part in it. Each process has a token of its own. Rank 0 lists the tokens,
// and a process whose token is not in the list is none of the ranks that have met. Throws what the store
// throws. Used by one thread.
class Rendezvous {
 public:
  Rendezvous(c10d::Store& store, const World& world, const SyncOptions& options, Clock::time_point deadline)
      : store_(store), world_(world), options_(options), deadline_(deadline) {}

  absl::Status Join() { return world_.rank == 0 ? Lead() : Follow(); }

 private:
  absl::Status Lead() {
    store_.set(kSizeKey, absl::StrCat(world_.size));
    store_.set(JoinedKey(0), token_);
    std::vector<std::string> keys;
    for (std::uint32_t rank = 0; rank < world_.size; ++rank) keys.push_back(JoinedKey(rank));
    ABSL_RETURN_IF_ERROR(Await(keys));
    std::vector<std::string> tokens;
    for (const std::string& key : keys) tokens.push_back(store_.get_to_str(key));
    store_.set(kMembersKey, absl::StrJoin(tokens, "\n"));
    return absl::OkStatus();
  }

  absl::Status Follow() {
    ABSL_RETURN_IF_ERROR(Await({kSizeKey}));
    ABSL_RETURN_IF_ERROR(CheckSize());
    store_.set(JoinedKey(world_.rank), token_);
    ABSL_RETURN_IF_ERROR(Await({kMembersKey}));
    const std::vector<std::string> members = absl::StrSplit(store_.get_to_str(kMembersKey), '\n');
    if (members.at(world_.rank) == token_) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("another process came as rank ", world_.rank, " (RANK), and the ranks have met"));
  }

  // A difference ends the rendezvous for all ranks.
  absl::Status CheckSize() {
    const std::string size = store_.get_to_str(kSizeKey);
    if (size == absl::StrCat(world_.size)) return absl::OkStatus();
    const std::string difference = absl::StrCat("the ranks differ in WORLD_SIZE: rank 0 has '", size,
                                                "', rank ", world_.rank, " has '", world_.size, "'");
    store_.set(kEndedKey, difference);
    return absl::FailedPreconditionError(difference);
  }

  // Returns once all of `keys` are set.
  absl::Status Await(const std::vector<std::string>& keys) {
    while (!store_.check(keys)) {
      if (store_.check({kEndedKey})) return absl::AbortedError(store_.get_to_str(kEndedKey));
      if (Clock::now() >= deadline_) return Missing();
      if (absl::Status status = Pause(kPollInterval, options_.stop); !status.ok()) {
        store_.set(kEndedKey, absl::StrCat("rank ", world_.rank, " was asked to stop"));
        return status;
      }
    }
    return absl::OkStatus();
  }

  // DEADLINE_EXCEEDED names the ranks that have not joined.
  absl::Status Missing() {
    std::vector<std::string> missing;
    for (std::uint32_t rank = 0; rank < world_.size; ++rank) {
      if (!store_.check({JoinedKey(rank)})) missing.push_back(absl::StrCat("rank ", rank));
    }
    if (missing.empty()) return RankIsGone(0);
    return absl::DeadlineExceededError(absl::StrCat("not there: ", absl::StrJoin(missing, ", ")));
  }

  c10d::Store& store_;
  const World& world_;
  const SyncOptions& options_;
  const Clock::time_point deadline_;
  const std::string token_ = base::RandomHex();
};

}  // namespace

absl::StatusOr<c10::intrusive_ptr<c10d::Store>> RendezvousAtStore(const World& world,
                                                                  const SyncOptions& options) {
  const Clock::time_point deadline = Clock::now() + options.timeout;
  ABSL_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(world, options));
  if (world.rank != 0) {
    absl::Status status = AwaitListener(addresses.get(), options, deadline);
    ABSL_RETURN_IF_ERROR(status);
  }
  c10::intrusive_ptr<c10d::Store> store = OpenStore(world, options);
  try {
    absl::Status status = Rendezvous(*store, world, options, deadline).Join();
    ABSL_RETURN_IF_ERROR(status);
  } catch (const c10::DistNetworkError&) {
    return RankIsGone(0);
  }
  return store;
}

}  // namespace packtrain::trainer
