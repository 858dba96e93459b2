#include "server/analysis/significance.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/numeric/int128.h"

namespace packtrain::analysis {
namespace {

constexpr std::size_t kMaxExactSmallerSide = 8;
// C(n, 8) stays below 2^128 up to here.
constexpr std::size_t kMaxExactValues = 100'000;

// A difference of means and the distribution of its error.
struct Difference {
  double mean = 0;
  double error = 0;  // standard error
  double freedom = 0;
};

Difference WelchDifference(const Moments& a, const Moments& b) {
  const double a_square = a.variance / static_cast<double>(a.n);
  const double b_square = b.variance / static_cast<double>(b.n);
  const double square = a_square + b_square;
  const double a_share = square > 0 ? a_square / square : 0.5;
  const double b_share = 1 - a_share;
  return {a.mean - b.mean, std::sqrt(square),
          1 / (a_share * a_share / static_cast<double>(a.n - 1) +
               b_share * b_share / static_cast<double>(b.n - 1))};
}

double PooledVariance(const Moments& a, const Moments& b) {
  const double freedom = static_cast<double>(a.n + b.n - 2);
  return (static_cast<double>(a.n - 1) * a.variance + static_cast<double>(b.n - 1) * b.variance) / freedom;
}

Difference StudentDifference(const Moments& a, const Moments& b) {
  const double square = PooledVariance(a, b) * (1 / static_cast<double>(a.n) + 1 / static_cast<double>(b.n));
  return {a.mean - b.mean, std::sqrt(square), static_cast<double>(a.n + b.n - 2)};
}

double TwoSidedP(const Difference& difference) {
  if (difference.error == 0) return difference.mean == 0 ? 1 : 0;
  const double t = std::abs(difference.mean) / difference.error;
  const boost::math::students_t distribution(difference.freedom);
  return 2 * boost::math::cdf(boost::math::complement(distribution, t));
}

Interval IntervalOf(const Difference& difference, double confidence) {
  const boost::math::students_t distribution(difference.freedom);
  const double half =
      difference.error * boost::math::quantile(boost::math::complement(distribution, (1 - confidence) / 2));
  return {difference.mean - half, difference.mean + half};
}

// Ranks of two samples put together.
struct Ranking {
  double u = 0;  // the greater of both U statistics
  bool has_ties = false;
  double tie_term = 0;  // sum of t^3 - t over groups of t equal values
};

Ranking Rank(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> values;  // value, from a
  for (const double value : a) values.emplace_back(value, true);
  for (const double value : b) values.emplace_back(value, false);
  std::sort(values.begin(), values.end());
  Ranking ranking;
  double rank_sum = 0;
  for (std::size_t begin = 0; begin < values.size();) {
    std::size_t end = begin;
    std::size_t of_a = 0;
    for (; end < values.size() && values[end].first == values[begin].first; ++end) of_a += values[end].second;
    const double ties = static_cast<double>(end - begin);
    rank_sum += static_cast<double>(of_a) * (static_cast<double>(begin + end + 1) / 2);
    ranking.has_ties = ranking.has_ties || end - begin > 1;
    ranking.tie_term += ties * ties * ties - ties;
    begin = end;
  }
  const double n_a = static_cast<double>(a.size());
  const double u_a = rank_sum - n_a * (n_a + 1) / 2;
  ranking.u = std::max(u_a, n_a * static_cast<double>(b.size()) - u_a);
  return ranking;
}

// For each u, in how many orders of m + n values the statistic is u: the coefficients of the Gaussian
// binomial (m + n over m), the product of (1 - q^(n + i)) / (1 - q^i) for i = 1 .. m. Exact: unsigned
// arithmetic wraps, and the results fit.
std::vector<absl::uint128> OrdersByU(std::size_t m, std::size_t n) {
  std::vector<absl::uint128> counts(m * n + 1, 0);
  counts[0] = 1;
  for (std::size_t i = 1; i <= m; ++i) {
    for (std::size_t u = counts.size(); u-- > n + i;) counts[u] -= counts[u - n - i];
    for (std::size_t u = i; u < counts.size(); ++u) counts[u] += counts[u - i];
  }
  return counts;
}

double ExactMannWhitneyP(std::size_t m, std::size_t n, double u) {
  const std::vector<absl::uint128> counts = OrdersByU(std::min(m, n), std::max(m, n));
  const auto at_least_u = counts.begin() + static_cast<std::ptrdiff_t>(u);
  const absl::uint128 tail = std::accumulate(at_least_u, counts.end(), absl::uint128(0));
  const absl::uint128 all = std::accumulate(counts.begin(), counts.end(), absl::uint128(0));
  return std::min(1.0, 2 * static_cast<double>(tail) / static_cast<double>(all));
}

double NormalMannWhitneyP(double m, double n, const Ranking& ranking) {
  const double count = m + n;
  const double variance = m * n / 12 * (count + 1 - ranking.tie_term / (count * (count - 1)));
  if (variance <= 0) return 1;
  const double z = (ranking.u - m * n / 2 - 0.5) / std::sqrt(variance);
  return std::min(1.0, 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), z)));
}

}  // namespace

Moments MomentsOf(std::span<const double> values) {
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  if (*least == *greatest) return {values.size(), *least, 0};
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {values.size(), mean, squares / (n - 1)};
}

double WelchP(const Moments& a, const Moments& b) { return TwoSidedP(WelchDifference(a, b)); }

double StudentP(const Moments& a, const Moments& b) { return TwoSidedP(StudentDifference(a, b)); }

Interval WelchInterval(const Moments& a, const Moments& b, double confidence) {
  return IntervalOf(WelchDifference(a, b), confidence);
}

Interval StudentInterval(const Moments& a, const Moments& b, double confidence) {
  return IntervalOf(StudentDifference(a, b), confidence);
}

std::optional<double> HedgesG(const Moments& a, const Moments& b) {
  const double difference = a.mean - b.mean;
  if (difference == 0) return 0;
  const double deviation = std::sqrt(PooledVariance(a, b));
  if (deviation == 0) return std::nullopt;
  const double half_freedom = static_cast<double>(a.n + b.n - 2) / 2;
  // tgamma_delta_ratio(x, d) is gamma(x) / gamma(x + d).
  const double correction =
      1 / (std::sqrt(half_freedom) * boost::math::tgamma_delta_ratio(half_freedom - 0.5, 0.5));
  return difference / deviation * correction;
}

double MannWhitneyP(std::span<const double> a, std::span<const double> b) {
  const Ranking ranking = Rank(a, b);
  const bool exact = !ranking.has_ties && std::min(a.size(), b.size()) <= kMaxExactSmallerSide &&
                     a.size() + b.size() <= kMaxExactValues;
  return exact ? ExactMannWhitneyP(a.size(), b.size(), ranking.u)
               : NormalMannWhitneyP(static_cast<double>(a.size()), static_cast<double>(b.size()), ranking);
}

std::vector<double> HolmAdjust(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [p](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double greatest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    greatest = std::max(greatest, std::min(1.0, static_cast<double>(p.size() - k) * p[order[k]]));
    adjusted[order[k]] = greatest;
  }
  return adjusted;
}

}  // namespace packtrain::analysis
