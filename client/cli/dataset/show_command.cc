// packtrain dataset show
#include <memory>
#include <sstream>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_join.h"
#include "client/cli/commands.h"
#include "client/cli/dataset/dataset_json.h"
#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

Table CountsTable(const v1::Dataset& dataset) {
  Table table{{"", "total", "mean", "median", "p99", "max"}, {}};
  const auto add = [&table](const std::string& name, const std::string& total, const v1::CountSummary& counts) {
    table.rows.push_back({name, total, FormatNumber(counts.mean()), FormatCount(counts.p50()),
                          FormatCount(counts.p99()), FormatCount(counts.max())});
  };
  add("nodes", FormatCount(static_cast<double>(dataset.nodes().total())), dataset.nodes());
  add("edges", FormatCount(static_cast<double>(dataset.edges().total())), dataset.edges());
  if (dataset.has_bandwidth()) {
    add("bandwidth", "-", dataset.bandwidth());
    add("bandwidth as read", "-", dataset.bandwidth_as_read());
  }
  return table;
}

// Data sets of older servers know no medians.
Table SplitsTable(const v1::Dataset& dataset) {
  Table table{{"split", "graphs", "target", "known", "mean", "deviation", "median"}, {}};
  for (const v1::Split& split : dataset.splits()) {
    const std::string graphs = FormatCount(static_cast<double>(split.graphs()));
    if (split.targets().empty()) table.rows.push_back({split.name(), graphs, "-", "-", "-", "-", ""});
    for (const v1::TargetStatistics& target : split.targets()) {
      table.rows.push_back({split.name(), graphs, target.target(),
                            FormatCount(static_cast<double>(target.count())), FormatNumber(target.mean(), 6),
                            FormatNumber(target.stddev(), 6),
                            target.has_median() ? FormatNumber(target.median(), 6) : ""});
    }
  }
  return WithoutEmptyColumns(table);
}

// Names of edge types fit into a line; of a vocabulary of programs the number is told.
std::string WordsText(const v1::Vocabulary& vocabulary) {
  constexpr int kShownWords = 32;
  if (vocabulary.words_size() <= kShownWords) return absl::StrJoin(vocabulary.words(), ", ");
  return FormatCount(static_cast<double>(vocabulary.words_size())) + " (--json lists them)";
}

std::string NumberingText(const v1::Schema& schema) {
  const std::string word = EnumWord(schema.renumbered());
  return word.empty() ? "" : ", renumbered: " + word;
}

std::string ToText(const v1::Dataset& dataset) {
  std::ostringstream text;
  text << dataset.name() << '@' << dataset.version() << ": "
       << FormatCount(static_cast<double>(dataset.graphs())) << " graphs, edges " << dataset.schema().edges()
       << NumberingText(dataset.schema()) << ", " << FormatBytes(static_cast<double>(dataset.bytes()))
       << "\nfields  ";
  for (const v1::Field& field : dataset.schema().fields()) {
    text << field.name() << " (" << EnumWord(field.scope()) << ", " << EnumWord(field.data_type()) << ") ";
  }
  for (const v1::Vocabulary& vocabulary : dataset.schema().vocabularies()) {
    text << "\nwords   " << vocabulary.field() << ": " << WordsText(vocabulary);
  }
  text << "\n\n" << FormatText(CountsTable(dataset)) << '\n' << FormatText(SplitsTable(dataset));
  return text.str();
}

absl::StatusOr<ExitCode> ShowDataset(const std::string& reference, const GlobalOptions& global,
                                     Output& output) {
  v1::GetDatasetRequest request;
  request.set_dataset(reference);
  ABSL_ASSIGN_OR_RETURN(const v1::GetDatasetResponse response,
                        Ask<v1::GetDatasetResponse>(global, request, client::kLookUp));
  output.Print(MessageToJson(response.dataset(), DatasetRules()), ToText(response.dataset()));
  return ExitCode::kDone;
}

}  // namespace

void AddDatasetShow(CLI::App& dataset, Invocation& invocation) {
  CLI::App* show =
      AddCommand(dataset, "show", "Shows sizes, fields, targets and splits of a data set",
                 {"packtrain dataset show qm9", "packtrain dataset show qm9@0123456789abcdef --json"});
  const auto reference = std::make_shared<std::string>();
  show->add_option("DATASET", *reference, "NAME or NAME@VERSION")->required();
  OnChosen(*show, invocation, WithFlags(reference, ShowDataset));
}

}  // namespace packtrain::cli
