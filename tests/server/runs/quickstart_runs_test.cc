// The comparison of six real runs against SciPy's of the same rows; see tests/data/runs.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tests/server/runs/run_fixtures.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kTolerance = 1e-9;
constexpr std::uint32_t kRanks = 2;

using Row = std::map<std::string, std::string>;

std::vector<Row> ReadCsv(const std::string& name) {
  std::ifstream file(std::string(PACKTRAIN_TEST_DATA) + "/runs/" + name);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> columns = absl::StrSplit(line, ',');
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = cells.at(i);
  }
  return rows;
}

template <typename Integer>
Integer NumberIn(const Row& row, const std::string& column) {
  Integer number = 0;
  EXPECT_TRUE(absl::SimpleAtoi(row.at(column), &number)) << column << " " << row.at(column);
  return number;
}

v1::StartRunRequest StartRequestOf(const Row& row) {
  v1::StartRunRequest request = StartRequest(row.at("run"));
  request.set_rank(NumberIn<std::uint32_t>(row, "rank"));
  request.mutable_description()->set_world_size(kRanks);
  v1::BatchSpec& spec = *request.mutable_description()->mutable_spec();
  spec.set_seed(NumberIn<std::uint32_t>(row, "seed"));
  spec.set_graphs(31);
  if (row.at("policy") == "dynamic") {
    spec.set_policy(v1::POLICY_DYNAMIC);
    spec.clear_pad();
  }
  return request;
}

wire::StepRecord RecordOf(const Row& row) {
  wire::StepRecord record;
  record.step = NumberIn<std::uint64_t>(row, "step");
  record.flags = NumberIn<std::uint32_t>(row, "flags");
  record.real.graphs = NumberIn<std::uint32_t>(row, "real_graphs");
  record.total_ns = NumberIn<std::uint64_t>(row, "total_ns");
  return record;
}

// The rows of one rank of one run.
void Report(RunStore& store, const std::vector<Row>& rows) {
  const Reporter reporter = StartRun(store, StartRequestOf(rows.front()));
  std::vector<wire::StepRecord> records;
  for (const Row& row : rows) records.push_back(RecordOf(row));
  EXPECT_THAT(store.AddSteps(reporter, records), IsOk());
}

void StoreQuickstartRuns(RunStore& store) {
  std::map<std::pair<std::string, std::string>, std::vector<Row>> rows_by_rank;
  for (Row& row : ReadCsv("quickstart_steps.csv")) {
    rows_by_rank[{row.at("run"), row.at("rank")}].push_back(std::move(row));
  }
  ASSERT_THAT(rows_by_rank, SizeIs(6 * kRanks));
  for (const auto& [run_and_rank, rows] : rows_by_rank) Report(store, rows);
  const absl::StatusOr<std::vector<v1::Run>> runs = store.List();
  ASSERT_THAT(runs, IsOk());
  for (const v1::Run& run : *runs) EXPECT_THAT(store.Finish(run.run(), v1::RUN_STATE_DONE, ""), IsOk());
}

std::map<std::string, double> Figures(const v1::PairComparison& pair) {
  std::map<std::string, double> figures = {{"ratio", pair.ratio()},         {"ci95_low", pair.ci95_low()},
                                           {"ci95_high", pair.ci95_high()}, {"welch_p", pair.welch_p()},
                                           {"holm_p", pair.holm_p()},       {"effect", pair.effect()}};
  if (pair.has_student_p()) figures["student_p"] = pair.student_p();
  return figures;
}

std::map<std::string, double> Expected(const std::string& test) {
  std::map<std::string, double> expected;
  for (const Row& row : ReadCsv("quickstart_expected.csv")) {
    if (row.at("test") != test) continue;
    EXPECT_TRUE(absl::SimpleAtod(row.at("value"), &expected[row.at("quantity")]));
  }
  return expected;
}

class QuickstartRuns : public ::testing::TestWithParam<std::pair<std::string, v1::TestKind>> {};

TEST_P(QuickstartRuns, AreComparedAsSciPyDoes) {
  TestRunStore store;
  StoreQuickstartRuns(*store);
  v1::CompareRunsRequest request;
  request.set_by("policy");
  request.set_test(GetParam().second);
  const absl::StatusOr<v1::CompareRunsResponse> response = Compare(*store, request);
  ASSERT_THAT(response, IsOk());
  EXPECT_THAT(response->excluded(), IsEmpty());
  ASSERT_THAT(response->cells(), SizeIs(1));
  ASSERT_THAT(response->cells(0).pairs(), SizeIs(1));
  const v1::PairComparison& pair = response->cells(0).pairs(0);
  EXPECT_EQ(pair.a(), "dynamic");
  EXPECT_EQ(pair.b(), "static-multiple");
  EXPECT_EQ(pair.n_a(), 3u);
  EXPECT_EQ(pair.n_b(), 3u);
  EXPECT_EQ(pair.verdict(), v1::VERDICT_NO_DIFFERENCE_SEEN);
  std::map<std::string, double> figures = Figures(pair);
  const std::map<std::string, double> expected = Expected(GetParam().first);
  EXPECT_EQ(figures.size(), expected.size());
  for (const auto& [quantity, value] : expected) EXPECT_NEAR(figures[quantity], value, kTolerance) << quantity;
}

INSTANTIATE_TEST_SUITE_P(Tests, QuickstartRuns,
                         ::testing::Values(std::pair("welch", v1::TEST_KIND_WELCH),
                                           std::pair("student", v1::TEST_KIND_STUDENT)),
                         [](const auto& test) { return test.param.first; });

}  // namespace
}  // namespace packtrain::runs
