// Everything that one scrape shows, as plain values.
#ifndef PACKTRAIN_SERVER_METRICS_SERVER_READING_H_
#define PACKTRAIN_SERVER_METRICS_SERVER_READING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/metrics/batch_tally.h"
#include "server/metrics/process_reading.h"
#include "server/metrics/step_durations.h"
#include "server/rocks/database_statistics.h"

namespace packtrain::metrics {

struct StreamsReading {
  std::uint64_t open = 0;
  std::uint64_t most = 0;
  // Of batches that are built and that gRPC has not freed yet.
  std::uint64_t queue_bytes = 0;
  BatchTotals sent;
  // By the name of the status code; with those that were refused.
  std::map<std::string, std::uint64_t> ended;
};

struct MemoryPartReading {
  std::string name;
  std::uint64_t cap_bytes = 0;
  std::uint64_t used_bytes = 0;
};

struct MemoryReading {
  std::uint64_t cap_bytes = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t resident_dataset_bytes = 0;
  std::vector<MemoryPartReading> parts;
};

// Imports that broke off and are kept.
struct DiskReading {
  std::uint64_t kept_imports = 0;
  std::uint64_t kept_import_bytes = 0;
};

// Graphs above the budget in the plans of epochs, by the action that was taken.
struct OversizeTotals {
  std::uint64_t error = 0;
  std::uint64_t alone = 0;
  std::uint64_t skip = 0;
};

struct DatabaseReading {
  std::string store;  // "graphs" or "runs"
  rocks::DatabaseStatistics statistics;
};

struct ServerReading {
  std::string version;
  std::string api;
  std::uint32_t plan_version = 0;
  StreamsReading streams;
  MemoryReading memory;
  DiskReading disk;
  OversizeTotals oversize;
  std::uint64_t plans = 0;
  std::optional<std::set<std::string>> datasets;  // that are stored; nullopt where the store cannot say
  StepHistograms steps;
  std::vector<DatabaseReading> databases;
  ProcessReading process;
};

}  // namespace packtrain::metrics

#endif  // PACKTRAIN_SERVER_METRICS_SERVER_READING_H_
