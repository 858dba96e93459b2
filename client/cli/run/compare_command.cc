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
#include "client/cli/run/run_json.h"
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
  std::vector<std::string> allow_mixed;
};

std::map<std::string, std::string> SortedFactors(const v1::ComparisonCell& cell) {
  return {cell.factors().begin(), cell.factors().end()};
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
                          pair.has_effect() ? FormatNumber(pair.effect(), 3) : "-", EnumWord(pair.verdict())});
  }
  return table;
}

// As a filter takes it back: in quotes where it is more than one word of server/analysis/run_filter.h.
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
    for (const auto& [key, value] : SortedFactors(cell)) {
      text << base::EscapeControls(absl::StrCat(key, "=", QuoteForWhere(value))) << "  ";
    }
    text << '\n' << FormatText(PairsTable(cell));
    for (const v1::PairComparison& pair : cell.pairs())
      text << "=> " << base::EscapeControls(pair.sentence()) << '\n';
  }
  if (response.cells().empty()) {
    text << "nothing to compare: "
         << (any_run ? "no two runs differ in this setting and agree in all factors\n"
                     : "no run matches; packtrain run list shows all\n");
  }
  text << ExcludedText(response);
  return text.str();
}

// `member` of each message of a repeated field in one cell.
JsonRule InOneCell(std::string member) {
  return [member = std::move(member)](const JsonField& at, Json& row) {
    std::string cell;
    for (const Json& element : at.Value()) {
      cell += (cell.empty() ? "" : "; ") + element[member].get<std::string>();
    }
    row[at.field.name()] = cell;
  };
}

// Pairs as rows of --csv: the fields themselves, so that each end of the interval has a column. The p of
// Student's test has one where that is the chosen test.
JsonRules RowRules(v1::TestKind test) {
  JsonRules rules = {.fields = {{"PairComparison.sentence", Omit()},
                                {"PairComparison.mixed", InOneCell("key")},
                                {"PairComparison.also_differs", InOneCell("key")},
                                {"PairComparison.copies", InOneCell("run")}}};
  if (test != v1::TEST_KIND_STUDENT) rules.fields["PairComparison.student_p"] = Omit();
  return rules;
}

// A pair behind the factors of its cell.
Json RowOf(const v1::ComparisonCell& cell, const v1::PairComparison& pair, const JsonRules& rules) {
  Json row = MessageToJson(cell)["factors"];
  row.update(MessageToJson(pair, rules));
  return row;
}

// All cells in one table.
Table ToTable(const v1::CompareRunsResponse& response) {
  const JsonRules rules = RowRules(response.test());
  Json rows = Json::array();
  for (const v1::ComparisonCell& cell : response.cells()) {
    for (const v1::PairComparison& pair : cell.pairs()) rows.push_back(RowOf(cell, pair, rules));
  }
  const v1::ComparisonCell& first = response.cells_size() > 0 ? response.cells(0) : v1::ComparisonCell();
  return TableOf(rows, KeysOf(RowOf(first, v1::PairComparison(), rules)), FormatExact);
}

v1::CompareRunsRequest ToRequest(const CompareFlags& flags) {
  v1::CompareRunsRequest request;
  for (const std::string& run : flags.runs) request.add_runs(run);
  request.set_where(flags.where);
  request.set_by(flags.by);
  request.set_metric(flags.metric);
  for (const std::string& key : flags.allow_mixed) request.add_allow_mixed(key);
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
                        Ask<v1::CompareRunsResponse>(global, ToRequest(flags)));
  ABSL_ASSIGN_OR_RETURN(const bool any_run, AnyRunIn(response, flags, global));
  if (output.format() == OutputFormat::kCsv) {
    output.Print(Json(), ToTable(response));
  } else {
    output.Print(MessageToJson(response, RunRules()), ToText(response, any_run));
  }
  return ExitCode::kDone;
}

}  // namespace

void AddRunCompare(CLI::App& run, Invocation& invocation) {
  CLI::App* compare =
      AddCommand(run, "compare", "Says which value of a setting is faster, by how much, and whether it is real",
                 {"packtrain run compare --where 'dataset = qm9 and state = done' --by policy",
                  "packtrain run compare RUN1 RUN2 RUN3 RUN4 RUN5 RUN6 --by policy --metric test.mae",
                  "packtrain run compare --where 'label.sweep = 7' --by learning_rate --metric test.mae"});
  const auto flags = std::make_shared<CompareFlags>();
  CLI::Option* runs = compare->add_option("RUN", flags->runs, "Names of runs, or unambiguous beginnings");
  compare->add_option("--where", flags->where, "Compare the runs that this selects; see run list")
      ->excludes(runs);
  compare
      ->add_option("--by", flags->by,
                   "Factor: policy, model, target, dataset, version, precision, engine, input, world_size, "
                   "batch_graphs, skip_above, hardware, cpu; or a condition or note, such as learning_rate, "
                   "order, threads, host, "
                   "git_revision; or "
                   "label.NAME")
      ->required();
  compare->add_option("--metric", flags->metric,
                      "seconds_per_graph (default), seconds_per_epoch, joules_per_graph, PHASE.QUANTILE, "
                      "SPLIT.mae, SPLIT.rmse, SPLIT.accuracy");
  compare
      ->add_option(
          "--allow-mixed", flags->allow_mixed,
          "Condition that may differ inside a side without the verdict being withheld; may be repeated")
      ->type_name("KEY")
      ->allow_extra_args(false);
  compare->add_option("--test", flags->test, "welch or student, on logarithms")
      ->check(CLI::IsMember({"welch", "student"}))
      ->capture_default_str();
  OnChosenPrintTable(*compare, invocation, WithFlags(flags, Compare));
}

}  // namespace packtrain::cli
