// However the reports of a run come in, doubled, late, reordered, with what later attempts replaced, its
// figures are those of the steps that count, reported once and in order.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "proto/wire/step_convert.h"
#include "server/analysis/run_metric.h"
#include "server/analysis/step_listing.h"
#include "server/runs/run_loader.h"
#include "tests/server/runs/run_fixtures.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;

constexpr std::uint64_t kSeeds = 12;
constexpr std::uint64_t kStepsPerEpoch = 25;

struct Block {
  std::uint32_t rank = 0;
  std::uint32_t attempt = 0;
  std::vector<wire::StepRecord> steps;
};

// A run of random ranks, attempts and steps: `clean` are the records that count, `blocks` those and all that
// was superseded, as they might come in.
class DrawnRun {
 public:
  explicit DrawnRun(std::uint64_t seed) : random_(seed), ranks_(Draw(1, 3)) {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) DrawRank(rank, Draw(60, 150));
    std::shuffle(blocks_.begin(), blocks_.end(), random_);
  }

  v1::StartRunRequest Request() const {
    v1::StartRunRequest request = StartRequest("key-00000001");
    request.mutable_description()->set_world_size(ranks_);
    return request;
  }

  std::string ReportClean(RunStore& store) const {
    std::string run;
    for (const auto& [process, attempt] : attempts_) {
      run = Start(store, process).run;
      if (attempt.clean.empty()) continue;
      EXPECT_THAT(store.AddSteps({run, process.rank, process.attempt}, attempt.clean), IsOk());
    }
    return run;
  }

  // Reopens the store in the middle.
  std::string ReportAsDrawn(TestRunStore& store) const {
    std::string run;
    for (const auto& [process, attempt] : attempts_) run = Start(*store, process).run;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      if (k == blocks_.size() / 2) store.Reopen();
      const Block& block = blocks_[k];
      EXPECT_THAT(store->AddSteps({run, block.rank, block.attempt}, block.steps), IsOk());
    }
    return run;
  }

 private:
  static constexpr std::uint32_t kAttempts = 3;

  std::uint64_t Draw(std::uint64_t least, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(least, most)(random_);
  }

  struct Attempt {
    std::uint64_t first_step = 0;
    std::vector<wire::StepRecord> clean;
  };

  Reporter Start(RunStore& store, const analysis::RankAttempt& process) const {
    v1::StartRunRequest request = Request();
    request.set_rank(process.rank);
    request.set_first_step(attempts_.at(process).first_step);
    Reporter reporter = StartRun(store, request);
    EXPECT_EQ(reporter.attempt, process.attempt);
    return reporter;
  }

  // Each attempt begins where an earlier one was, and what that had made from there on counts no more.
  void DrawRank(std::uint32_t rank, std::uint64_t steps) {
    std::uint64_t begin = 0;
    for (std::uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
      const std::uint64_t end = attempt + 1 == kAttempts ? steps : Draw(begin + 1, steps);
      std::vector<wire::StepRecord> records;
      for (std::uint64_t step = begin; step < end; ++step) records.push_back(DrawStep(step));
      for (std::uint32_t earlier = 0; earlier < attempt; ++earlier) {
        std::erase_if(attempts_[{rank, earlier}].clean,
                      [begin](const auto& step) { return step.step >= begin; });
      }
      attempts_[{rank, attempt}] = {begin, records};
      CutIntoBlocks(rank, attempt, records);
      begin = Draw(0, end - 1);
    }
  }

  wire::StepRecord DrawStep(std::uint64_t step) {
    wire::StepRecord record = Step(step, Draw(1'000, 5'000'000));
    record.epoch = step / kStepsPerEpoch;
    record.real.graphs = static_cast<std::uint32_t>(Draw(0, 32));
    record.wait_ns = Draw(0, record.total_ns);
    if (Draw(0, 9) == 0) record.flags = wire::kCapture;
    record.loss = Draw(0, 9) == 0 ? std::numeric_limits<double>::infinity() : 0.5;
    if (Draw(0, 19) == 0) record.total_ns = std::uint64_t{1} << 63;  // what infinity becomes
    return record;
  }

  // Blocks that overlap, and some of them twice.
  void CutIntoBlocks(std::uint32_t rank, std::uint32_t attempt, const std::vector<wire::StepRecord>& records) {
    for (std::size_t begin = 0; begin < records.size();) {
      const std::size_t end = std::min<std::size_t>(records.size(), begin + Draw(1, 40));
      const std::size_t early = begin - std::min<std::size_t>(begin, Draw(0, 10));
      const Block block{rank,
                        attempt,
                        {records.begin() + static_cast<std::ptrdiff_t>(early),
                         records.begin() + static_cast<std::ptrdiff_t>(end)}};
      blocks_.insert(blocks_.end(), Draw(1, 2), block);
      begin = end;
    }
  }

  std::mt19937_64 random_;
  const std::uint32_t ranks_;
  std::map<analysis::RankAttempt, Attempt> attempts_;
  std::vector<Block> blocks_;
};

// Rows as `run steps` and `run export` show them, less the attempt.
std::vector<std::string> Rows(const RunStore& store, const std::string& run, std::uint64_t max_points) {
  v1::ListStepsRequest request;
  request.set_max_points(max_points);
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::string>> rows;
  EXPECT_THAT(
      analysis::ListSteps(
          LoadSteps(store, run).value(), LoadCounted(store, run).value(), request,
          [&rows](const v1::ListStepsResponse& block) {
            const auto records = wire::FromStepBlock(block.steps());
            EXPECT_THAT(records, IsOk());
            for (const wire::StepRecord& record : *records) {
              rows.emplace_back(record.step, block.rank(), wire::ToStepBlock({&record, 1}).SerializeAsString());
            }
            return absl::OkStatus();
          }),
      IsOk());
  std::sort(rows.begin(), rows.end());
  std::vector<std::string> texts;
  for (const auto& [step, rank, text] : rows) texts.push_back(std::to_string(rank) + text);
  return texts;
}

std::string SummaryWithoutName(const RunStore& store, const std::string& run) {
  v1::SummarizeRunResponse summary = Summarize(store, run).value();
  summary.clear_run();
  return summary.DebugString();
}

// What runs are compared by.
std::string Measured(const RunStore& store, const std::string& run) {
  std::string text;
  for (const char* name : {"seconds_per_graph", "seconds_per_epoch", "total.median", "wait.p95"}) {
    const auto metric = analysis::RunMetric::Parse(name);
    const absl::StatusOr<double> value = metric->Measure(*LoadRun(store, run, metric->parts()));
    text += std::string(name) + (value.ok() ? std::to_string(*value) : value.status().ToString()) + "\n";
  }
  return text;
}

TEST(ReportPropertyTest, FiguresDependOnWhatCountsAlone) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const DrawnRun drawn(seed);
    TestRunStore clean_store, drawn_store;
    const std::string clean = drawn.ReportClean(*clean_store);
    const std::string run = drawn.ReportAsDrawn(drawn_store);
    EXPECT_EQ(drawn_store->Get(run)->steps(), clean_store->Get(clean)->steps());
    EXPECT_EQ(SummaryWithoutName(*drawn_store, run), SummaryWithoutName(*clean_store, clean));
    EXPECT_EQ(Measured(*drawn_store, run), Measured(*clean_store, clean));
    for (const std::uint64_t max_points : {0, 20}) {
      EXPECT_EQ(Rows(*drawn_store, run, max_points), Rows(*clean_store, clean, max_points));
    }
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace packtrain::runs
