// Which steps are there, as few intervals.
#ifndef PACKTRAIN_SERVER_RUNS_STEP_COVERAGE_H_
#define PACKTRAIN_SERVER_RUNS_STEP_COVERAGE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace packtrain::runs {

// For one thread at a time. Memory grows with the number of gaps, not of steps.
class StepCoverage {
 public:
  bool Contains(std::uint64_t step) const;
  // False where the step was there.
  bool Insert(std::uint64_t step);
  // All steps of `other` that are below `end`.
  void InsertBelow(std::uint64_t end, const StepCoverage& other);

  std::uint64_t count() const { return count_; }
  std::size_t intervals() const { return intervals_.size(); }
  // The largest step.
  std::optional<std::uint64_t> last() const;

 private:
  void InsertAll(std::uint64_t first, std::uint64_t last);

  using Intervals = std::map<std::uint64_t, std::uint64_t>;

  Intervals intervals_;  // first step -> last step, inclusive; neither overlapping nor touching
  std::uint64_t count_ = 0;
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_STEP_COVERAGE_H_
