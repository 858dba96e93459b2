// A whole server: stores, services, port.
#ifndef PACKTRAIN_SERVER_NODE_SERVER_H_
#define PACKTRAIN_SERVER_NODE_SERVER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/metrics/server_reading.h"
#include "server/metrics/step_durations.h"
#include "server/node/server_options.h"
#include "server/runs/run_store.h"
#include "server/serving/store_check.h"
#include "server/storage/graph_store.h"

namespace packtrain::node {

// What a server serves. Closed when the server is gone.
struct Stores {
  std::unique_ptr<storage::GraphStore> graphs;
  std::unique_ptr<runs::RunStore> runs;
  // What the stores count, for scrapes, and what reads them whole; each may be missing.
  std::shared_ptr<const metrics::StepDurations> steps = nullptr;
  std::function<std::vector<metrics::DatabaseReading>()> databases = nullptr;
  serving::StoreCheck check = nullptr;
};

// Start, Drain and destruction by one thread; the calls it serves run on threads of its own.
class Server {
 public:
  // Opens the stores and listens; serves from then on. INVALID_ARGUMENT: an option is out of range, or the
  // address is not a local one and `insecure` is not set. FAILED_PRECONDITION: the stores are in use by
  // another process, or nothing can listen on an address; the message says why.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  // The same on stores that are open. `options.data` is not used.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options, Stores stores);

  // Cuts off what is open; Drain first to be gentle.
  virtual ~Server() = default;

  // Where it listens, with the port that was taken: what a client connects to.
  virtual const std::string& address() const = 0;
  // HOST:PORT where scrapes are answered; empty where they are not.
  virtual const std::string& metrics_address() const = 0;

  // Reports NOT_SERVING, begins no stream and no import, seals none, lets each stream finish the batch it is
  // sending and ends it with UNAVAILABLE, so that clients reconnect elsewhere or later; ends imports in the
  // same way with their next message; waits for the other calls in flight; then stops. What has not ended after
  // `patience` is cut off, save for a plan, a seal or a deletion under way, which is waited for. False where
  // something was.
  virtual bool Drain(std::chrono::milliseconds patience) = 0;
};

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_SERVER_H_
