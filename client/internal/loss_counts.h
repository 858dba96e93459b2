// How many records are lost, and how much of that the server knows.
#ifndef PACKTRAIN_CLIENT_INTERNAL_LOSS_COUNTS_H_
#define PACKTRAIN_CLIENT_INTERNAL_LOSS_COUNTS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "client/run_reporter.h"

namespace packtrain::client {

// A count of each rank and attempt. Not thread-safe.
class LossCounts {
 public:
  // That of its rank and attempt becomes so large; none becomes smaller.
  void Raise(const LostRecords& lost) {
    if (lost.records == 0) return;
    std::uint64_t& records = counts_[{lost.rank, lost.attempt}].records;
    records = std::max(records, lost.records);
  }

  // One that the server does not know; nullopt: it knows all.
  std::optional<LostRecords> Untold() const {
    for (const auto& [process, count] : counts_) {
      if (count.told != count.records) return LostRecords{process.first, process.second, count.records};
    }
    return std::nullopt;
  }
  // The server knows that one by now.
  void Told(const LostRecords& lost) { counts_[{lost.rank, lost.attempt}].told = lost.records; }

  // Of all ranks and attempts.
  std::uint64_t total() const {
    std::uint64_t total = 0;
    for (const auto& [process, count] : counts_) total += count.records;
    return total;
  }
  std::vector<LostRecords> all() const {
    std::vector<LostRecords> all;
    for (const auto& [process, count] : counts_) all.push_back({process.first, process.second, count.records});
    return all;
  }

 private:
  struct Count {
    std::uint64_t records = 0;
    std::uint64_t told = 0;
  };

  std::map<std::pair<std::uint32_t, std::uint32_t>, Count> counts_;  // by rank and attempt
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_LOSS_COUNTS_H_
