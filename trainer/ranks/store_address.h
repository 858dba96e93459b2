// Where rank 0 serves the store of the rendezvous, and whether it is that store which listens there.
#ifndef PACKTRAIN_TRAINER_RANKS_STORE_ADDRESS_H_
#define PACKTRAIN_TRAINER_RANKS_STORE_ADDRESS_H_

#include <netdb.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

using MeetDeadline = std::chrono::steady_clock::time_point;

// At least 1 ms: Torch takes a timeout of zero for none.
std::chrono::milliseconds TimeUntil(MeetDeadline deadline);

// Waits for `interval`. CANCELLED: asked to stop before it was over.
absl::Status Pause(std::chrono::milliseconds interval, const std::stop_token& stop);

// Used by one thread.
class StoreAddress {
 public:
  // The world's master address. Names of hosts that have just started may come late, so that they are looked up
  // again until `options.resolve_timeout` or `deadline`. INVALID_ARGUMENT: it does not resolve. CANCELLED:
  // asked to stop.
  static absl::StatusOr<StoreAddress> Resolve(const World& world, const SyncOptions& options,
                                              MeetDeadline deadline);

  // Returns once the store answers. Torch's client waits for the answer of whatever listens without limit, so a
  // connection of our own asks first. DEADLINE_EXCEEDED: nobody listens, or another service does; says which,
  // and what it answers. CANCELLED: asked to stop.
  absl::Status AwaitStore(MeetDeadline deadline, const std::stop_token& stop) const;

 private:
  using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

  explicit StoreAddress(Addresses addresses) : addresses_(std::move(addresses)) {}
  static absl::StatusOr<StoreAddress> LookUp(const World& world);

  Addresses addresses_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_STORE_ADDRESS_H_
