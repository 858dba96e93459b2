// Runs and steps in memory, for the tests of server/analysis.
#ifndef PACKTRAIN_TESTS_SERVER_ANALYSIS_REPORTED_RUN_H_
#define PACKTRAIN_TESTS_SERVER_ANALYSIS_REPORTED_RUN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "packtrain/v1/run.pb.h"
#include "server/analysis/loaded_run.h"

namespace packtrain::analysis {

// World size 1, static-multiple with 32 graphs, schnet on qm9@1.
v1::RunDescription SampleDescription();

// A record with 32 graphs, 576 nodes and 10,000 edges in 33, 640 and 10,048 slots.
wire::StepRecord Step(std::uint64_t step, std::uint64_t total_ns, std::uint32_t flags = 0);

// Records of steps first .. last, each taking a millisecond.
std::vector<wire::StepRecord> Steps(std::uint64_t first, std::uint64_t last);

// What ranks report of a run of SampleDescription, as a store would load it.
class ReportedRun {
 public:
  explicit ReportedRun(std::string name = "run", std::uint32_t world_size = 1);

  v1::Run& record() { return run_.record; }
  // Where an attempt is not opened, it begins with its first step.
  void OpenAttempt(const RankAttempt& process, std::uint64_t first_step);
  void AddSteps(const RankAttempt& process, const std::vector<wire::StepRecord>& steps);
  void AddSamples(const RankAttempt& process, const std::vector<v1::Sample>& samples);
  void AddEvents(const std::vector<v1::Event>& events);
  // By step.
  void AddCorruptGraphs(const std::vector<v1::CorruptGraphs>& batches);
  // By step, then split.
  void AddEvaluation(v1::Evaluation evaluation);

  LoadedRun Load() const;
  // All that were added, of all attempts, in the order of SortSteps.
  std::vector<RankStep> AllSteps() const;
  CountedRecords Counted() const;

 private:
  LoadedRun run_;  // without steps
  std::vector<RankStep> steps_;
  std::map<RankAttempt, std::uint64_t> first_steps_;
};

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_TESTS_SERVER_ANALYSIS_REPORTED_RUN_H_
