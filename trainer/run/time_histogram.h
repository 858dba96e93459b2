// Times of any number of steps in memory of a fixed size.
#ifndef PACKTRAIN_TRAINER_RUN_TIME_HISTOGRAM_H_
#define PACKTRAIN_TRAINER_RUN_TIME_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace packtrain::trainer {

// Count and sum are exact; a quantile is off by at most kMaxRelativeError of its value, since each time is
// known by its bucket alone. Below 128 ns a bucket is one nanosecond, above it is a 128th of a power of two:
// 7,424 buckets hold every time, in 58 KiB. Used by one thread.
class TimeHistogram {
 public:
  static constexpr double kMaxRelativeError = 1.0 / 256;  // 0.4 %

  struct Bucket {
    std::uint32_t index = 0;
    std::uint64_t count = 0;
  };

  void Add(std::uint64_t ns);

  std::uint64_t count() const { return count_; }
  std::uint64_t sum_ns() const { return sum_ns_; }
  // Nanoseconds at position q (count - 1) of the sorted times, linear between neighbours, as R's type 7. NaN
  // where there is none.
  double Quantile(double q) const;

  // Those that hold anything, ascending, with sum_ns all that a histogram is made of.
  std::vector<Bucket> buckets() const;
  // False, and nothing is changed, where `buckets` are none that a histogram has.
  bool Restore(std::uint64_t sum_ns, std::span<const Bucket> buckets);

  friend bool operator==(const TimeHistogram&, const TimeHistogram&) = default;

 private:
  // Of the time at `rank` of the sorted ones; there are more than that.
  double TimeAt(std::uint64_t rank) const;

  std::vector<std::uint64_t> counts_;  // by index, as far as one holds anything
  std::uint64_t count_ = 0;
  std::uint64_t sum_ns_ = 0;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_TIME_HISTOGRAM_H_
