// A histogram with fixed bounds.
#ifndef PACKTRAIN_SERVER_METRICS_HISTOGRAM_H_
#define PACKTRAIN_SERVER_METRICS_HISTOGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace packtrain::metrics {

// A plain value without synchronization.
class Histogram {
 public:
  static constexpr std::size_t kMaxBounds = 23;

  // Upper bounds, ascending, at most kMaxBounds. Borrowed for the life of the histogram, so they are constants
  // as a rule.
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds) {}

  void Observe(double value);
  // `other` has the same bounds.
  void Add(const Histogram& other);

  std::span<const double> bounds() const { return bounds_; }
  // Observations of at most bounds()[k] and above bounds()[k - 1]; the last count is of those above all.
  std::span<const std::uint64_t> counts() const { return {counts_.data(), bounds_.size() + 1}; }
  std::uint64_t count() const;
  double sum() const { return sum_; }

 private:
  std::span<const double> bounds_;
  std::array<std::uint64_t, kMaxBounds + 1> counts_{};
  double sum_ = 0;
};

}  // namespace packtrain::metrics

#endif  // PACKTRAIN_SERVER_METRICS_HISTOGRAM_H_
