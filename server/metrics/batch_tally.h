// Totals of the batches that were sent, by one stream and by all streams of a server.
#ifndef PACKTRAIN_SERVER_METRICS_BATCH_TALLY_H_
#define PACKTRAIN_SERVER_METRICS_BATCH_TALLY_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "proto/wire/batch_layout.h"
#include "server/metrics/histogram.h"

namespace packtrain::metrics {

// Seconds, in steps of 1, 2.5 and 5.
inline constexpr std::array<double, 19> kBuildSeconds = {1e-5,   2.5e-5, 5e-5, 1e-4,   2.5e-4, 5e-4, 1e-3,
                                                         2.5e-3, 5e-3,   1e-2, 2.5e-2, 5e-2,   0.1,  0.25,
                                                         0.5,    1,      2.5,  5,      10};
inline constexpr std::array<double, 14> kPaddingRatios = {0,   0.01, 0.02, 0.05, 0.1, 0.15, 0.2,
                                                          0.3, 0.4,  0.5,  0.6,  0.7, 0.8,  0.9};

// A plain value.
struct BatchTally {
  std::uint64_t batches = 0;
  std::uint64_t graphs = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t corrupt_graphs = 0;  // left out
  Histogram build_seconds{kBuildSeconds};
  // Of each batch, the share of its node and edge slots that is padding; 1 of an empty one.
  Histogram padding_ratio{kPaddingRatios};

  void Count(const wire::BatchHeader& batch, std::chrono::nanoseconds build_time);
  void Add(const BatchTally& other);
};

// The labels of a count of batches, as the command line names policies and data sets.
struct Series {
  std::string policy;
  std::string dataset;
  friend bool operator<(const Series& a, const Series& b) {
    return std::tie(a.policy, a.dataset) < std::tie(b.policy, b.dataset);
  }
};

// A plain value.
struct BatchTotals {
  BatchTally all;
  std::map<Series, std::uint64_t> batches;

  void Add(const Series& series, const BatchTally& tally);
  // Drops the series of all other data sets, so that there are no more series than stored data sets.
  void Keep(const std::set<std::string>& datasets);
};

}  // namespace packtrain::metrics

#endif  // PACKTRAIN_SERVER_METRICS_BATCH_TALLY_H_
