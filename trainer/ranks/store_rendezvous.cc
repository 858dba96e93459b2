#include "trainer/ranks/store_rendezvous.h"

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <exception>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/base/random_hex.h"
#include "proto/base/status_macros.h"
#include "trainer/ranks/rank_errors.h"
#include "trainer/ranks/store_address.h"

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

// Rank 0 reaches its own store whatever its address. FAILED_PRECONDITION: it cannot serve there. ABORTED: rank
// 0 is gone.
absl::StatusOr<c10::intrusive_ptr<c10d::Store>> OpenStore(const World& world, MeetDeadline deadline) {
  const bool serves = world.rank == 0;
  c10d::TCPStoreOptions store;
  store.port = world.master_port;
  store.isServer = serves;
  store.numWorkers = world.size;
  store.waitWorkers = false;
  store.timeout = TimeUntil(deadline);
  try {
    return c10::make_intrusive<c10d::TCPStore>(serves ? "127.0.0.1" : world.master_address, store);
  } catch (const std::exception& error) {
    if (!serves) return RankIsGone(0);
    return absl::FailedPreconditionError(absl::StrCat(
        "rank 0 cannot listen there, where another service may listen (MASTER_PORT): ", FirstLine(error)));
  }
}

// The rendezvous as one process takes part in it. Each process has a token of its own. Rank 0 lists the tokens,
// and a process whose token is not in the list is none of the ranks that have met. Throws what the store
// throws. Used by one thread.
class Rendezvous {
 public:
  Rendezvous(c10d::Store& store, const World& world, const Meeting& meeting)
      : store_(store), world_(world), meeting_(meeting) {}

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
      if (Clock::now() >= meeting_.deadline()) return Missing();
      if (absl::Status status = Pause(kPollInterval, meeting_.stop()); !status.ok()) {
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
  const Meeting& meeting_;
  const std::string token_ = base::RandomHex();
};

}  // namespace

absl::StatusOr<c10::intrusive_ptr<c10d::Store>> RendezvousAtStore(const World& world,
                                                                  milliseconds resolve_timeout,
                                                                  Meeting& meeting) {
  meeting.Await("the address of rank 0's host");
  ABSL_ASSIGN_OR_RETURN(const StoreAddress address, StoreAddress::Resolve(world, resolve_timeout, meeting));
  meeting.Await("the store of rank 0");
  if (world.rank != 0) {
    ABSL_RETURN_IF_ERROR(address.AwaitStore(meeting));
  }
  ABSL_ASSIGN_OR_RETURN(c10::intrusive_ptr<c10d::Store> store, OpenStore(world, meeting.deadline()));
  meeting.Await("the other ranks at the store of rank 0");
  try {
    const absl::Status joined = Rendezvous(*store, world, meeting).Join();
    ABSL_RETURN_IF_ERROR(joined);
  } catch (const c10::DistNetworkError&) {
    return RankIsGone(0);
  }
  return store;
}

}  // namespace packtrain::trainer
