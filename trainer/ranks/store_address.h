// Where rank 0 serves the store of the rendezvous, and whether it is that store which listens there.
#ifndef PACKTRAIN_TRAINER_RANKS_STORE_ADDRESS_H_
#define PACKTRAIN_TRAINER_RANKS_STORE_ADDRESS_H_

#include <netdb.h>

#include <chrono>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/ranks/meeting.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

// Used by one thread.
class StoreAddress {
 public:
  // The world's master address. Names of hosts that have just started may come late, so that they are looked up
  // again for `timeout`, within the time of the meeting. INVALID_ARGUMENT: it does not resolve. CANCELLED:
  // asked to stop. A single look-up may take longer than either.
  static absl::StatusOr<StoreAddress> Resolve(const World& world, std::chrono::milliseconds timeout,
                                              const Meeting& meeting);

  // Returns once the store answers. Torch's client waits for the answer of whatever listens without limit, so a
  // connection of our own asks first. A network may take 5 s to make the connection, and 10 s to bring the
  // answer, where the meeting lasts as long. DEADLINE_EXCEEDED: nobody listens, or another service does; says
  // which, and what it answers. CANCELLED: asked to stop.
  absl::Status AwaitStore(const Meeting& meeting) const;

 private:
  using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

  explicit StoreAddress(Addresses addresses) : addresses_(std::move(addresses)) {}
  static absl::StatusOr<StoreAddress> LookUp(const World& world);

  Addresses addresses_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_STORE_ADDRESS_H_
