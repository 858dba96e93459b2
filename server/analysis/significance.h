// Tests of whether two samples differ. Plain statistics: it knows nothing of runs.
#ifndef PACKTRAIN_SERVER_ANALYSIS_SIGNIFICANCE_H_
#define PACKTRAIN_SERVER_ANALYSIS_SIGNIFICANCE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace packtrain::analysis {

// What the t tests need of a sample.
struct Moments {
  std::size_t n = 0;
  double mean = 0;
  double variance = 0;  // divided by n - 1; 0 below two values, and exactly 0 where all values are equal
};

// `values` is not empty and finite.
Moments MomentsOf(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

// The functions of two Moments want at least two values a side.

// Two-sided p of Welch's t test. Where neither side varies: 1 for equal means, else 0.
double WelchP(const Moments& a, const Moments& b);
// Two-sided p of Student's t test, with pooled variance; the same where neither side varies.
double StudentP(const Moments& a, const Moments& b);
// Interval of mean(a) - mean(b) at `confidence`, with the degrees of freedom of Welch and Satterthwaite.
Interval WelchInterval(const Moments& a, const Moments& b, double confidence);
// The same with pooled variance.
Interval StudentInterval(const Moments& a, const Moments& b, double confidence);
// Hedges' g: difference of means in pooled standard deviations, times the exact correction
// gamma(f / 2) / (sqrt(f / 2) gamma((f - 1) / 2)), f = n_a + n_b - 2. 0 where means are equal; nothing where
// they differ and neither side varies.
std::optional<double> HedgesG(const Moments& a, const Moments& b);

// Two-sided p of the Mann-Whitney U test: exact where a side has at most 8 values and no two of all values
// are equal, else the normal approximation with corrections for ties and continuity.
double MannWhitneyP(std::span<const double> a, std::span<const double> b);

// Holm's step-down adjustment of p-values, each at its own place.
std::vector<double> HolmAdjust(std::span<const double> p);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_SIGNIFICANCE_H_
