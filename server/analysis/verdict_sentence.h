// What a comparison of two values says, in words.
#ifndef PACKTRAIN_SERVER_ANALYSIS_VERDICT_SENTENCE_H_
#define PACKTRAIN_SERVER_ANALYSIS_VERDICT_SENTENCE_H_

#include <string>

#include "packtrain/v1/run.pb.h"
#include "server/analysis/run_metric.h"

namespace packtrain::analysis {

// Such as "dynamic is 1.23x faster than static-multiple (95 % 1.15 to 1.32, p = .0004, 3 against 3 runs)"; or,
// of a metric other than seconds per graph and per epoch, "total.stddev of dynamic is 1.23x smaller than that
// of static-multiple (...)". Behind it stand the settings that differ beside the compared one, copies, and
// shared seeds.
std::string VerdictSentence(const v1::PairComparison& pair, const RunMetric& metric);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_VERDICT_SENTENCE_H_
