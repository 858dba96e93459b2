// packtrain run compare
#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/service_call.h"
#include "proto/base/escape_controls.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

constexpr int kExcludedShown = 5;

struct CompareFlags {
  std::vector<std::string> runs;
  std::string where;
  std::string by;
  std::string metric;
  std::string test = "welch";
};

std::string VerdictWord(v1::Verdict verdict) {
  switch (verdict) {
    case v1::VERDICT_FASTER:
      return "faster";
    case v1::VERDICT_SLOWER:
      return "slower";
    case v1::VERDICT_NO_DIFFERENCE_SEEN:
      return "no difference seen";
    case v1::VERDICT_TOO_FEW_RUNS:
      return "too few runs";
    default:
      return "unknown";
  }
}

std::string TestWord(v1::TestKind test) { return test == v1::TEST_KIND_STUDENT ? "student" : "welch"; }

Json ToJson(const v1::PairComparison& pair) {
  const auto optional = [](bool known, double value) { return known ? Json(value) : Json(nullptr); };
  Json json = {{"a", pair.a()},
               {"b", pair.b()},
               {"n_a", pair.n_a()},
               {"n_b", pair.n_b()},
               {"ratio", pair.ratio()},
               {"ci95", pair.has_ci95_low() ? Json{pair.ci95_low(), pair.ci95_high()} : Json(nullptr)},
               {"welch_p", optional(pair.has_welch_p(), pair.welch_p())},
               {"mann_whitney_p", optional(pair.has_mann_whitney_p(), pair.mann_whitney_p())},
               {"holm_p", optional(pair.has_holm_p(), pair.holm_p())},
               {"effect", optional(pair.has_effect(), pair.effect())},
               {"verdict", VerdictWord(pair.verdict())},
               {"sentence", pair.sentence()}};
  if (pair.has_student_p()) json["student_p"] = pair.student_p();
  return json;
}

std::map<std::string, std::string> FactorsOf(const v1::ComparisonCell& cell) {
  return {cell.factors().begin(), cell.factors().end()};
}

Json ToJson(const v1::CompareRunsResponse& response) {
  Json cells = Json::array();
  for (const v1::ComparisonCell& cell : response.cells()) {
    Json pairs = Json::array();
    for (const v1::PairComparison& pair : cell.pairs()) pairs.push_back(ToJson(pair));
    cells.push_back({{"factors", FactorsOf(cell)}, {"pairs", pairs}});
  }
  Json excluded = Json::array();
  for (const v1::ExcludedRun& run : response.excluded()) {
    excluded.push_back({{"run", run.run()}, {"reason", run.reason()}});
  }
  return {{"metric", response.metric()},
          {"test", TestWord(response.test())},
          {"alpha", response.alpha()},
          {"cells", cells},
          {"excluded", excluded}};
}

std::string FormatInterval(const v1::PairComparison& pair) {
  if (!pair.has_ci95_low()) return "-";
  return FormatNumber(pair.ci95_low()) + " to " + FormatNumber(pair.ci95_high());
}

std::string FormatP(bool known, double p) { return known ? FormatNumber(p, 3) : "-"; }

// Of the test that the verdict comes from.
std::string FormatChosenP(const v1::PairComparison& pair) {
  if (pair.has_student_p()) return FormatP(true, pair.student_p());
  return FormatP(pair.has_welch_p(), pair.welch_p());
}

Table PairsTable(const v1::ComparisonCell& cell) {
  Table table{{"a", "b", "runs", "ratio a/b", "95 % interval", "p", "Holm p", "effect", "verdict on a"}, {}};
  for (const v1::PairComparison& pair : cell.pairs()) {
    table.rows.push_back({pair.a(), pair.b(), std::to_string(pair.n_a()) + "+" + std::to_string(pair.n_b()),
                          FormatNumber(pair.ratio()), FormatInterval(pair), FormatChosenP(pair),
                          FormatP(pair.has_holm_p(), pair.holm_p()),
                          pair.has_effect() ? FormatNumber(pair.effect(), 3) : "-",
                          VerdictWord(pair.verdict())});
  }
  return table;
}

// As a filter takes it back: in quotes where it is more than one word of server/runs/run_filter.h.
std::string QuoteForWhere(const std::string& value) {
  if (!value.empty() && value.find_first_of(" \t\n\r=!<>~()'\"\\") == std::string::npos) return value;
  std::string quoted = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '\'';
}

std::string ExcludedText(const v1::CompareRunsResponse& response) {
  std::ostringstream text;
  const int shown = std::min(response.excluded_size(), kExcludedShown);
  for (int i = 0; i < shown; ++i) {
    text << "left out: "
         << base::EscapeControls(response.excluded(i).run() + ", " + response.excluded(i).reason()) << '\n';
  }
  if (shown < response.excluded_size()) {
    text << "left out: " << response.excluded_size() - shown << " more runs (--json lists all)\n";
  }
  return text.str();
}

std::string ToText(const v1::CompareRunsResponse& response, bool any_run) {
  std::ostringstream text;
  text << response.metric() << ", smaller is better; the unit is the run\n";
  for (const v1::ComparisonCell& cell : response.cells()) {
    text << '\n';
    for (const auto& [key, value] : FactorsOf(cell))
      text << base::EscapeControls(absl::StrCat(key, "=", QuoteForWhere(value))) << "  ";
    text << '\n' << FormatText(PairsTable(cell));
    for (const v1::PairComparison& pair : cell.pairs())
      text << "=> " << base::EscapeControls(pair.sentence()) << '\n';
  }
  if (response.cells().empty()) {
    text << "nothing to compare: "
         << (any_run ? "no two runs differ in this factor alone\n"
                     : "no run matches; packtrain run list shows all\n");
  }
  text << ExcludedText(response);
  return text.str();
}

// The columns of --csv after the factors: the keys of JSON, and numbers in full.
std::vector<std::pair<std::string, std::string>> CsvCells(const v1::PairComparison& pair) {
  const auto optional = [](bool known, double value) { return known ? FormatExact(value) : std::string(); };
  return {{"a", pair.a()},
          {"b", pair.b()},
          {"n_a", std::to_string(pair.n_a())},
          {"n_b", std::to_string(pair.n_b())},
          {"ratio", FormatExact(pair.ratio())},
          {"ci95_low", optional(pair.has_ci95_low(), pair.ci95_low())},
          {"ci95_high", optional(pair.has_ci95_high(), pair.ci95_high())},
          {"welch_p", optional(pair.has_welch_p(), pair.welch_p())},
          {"mann_whitney_p", optional(pair.has_mann_whitney_p(), pair.mann_whitney_p())},
          {"holm_p", optional(pair.has_holm_p(), pair.holm_p())},
          {"effect", optional(pair.has_effect(), pair.effect())},
          {"verdict", VerdictWord(pair.verdict())}};
}

// All cells in one table, with their factors as columns.
Table ToTable(const v1::CompareRunsResponse& response) {
  Table table;
  for (const auto& [key, value] :
       FactorsOf(response.cells_size() > 0 ? response.cells(0) : v1::ComparisonCell())) {
    table.columns.push_back(key);
  }
  for (const auto& [key, value] : CsvCells(v1::PairComparison())) table.columns.push_back(key);
  if (response.test() == v1::TEST_KIND_STUDENT) table.columns.push_back("student_p");
  for (const v1::ComparisonCell& cell : response.cells()) {
    for (const v1::PairComparison& pair : cell.pairs()) {
      std::vector<std::string>& row = table.rows.emplace_back();
      for (const auto& [key, value] : FactorsOf(cell)) row.push_back(value);
      for (const auto& [key, value] : CsvCells(pair)) row.push_back(value);
      if (response.test() == v1::TEST_KIND_STUDENT) {
        row.push_back(pair.has_student_p() ? FormatExact(pair.student_p()) : "");
      }
    }
  }
  return table;
}

v1::CompareRunsRequest ToRequest(const CompareFlags& flags) {
  v1::CompareRunsRequest request;
  for (const std::string& run : flags.runs) request.add_runs(run);
  request.set_where(flags.where);
  request.set_by(flags.by);
  request.set_metric(flags.metric);
  request.set_test(flags.test == "student" ? v1::TEST_KIND_STUDENT : v1::TEST_KIND_WELCH);
  return request;
}

// Whether any run was selected; the answer alone does not tell where it holds none.
absl::StatusOr<bool> AnyRunIn(const v1::CompareRunsResponse& response, const CompareFlags& flags,
                              const GlobalOptions& global) {
  if (response.cells_size() > 0 || response.excluded_size() > 0 || !flags.runs.empty()) return true;
  ABSL_ASSIGN_OR_RETURN(
      const std::vector<v1::Run> runs,
      CallService(global, [&](client::ServiceClient& services) { return services.ListRuns(flags.where); }));
  return !runs.empty();
}

absl::StatusOr<ExitCode> Compare(const CompareFlags& flags, const GlobalOptions& global, Output& output) {
  ABSL_ASSIGN_OR_RETURN(const v1::CompareRunsResponse response,
                        CallService(global, [&](client::ServiceClient& services) {
                          return services.CompareRuns(ToRequest(flags));
                        }));
  ABSL_ASSIGN_OR_RETURN(const bool any_run, AnyRunIn(response, flags, global));
  if (output.format() == OutputFormat::kCsv) {
    output.Print(Json(), ToTable(response));
  } else {
    output.Print(ToJson(response), ToText(response, any_run));
  }
  return ExitCode::kDone;
}

}  // namespace

void AddRunCompare(CLI::App& run, Invocation& invocation) {
  CLI::App* compare =
      AddCommand(run, "compare", "Says which value of a factor is faster, by how much, and whether it is real",
                 {"packtrain run compare --where 'dataset = qm9 and state = done' --by policy",
                  "packtrain run compare RUN1 RUN2 RUN3 RUN4 RUN5 RUN6 --by policy --metric test.mae"});
  const auto flags = std::make_shared<CompareFlags>();
  CLI::Option* runs = compare->add_option("RUN", flags->runs, "Names of runs, or unambiguous beginnings");
  compare->add_option("--where", flags->where, "Compare the runs that this selects; see run list")
      ->excludes(runs);
  compare
      ->add_option(
          "--by", flags->by,
          "Factor: policy, model, target, dataset, version, precision, engine, world_size, batch_graphs, "
          "hardware")
      ->required();
  compare->add_option("--metric", flags->metric,
                      "seconds_per_graph (default), seconds_per_epoch, joules_per_graph, PHASE.QUANTILE, "
                      "SPLIT.mae, SPLIT.rmse");
  compare->add_option("--test", flags->test, "welch or student, on logarithms")
      ->check(CLI::IsMember({"welch", "student"}))
      ->capture_default_str();
  OnChosenPrintTable(*compare, invocation, WithFlags(flags, Compare));
}

}  // namespace packtrain::cli
