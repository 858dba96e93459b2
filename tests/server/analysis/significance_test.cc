// Expected numbers are SciPy 1.17.1's, with numpy as np and scipy.stats as stats; the expression stands
// beside each.
#include "server/analysis/significance.h"

#include <gmock/gmock.h>

#include <numeric>

namespace packtrain::analysis {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kTolerance = 1e-9;

const std::vector<double> kA = {1.02, 0.97, 1.05, 1.10, 0.99};
const std::vector<double> kB = {1.21, 1.18, 1.35, 1.12, 1.27, 1.40};

// start, start + step, ...: np.arange(count) * step + start
std::vector<double> Range(int count, double step, double start) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(i * step + start);
  return values;
}

TEST(Significance, MomentsOfEqualValuesHaveNoVariance) {
  const Moments moments = MomentsOf(std::vector<double>(3, 0.1));
  EXPECT_EQ(moments.mean, 0.1);
  EXPECT_EQ(moments.variance, 0);
}

TEST(Significance, WelchAgreesWithSciPy) {
  // stats.ttest_ind(a, b, equal_var=False).pvalue
  EXPECT_NEAR(WelchP(MomentsOf(kA), MomentsOf(kB)), 0.0019100285841847603, kTolerance);
  EXPECT_NEAR(WelchP(MomentsOf(kB), MomentsOf(kA)), 0.0019100285841847603, kTolerance);
  // stats.ttest_ind([1, 2], [4, 8], equal_var=False).pvalue
  EXPECT_NEAR(WelchP(MomentsOf(std::vector<double>{1, 2}), MomentsOf(std::vector<double>{4, 8})),
              0.2509798190130844, kTolerance);
}

TEST(Significance, WelchKeepsRelativePrecisionFarOut) {
  // stats.ttest_ind([1, 1.0001, 0.9999], [5, 5.0002, 4.9997], equal_var=False).pvalue
  const double p = WelchP(MomentsOf(std::vector<double>{1, 1.0001, 0.9999}),
                          MomentsOf(std::vector<double>{5, 5.0002, 4.9997}));
  EXPECT_NEAR(p / 4.641441382247769e-12, 1, kTolerance);
}

TEST(Significance, StudentAgreesWithSciPy) {
  // stats.ttest_ind(a, b).pvalue
  EXPECT_NEAR(StudentP(MomentsOf(kA), MomentsOf(kB)), 0.0017355447213885109, kTolerance);
}

TEST(Significance, WelchIntervalAgreesWithSciPy) {
  // stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
  const Interval interval = WelchInterval(MomentsOf(kA), MomentsOf(kB), 0.95);
  EXPECT_NEAR(interval.low, -0.34333143984256587, kTolerance);
  EXPECT_NEAR(interval.high, -0.11466856015743343, kTolerance);
  // the same of [1, 2] and [4, 8]
  const Interval two =
      WelchInterval(MomentsOf(std::vector<double>{1, 2}), MomentsOf(std::vector<double>{4, 8}), 0.95);
  EXPECT_NEAR(two.low, -24.743378906988756, kTolerance);
  EXPECT_NEAR(two.high, 15.743378906988756, kTolerance);
}

TEST(Significance, StudentIntervalAgreesWithSciPy) {
  // stats.ttest_ind(a, b).confidence_interval(0.95)
  const Interval interval = StudentInterval(MomentsOf(kA), MomentsOf(kB), 0.95);
  EXPECT_NEAR(interval.low, -0.34689692073011813, kTolerance);
  EXPECT_NEAR(interval.high, -0.1111030792698812, kTolerance);
}

TEST(Significance, OneSideWithoutVarianceIsNoTrouble) {
  // stats.ttest_ind([1, 1.0001, 0.9999], [2., 2., 2.], equal_var=False), and its confidence_interval(0.95)
  const Moments varying = MomentsOf(std::vector<double>{1, 1.0001, 0.9999});
  const Moments constant = MomentsOf(std::vector<double>{2, 2, 2});
  EXPECT_NEAR(WelchP(varying, constant), 3.3333333166659315e-09, 1e-17);
  const Interval interval = WelchInterval(varying, constant, 0.95);
  EXPECT_NEAR(interval.low, -1.000248413771175, kTolerance);
  EXPECT_NEAR(interval.high, -0.999751586228825, kTolerance);
}

TEST(Significance, WithoutAnyVarianceMeansDecide) {
  const Moments ones = MomentsOf(std::vector<double>{1, 1, 1});
  const Moments twos = MomentsOf(std::vector<double>{2, 2, 2});
  EXPECT_EQ(WelchP(ones, ones), 1);
  EXPECT_EQ(StudentP(ones, ones), 1);
  EXPECT_EQ(WelchP(ones, twos), 0);
  EXPECT_EQ(StudentP(ones, twos), 0);
  EXPECT_EQ(WelchInterval(ones, twos, 0.95).low, -1);
  EXPECT_EQ(WelchInterval(ones, twos, 0.95).high, -1);
  EXPECT_EQ(HedgesG(ones, ones), 0);
  EXPECT_EQ(HedgesG(ones, twos), std::nullopt);
}

TEST(Significance, HedgesGAgreesWithSciPy) {
  // f = len(a) + len(b) - 2
  // s = np.sqrt(((len(a) - 1) * np.var(a, ddof=1) + (len(b) - 1) * np.var(b, ddof=1)) / f)
  // gammaln = scipy.special.gammaln
  // (np.mean(a) - np.mean(b)) / s * np.exp(gammaln(f / 2) - gammaln((f - 1) / 2)) / np.sqrt(f / 2)
  EXPECT_NEAR(*HedgesG(MomentsOf(kA), MomentsOf(kB)), -2.4315222891297767, kTolerance);
  EXPECT_NEAR(*HedgesG(MomentsOf(std::vector<double>{1, 2}), MomentsOf(std::vector<double>{4, 8})),
              -1.2315246595626916, kTolerance);
}

TEST(Significance, MannWhitneyIsExactForFewValues) {
  // stats.mannwhitneyu(a, b).pvalue
  EXPECT_NEAR(MannWhitneyP(kA, kB), 0.004329004329004329, kTolerance);
  EXPECT_NEAR(MannWhitneyP(kB, kA), 0.004329004329004329, kTolerance);
  // stats.mannwhitneyu([1, 2, 3], [4, 5, 6]).pvalue
  EXPECT_NEAR(MannWhitneyP(Range(3, 1, 1), Range(3, 1, 4)), 0.1, kTolerance);
  // stats.mannwhitneyu([1, 3, 5, 7, 9], [2, 4, 6, 8, 10]).pvalue
  EXPECT_NEAR(MannWhitneyP(Range(5, 2, 1), Range(5, 2, 2)), 0.6904761904761905, kTolerance);
  // stats.mannwhitneyu(np.arange(8) * 1.7, np.arange(30) * 0.9 + 2.05).pvalue
  EXPECT_NEAR(MannWhitneyP(Range(8, 1.7, 0), Range(30, 0.9, 2.05)), 0.003421514357297839, kTolerance);
  // stats.mannwhitneyu(np.arange(8) + 0.5, np.arange(3000) - 1200.0).pvalue
  EXPECT_NEAR(MannWhitneyP(Range(8, 1, 0.5), Range(3000, 1, -1200)), 0.3418252166122983, kTolerance);
}

TEST(Significance, MannWhitneyIsNormalForManyValues) {
  // stats.mannwhitneyu(np.arange(9) * 1.7, np.arange(12) * 0.9 + 4.05).pvalue
  EXPECT_NEAR(MannWhitneyP(Range(9, 1.7, 0), Range(12, 0.9, 4.05)), 0.2706629953488259, kTolerance);
}

TEST(Significance, MannWhitneyIsNormalAndCorrectedForTies) {
  // stats.mannwhitneyu([1, 2, 2, 3, 4], [2, 3, 5, 5, 6, 7]).pvalue
  EXPECT_NEAR(MannWhitneyP(std::vector<double>{1, 2, 2, 3, 4}, std::vector<double>{2, 3, 5, 5, 6, 7}),
              0.06414661873440437, kTolerance);
  // stats.mannwhitneyu([1, 1, 1], [1, 1, 1]).pvalue
  EXPECT_EQ(MannWhitneyP(std::vector<double>(3, 1), std::vector<double>(3, 1)), 1);
}

// Holm, "A simple sequentially rejective multiple test procedure", 1979.
TEST(Significance, HolmMultipliesByWhatIsLeftAndNeverFalls) {
  EXPECT_THAT(HolmAdjust(std::vector<double>{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleNear(0.03, kTolerance), DoubleNear(0.06, kTolerance),
                          DoubleNear(0.06, kTolerance), DoubleNear(0.02, kTolerance)));
  EXPECT_THAT(HolmAdjust(std::vector<double>{0.9, 0.8}), ElementsAre(1, 1));
  EXPECT_THAT(HolmAdjust({}), IsEmpty());
}

}  // namespace
}  // namespace packtrain::analysis
