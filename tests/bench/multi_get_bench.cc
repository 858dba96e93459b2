// How many records a second RocksDB's MultiGet reads from the graphs of a data directory, alone: no record is
// looked at, none is copied. Opens the store for reading only, so a packtraind may run on the directory.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/table.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kKeyBytes = 16;       // storage id and graph index, 8 bytes each
constexpr std::size_t kStorageIdBytes = 8;  // of them
constexpr std::size_t kMaxKeys = 4096;

using Key = std::array<unsigned char, kKeyBytes>;  // whose order is RocksDB's
using Clock = std::chrono::steady_clock;

struct Flags {
  std::string data;
  int threads = 2;
  std::size_t keys = 127;
  double seconds = 3;
  std::size_t cache_bytes = std::size_t{256} << 20;
  bool in_order = false;
};

struct Count {
  std::uint64_t values = 0;
  std::uint64_t bytes = 0;
};

void Check(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

// A database open for reading, and its family of records.
class Store {
 public:
  Store(const std::string& folder, std::size_t cache_bytes) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(cache_bytes);
    rocksdb::ColumnFamilyOptions options;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* db = nullptr;
    Check(
        rocksdb::DB::OpenForReadOnly({}, folder, {{"graphs", options}, {"default", options}}, &families_, &db));
    db_.reset(db);
  }
  ~Store() {
    for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family);
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Of the data set with the most graphs, ascending.
  std::vector<Key> LongestRun() const {
    std::map<std::string, std::vector<Key>> runs;
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options, graphs()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const rocksdb::Slice key = it->key();
      if (key.size() != kKeyBytes) throw std::runtime_error("a key of the store has a wrong size");
      Key copy;
      std::copy_n(key.data(), kKeyBytes, copy.begin());
      runs[std::string(key.data(), kStorageIdBytes)].push_back(copy);
    }
    Check(it->status());
    std::vector<Key> longest;
    for (auto& [id, keys] : runs) {
      if (keys.size() > longest.size()) longest = std::move(keys);
    }
    if (longest.empty()) throw std::runtime_error("the store holds no graph");
    return longest;
  }

  // `keys` ascend.
  Count Read(const Key* keys, std::size_t count) const {
    thread_local std::array<rocksdb::Slice, kMaxKeys> slices;
    thread_local std::array<rocksdb::PinnableSlice, kMaxKeys> values;
    thread_local std::array<rocksdb::Status, kMaxKeys> statuses;
    for (std::size_t k = 0; k < count; ++k)
      slices[k] = {reinterpret_cast<const char*>(keys[k].data()), kKeyBytes};
    db_->MultiGet({}, graphs(), count, slices.data(), values.data(), statuses.data(), /*sorted_input=*/true);
    Count read{.values = count};
    for (std::size_t k = 0; k < count; ++k) {
      Check(statuses[k]);
      read.bytes += values[k].size();
      values[k].Reset();
    }
    return read;
  }

 private:
  rocksdb::ColumnFamilyHandle* graphs() const { return families_.front(); }

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

// Reads the epoch batch by batch until `deadline`, each thread the next batch that nobody has, again from its
// beginning where it ends; once, where there is no deadline.
class Pass {
 public:
  Pass(const Store& store, const std::vector<Key>& epoch, std::size_t batch)
      : store_(store), epoch_(epoch), batch_(batch), batches_((epoch.size() + batch - 1) / batch) {}

  Count Run(int threads, const Clock::time_point* deadline) {
    std::vector<Count> counts(threads);
    std::vector<std::thread> workers;
    for (Count& count : counts) {
      workers.emplace_back([this, &count, deadline] { count = Work(deadline); });
    }
    for (std::thread& worker : workers) worker.join();
    Count sum;
    for (const Count& count : counts) {
      sum.values += count.values;
      sum.bytes += count.bytes;
    }
    return sum;
  }

 private:
  Count Work(const Clock::time_point* deadline) {
    Count sum;
    std::vector<Key> keys;
    for (std::uint64_t batch = next_++; deadline != nullptr || batch < batches_; batch = next_++) {
      if (deadline != nullptr && Clock::now() >= *deadline) break;
      const std::size_t begin = batch % batches_ * batch_;
      keys.assign(epoch_.begin() + begin, epoch_.begin() + std::min(begin + batch_, epoch_.size()));
      std::sort(keys.begin(), keys.end());
      const Count read = store_.Read(keys.data(), keys.size());
      sum.values += read.values;
      sum.bytes += read.bytes;
    }
    return sum;
  }

  const Store& store_;
  const std::vector<Key>& epoch_;
  const std::size_t batch_;
  const std::uint64_t batches_;
  std::atomic<std::uint64_t> next_ = 0;
};

void Measure(const Flags& flags) {
  const Store store(flags.data + "/graphs/db", flags.cache_bytes);
  std::vector<Key> epoch = store.LongestRun();
  if (!flags.in_order) std::shuffle(epoch.begin(), epoch.end(), std::mt19937_64(1));
  Pass(store, epoch, flags.keys).Run(flags.threads, nullptr);  // into the cache
  const Clock::time_point start = Clock::now();
  const Clock::time_point deadline =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(flags.seconds));
  const Count count = Pass(store, epoch, flags.keys).Run(flags.threads, &deadline);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf(
      "{\"values_per_second\": %.0f, \"bytes_per_second\": %.0f, \"value_bytes\": %.1f, \"values\": %llu, "
      "\"keys\": %zu, \"threads\": %d, \"seconds\": %.3f}\n",
      count.values / seconds, count.bytes / seconds, static_cast<double>(count.bytes) / count.values,
      static_cast<unsigned long long>(count.values), flags.keys, flags.threads, seconds);
}

int Run(int argc, char** argv) {
  CLI::App app(
      "How many records a second RocksDB's MultiGet reads, alone.\n\n  multi_get_bench /srv/packtrain\n");
  Flags flags;
  app.add_option("DATA", flags.data, "Data directory of a packtraind, which may be running")->required();
  app.add_option("--threads", flags.threads, "Threads that read")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--keys", flags.keys, "Keys of one call, drawn from the data set with the most graphs")
      ->check(CLI::Range(std::size_t{1}, kMaxKeys))
      ->capture_default_str();
  app.add_option("--seconds", flags.seconds, "How long, after one pass that fills the cache")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  app.add_option("--cache-bytes", flags.cache_bytes, "Block cache")->capture_default_str();
  app.add_flag("--in-order", flags.in_order, "Keys one after the other in place of shuffled ones");
  CLI11_PARSE(app, argc, argv);
  Measure(flags);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "multi_get_bench: %s\n", error.what());
    return 1;
  }
}
