// Answers scrapes: GET /metrics in Prometheus' text format.
#ifndef PACKTRAIN_SERVER_METRICS_EXPOSER_H_
#define PACKTRAIN_SERVER_METRICS_EXPOSER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/metrics/server_reading.h"

namespace packtrain::metrics {

// Start, Serve and destruction by one thread; scrapes are answered on threads of its own.
class Exposer {
 public:
  // Listens; answers 404 until Serve. `host` is a name that has an IPv4 address, or such an address; port 0
  // takes a free one. FAILED_PRECONDITION: the address cannot be had; the message says why and names
  // --metrics-port.
  static absl::StatusOr<std::unique_ptr<Exposer>> Start(const std::string& host, std::uint16_t port);
  virtual ~Exposer() = default;

  // HOST:PORT with the port that was taken.
  virtual const std::string& address() const = 0;

  // From then on each scrape shows what `read` returns; not called once the destructor has returned.
  virtual void Serve(std::function<ServerReading()> read) = 0;
};

}  // namespace packtrain::metrics

#endif  // PACKTRAIN_SERVER_METRICS_EXPOSER_H_
