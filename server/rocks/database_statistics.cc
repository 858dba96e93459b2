#include "server/rocks/database_statistics.h"

#include <rocksdb/db.h>
#include <rocksdb/statistics.h>

namespace packtrain::rocks {
namespace {

constexpr double kMicrosecond = 1e-6;

struct Ticker {
  const char* name;
  const char* help;
  rocksdb::Tickers ticker;
  double unit = 1;
};

constexpr Ticker kTickers[] = {
    {"block_cache_hits_total", "Blocks found in the cache", rocksdb::BLOCK_CACHE_HIT},
    {"block_cache_misses_total", "Blocks read from files", rocksdb::BLOCK_CACHE_MISS},
    {"keys_read_total", "Keys read one by one", rocksdb::NUMBER_KEYS_READ},
    {"multiget_keys_read_total", "Keys read in batches", rocksdb::NUMBER_MULTIGET_KEYS_READ},
    {"multiget_read_bytes_total", "Bytes of values read in batches", rocksdb::NUMBER_MULTIGET_BYTES_READ},
    {"scan_read_bytes_total", "Bytes of keys and values scanned", rocksdb::ITER_BYTES_READ},
    {"keys_written_total", "Keys written", rocksdb::NUMBER_KEYS_WRITTEN},
    {"written_bytes_total", "Bytes of keys and values written", rocksdb::BYTES_WRITTEN},
    {"wal_written_bytes_total", "Bytes written to the write-ahead log", rocksdb::WAL_FILE_BYTES},
    {"wal_syncs_total", "Syncs of the write-ahead log", rocksdb::WAL_FILE_SYNCED},
    {"flush_written_bytes_total", "Bytes written by flushes", rocksdb::FLUSH_WRITE_BYTES},
    {"compaction_read_bytes_total", "Bytes read by compactions", rocksdb::COMPACT_READ_BYTES},
    {"compaction_written_bytes_total", "Bytes written by compactions", rocksdb::COMPACT_WRITE_BYTES},
    {"write_stall_seconds_total", "Time that writers were held up", rocksdb::STALL_MICROS, kMicrosecond},
    {"background_errors_total", "Failures of background work", rocksdb::ERROR_HANDLER_BG_ERROR_COUNT},
};

struct Timer {
  const char* name;
  const char* help;
  rocksdb::Histograms histogram;
};

constexpr Timer kTimers[] = {
    {"get_duration_seconds", "Reads of one key", rocksdb::DB_GET},
    {"multiget_duration_seconds", "Reads of many keys", rocksdb::DB_MULTIGET},
    {"write_duration_seconds", "Writes", rocksdb::DB_WRITE},
    {"wal_sync_duration_seconds", "Syncs of the write-ahead log", rocksdb::WAL_FILE_SYNC_MICROS},
    {"flush_duration_seconds", "Flushes", rocksdb::FLUSH_TIME},
    {"compaction_duration_seconds", "Compactions", rocksdb::COMPACTION_TIME},
};

struct Property {
  const char* name;
  const char* help;
  const std::string& property;
};

// Of all column families together.
const Property kProperties[] = {
    {"sst_file_bytes", "Bytes of live sorted files", rocksdb::DB::Properties::kLiveSstFilesSize},
    {"memtable_bytes", "Bytes of memtables", rocksdb::DB::Properties::kSizeAllMemTables},
    {"pending_compaction_bytes", "Bytes that compactions have yet to rewrite",
     rocksdb::DB::Properties::kEstimatePendingCompactionBytes},
    {"running_compactions", "Compactions under way", rocksdb::DB::Properties::kNumRunningCompactions},
    {"running_flushes", "Flushes under way", rocksdb::DB::Properties::kNumRunningFlushes},
    {"write_stopped", "Families that take no writes", rocksdb::DB::Properties::kIsWriteStopped},
};

Durations Read(const Timer& timer, const rocksdb::Statistics& statistics) {
  rocksdb::HistogramData data;
  statistics.histogramData(timer.histogram, &data);
  return {timer.name,
          timer.help,
          data.count,
          static_cast<double>(data.sum) * kMicrosecond,
          data.median * kMicrosecond,
          data.percentile95 * kMicrosecond,
          data.percentile99 * kMicrosecond};
}

}  // namespace

std::shared_ptr<rocksdb::Statistics> NewStatistics() { return rocksdb::CreateDBStatistics(); }

DatabaseStatistics ReadStatistics(rocksdb::DB& database, const rocksdb::Statistics* statistics) {
  DatabaseStatistics read;
  for (const Property& property : kProperties) {
    std::uint64_t value = 0;
    if (!database.GetAggregatedIntProperty(property.property, &value)) continue;
    read.gauges.push_back({property.name, property.help, static_cast<double>(value)});
  }
  if (statistics == nullptr) return read;
  for (const Ticker& ticker : kTickers) {
    const auto count = static_cast<double>(statistics->getTickerCount(ticker.ticker));
    read.counters.push_back({ticker.name, ticker.help, count * ticker.unit});
  }
  for (const Timer& timer : kTimers) read.durations.push_back(Read(timer, *statistics));
  return read;
}

}  // namespace packtrain::rocks
