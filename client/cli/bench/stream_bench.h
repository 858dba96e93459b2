// Measures how fast batches come, and how fast bare bytes do.
#ifndef PACKTRAIN_CLIENT_CLI_BENCH_STREAM_BENCH_H_
#define PACKTRAIN_CLIENT_CLI_BENCH_STREAM_BENCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/connection.h"
#include "proto/wire/batch_spec.h"

namespace packtrain::cli {

struct StreamBenchOptions {
  client::ConnectionOptions connection;
  std::string dataset;
  wire::BatchSpec spec;
  std::uint64_t first_epoch = 0;
  std::uint32_t clients = 1;
  // The clients are the ranks of one epoch; otherwise each reads the whole of it.
  bool shared_epoch = false;
  // Fills padded tensors from each batch before it counts.
  bool expand = true;
  // Time that batches are measured, and bare bytes again.
  double seconds = 5;
  // Measures bare bytes, too.
  bool raw = true;
};

// A bare stream of messages of the same sizes, in its fastest setting.
struct RawRate {
  double bytes_per_second = 0;
  std::string setting;
};

// Rates add up over the clients; empty batches count nowhere.
struct StreamBenchResult {
  std::string dataset;  // NAME@VERSION
  double seconds = 0;
  double graphs_per_second = 0;
  double bytes_per_second = 0;  // of bodies
  std::uint64_t batches = 0;
  std::uint64_t graphs = 0;
  std::uint64_t crc_checked = 0;  // checks of bodies against their CRC32C that these batches took
  std::uint64_t passes = 0;       // completed, each of distinct graphs, those of the warm-up too
  double mean_batch_bytes = 0;
  std::uint64_t max_batch_bytes = 0;
  std::optional<RawRate> raw;
  // How long the server took to plan the first epoch when it was planned, which is before the streams open.
  double plan_seconds = 0;
  // From asking for a stream to having its first batch, the slowest client's. The epoch is planned already,
  // unless the plan is larger than what the server keeps.
  double first_batch_seconds = 0;
  std::uint64_t server_rss_bytes = 0;
  bool resident = false;  // the server holds this data set's bytes, or more, in memory
};

// Batches first, then bytes in each setting, and that several times over in the same run. FAILED_PRECONDITION:
// bytes are asked for and the server was started without --enable-bench. DATA_LOSS: a batch came damaged, or a
// graph twice in a pass. Other codes are the server's.
absl::StatusOr<StreamBenchResult> MeasureStream(const StreamBenchOptions& options);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_BENCH_STREAM_BENCH_H_
