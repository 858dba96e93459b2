// What RocksDB counts of itself, for whoever watches a server.
#ifndef PACKTRAIN_SERVER_ROCKS_DATABASE_STATISTICS_H_
#define PACKTRAIN_SERVER_ROCKS_DATABASE_STATISTICS_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace rocksdb {
class DB;
class Statistics;
}  // namespace rocksdb

namespace packtrain::rocks {

// Names are in snake_case and end in their unit, as Prometheus wants them; names and helps are constants.
struct Reading {
  const char* name;
  const char* help;
  double value;
};

// Durations in seconds. Quantiles are RocksDB's estimates since the opening.
struct Durations {
  const char* name;
  const char* help;
  std::uint64_t count;
  double sum;
  double median, p95, p99;
};

struct DatabaseStatistics {
  std::vector<Reading> counters;
  std::vector<Reading> gauges;
  std::vector<Durations> durations;
};

// To be set in a database's options; counts cost a few nanoseconds a read.
std::shared_ptr<rocksdb::Statistics> NewStatistics();

// `statistics` is null where the database was opened without: then there are gauges alone. Any thread.
DatabaseStatistics ReadStatistics(rocksdb::DB& database, const rocksdb::Statistics* statistics);

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_DATABASE_STATISTICS_H_
