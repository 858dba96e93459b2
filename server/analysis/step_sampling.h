// Fewer points for a chart, without losing its peaks.
#ifndef PACKTRAIN_SERVER_ANALYSIS_STEP_SAMPLING_H_
#define PACKTRAIN_SERVER_ANALYSIS_STEP_SAMPLING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace packtrain::analysis {

// Indices into `totals`, ascending, at most `max_points` (at least 1): all, where they are not more;
// else the series is cut into max_points / 2 intervals of nearly equal length, and each keeps its least and
// its greatest value (the first of equals). With `max_points` 1: the greatest value of all.
std::vector<std::size_t> SamplePoints(std::span<const std::uint64_t> totals, std::size_t max_points);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_STEP_SAMPLING_H_
