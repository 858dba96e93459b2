// Waits between the attempts of what is repeated as a whole, such as an import.
#ifndef PACKTRAIN_CLIENT_SERVER_WAIT_H_
#define PACKTRAIN_CLIENT_SERVER_WAIT_H_

#include <memory>

#include "absl/status/status.h"
#include "client/connection.h"

namespace packtrain::client {

// Used by one thread.
class ServerWait {
 public:
  explicit ServerWait(ConnectionOptions options);
  ~ServerWait();

  // OK once it is time for the next attempt: not before the delay that the server asked for, and not after
  // `give_up` since the first failure. Otherwise why there is none.
  absl::Status After(const absl::Status& failure);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_SERVER_WAIT_H_
