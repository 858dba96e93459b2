// A whole server: stores, services, port.
//
//   ServerOptions options;
//   options.data = "/srv/packtrain";
//   ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server, Server::Start(options));
//   AwaitSignal();
//   const bool all_ended = server->Drain(std::chrono::seconds(30));
#ifndef PACKTRAIN_SERVER_NODE_SERVER_H_
#define PACKTRAIN_SERVER_NODE_SERVER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/limits/memory_budget.h"
#include "server/metrics/server_reading.h"
#include "server/metrics/step_durations.h"
#include "server/node/server_options.h"
#include "server/node/store_check.h"
#include "server/runs/run_store.h"
#include "server/storage/graph_store.h"

namespace packtrain::node {

// The stores that a server serves. They are closed when the server is destroyed.
struct Stores {
  std::unique_ptr<storage::GraphStore> graphs;
  std::unique_ptr<runs::RunStore> runs;
  // What the stores count, for scrapes, and what checks them; each may be missing.
  std::shared_ptr<const metrics::StepDurations> steps = nullptr;
  std::function<std::vector<metrics::DatabaseReading>()> databases = nullptr;
  StoreCheck check = nullptr;
  // As storage::SealedList::Watch; may be missing.
  std::function<void(std::function<void(bool any_lost)> watcher)> watch_lost = nullptr;
  // From which they take the sizes of open data sets, and the server all else; null: the server makes one.
  std::shared_ptr<limits::MemoryBudget> memory = nullptr;
  // What they have on the disk beside what is served; may be missing.
  std::function<metrics::DiskReading()> disk = nullptr;
};

// Started, drained and destroyed by one thread; calls are served on threads of the server's own.
class Server {
 public:
  // Opens the stores and listens; serves from then on. INVALID_ARGUMENT: an option is out of range, or the
  // address is not a local one and `insecure` is not set. FAILED_PRECONDITION: the stores are in use by
  // another process, or nothing can listen on an address; the message says why.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  // The same on stores that are open. `options.data` is not used.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options, Stores stores);

  // Cuts off the calls that are open. Call Drain before, so that they can end.
  virtual ~Server() = default;

  // The address that clients connect to, with the port that was taken.
  virtual const std::string& address() const = 0;
  // HOST:PORT where scrapes are answered; empty if they are not.
  virtual const std::string& metrics_address() const = 0;

  // Reports NOT_SERVING and begins no stream, import or seal. Each stream finishes the batch that it is sending
  // and ends with UNAVAILABLE, so that clients reconnect elsewhere or later; an import ends in the same way
  // with its next message. Then waits for the other calls in flight, and stops. Calls that have not ended after
  // `patience` are cut off, except for a plan, a seal or a deletion under way, which is waited for. False if a
  // call was cut off.
  virtual bool Drain(std::chrono::milliseconds patience) = 0;
};

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_SERVER_H_
