// What RunService accepts: INVALID_ARGUMENT otherwise, naming what, which and the limit.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_LIMITS_H_
#define PACKTRAIN_SERVER_RUNS_RUN_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "packtrain/v1/run.pb.h"
#include "proto/wire/step_columns.h"

namespace packtrain::runs {

inline constexpr std::size_t kMinKeyBytes = 8;
inline constexpr std::size_t kMaxTextBytes = 1024;  // of any one text field, key, label or name
inline constexpr std::size_t kMaxMessageBytes = 4096;
inline constexpr int kMaxLabels = 64;  // of labels, and of libraries
// What a run takes of the server's memory for as long as it is stored; of that its description.
inline constexpr std::size_t kMaxRunBytes = 16'000;
inline constexpr std::size_t kMaxDescriptionBytes = 13 << 10;
// Of one rank in a run.
inline constexpr std::uint32_t kMaxAttempts = 10'000;
// Between the stored steps of each rank and attempt, added up over a run.
inline constexpr std::int64_t kMaxGaps = 65'536;
inline constexpr std::size_t kMaxBlockRows = 65536;
inline constexpr std::uint32_t kMaxWorldSize = 65536;

absl::Status ValidateStart(const v1::StartRunRequest& request);
// `rank` is below `world_size`.
absl::Status ValidateRank(std::uint32_t rank, std::uint32_t world_size);
// At least one row, at most kMaxBlockRows, steps strictly ascending, in none more real than padded graphs,
// nodes or edges where these are known.
absl::Status ValidateSteps(const std::vector<wire::StepRecord>& steps);
// None before the first step of their attempt.
absl::Status ValidateFirstStep(const std::vector<wire::StepRecord>& steps, std::uint64_t first_step);
absl::Status ValidateEvaluation(const v1::Evaluation& evaluation);
absl::Status ValidateSamples(const std::vector<v1::Sample>& samples);
absl::Status ValidateEvents(const std::vector<v1::Event>& events);
// Of one report.
inline constexpr std::size_t kMaxCorruptGraphs = 1 << 20;
absl::Status ValidateCorruptGraphs(const std::vector<v1::CorruptGraphs>& batches);
// The beginning of a run's message that fits into kMaxRunBytes beside its description.
std::string CutMessage(std::string_view message, const v1::RunDescription& description);
// FAILED_PRECONDITION: the rank has opened kMaxAttempts.
absl::Status CheckAttempts(std::string_view run, std::uint32_t rank, std::uint32_t opened);
absl::Status ValidateFinish(v1::RunState state, std::string_view message);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_LIMITS_H_
