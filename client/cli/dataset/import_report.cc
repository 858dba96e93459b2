#include "client/cli/dataset/import_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/dataset/split_counts.h"
#include "proto/wire/full_name.h"

namespace packtrain::cli {
namespace {

using ingest::LabelUse;

constexpr std::size_t kRefusalsShown = 10;
constexpr std::size_t kNamesShown = 20;

std::string Count(std::uint64_t value) { return FormatCount(static_cast<double>(value)); }

Json ToJson(const std::map<std::string, std::uint64_t>& counts) {
  Json json = Json::object();
  for (const auto& [word, count] : counts) json[word] = count;
  return json;
}

Json ToJson(const std::vector<LabelUse>& labels) {
  Json json = Json::array();
  for (const LabelUse& label : labels) {
    Json use = {{"name", label.name},
                {"found", label.found},
                {"used", label.used},
                {"reason", label.used ? Json() : Json(label.reason)}};
    if (!label.first_no_number.empty()) {
      use["no_numbers"] = label.no_numbers;
      use["first_no_number"] = label.first_no_number;
    }
    if (!label.lacking_files.empty()) use["lacking_files"] = label.lacking_files;
    json.push_back(std::move(use));
  }
  return json;
}

Json ToJson(const std::optional<ingest::JoinUse>& join) {
  if (!join) return nullptr;
  return {{"file", join->file},
          {"graphs", join->graphs},
          {"graphs_without_row", join->graphs_without_row},
          {"first_graphs_without_row", join->first_graphs},
          {"rows", join->rows},
          {"rows_without_graph", join->rows_without_graph},
          {"first_rows_without_graph", join->first_rows}};
}

// "3 of 40 graphs have no row in t.csv: a, b, c", or nothing where there are none.
std::string Unmet(std::uint64_t count, std::uint64_t of, const std::string& what,
                  const std::vector<std::string>& first) {
  if (count == 0) return "";
  return absl::StrCat(Count(count), " of ", Count(of), what, ": ", absl::StrJoin(first, ", "),
                      count > first.size() ? ", ...\n" : "\n");
}

std::string ToText(const std::optional<ingest::JoinUse>& join) {
  if (!join) return "";
  return absl::StrCat(Unmet(join->graphs_without_row, join->graphs,
                            absl::StrCat(" graphs have no row in ", join->file), join->first_graphs),
                      Unmet(join->rows_without_graph, join->rows,
                            absl::StrCat(" rows of ", join->file, " have no graph"), join->first_rows));
}

// The first target, which is learnt where none is named.
const std::string* DefaultTarget(const v1::Dataset& dataset) {
  return dataset.schema().targets().empty() ? nullptr : &dataset.schema().targets(0).name();
}

std::string FoundIn(const LabelUse& label) {
  return absl::StrCat("in ", Count(label.found), " of ", Count(label.graphs));
}

// What a join says of a target that not all of its files have, behind its other words.
std::string LackedBy(const LabelUse& label) {
  const std::vector<std::string>& files = label.lacking_files;
  if (files.empty()) return "";
  return absl::StrCat("; no target of ", files.front(),
                      files.size() > 1 ? absl::StrCat(" and ", files.size() - 1, " more files") : "",
                      ": parts that are made with the same --targets have the same");
}

// Reasons that say what a value is which is no number.
bool IsOfValue(const std::string& reason) {
  return reason == ingest::kText || reason == ingest::kArray || reason == ingest::kObject ||
         reason == ingest::kSeveral || reason == ingest::kPerNode;
}

// A reason, for people.
std::string WordsOf(const std::string& reason) {
  const std::map<std::string, std::string> words = {
      {ingest::kText, "text"},
      {ingest::kArray, "an array"},
      {ingest::kObject, "an object"},
      {ingest::kSeveral, "several values"},
      {ingest::kPerNode, "values of nodes or edges"},
      {"empty", "without a value"},
      {"missing_in_some", "--missing-target nan makes it one"},
      {"descriptive", "describes the record; --targets makes it one"},
      {"ambiguous", "not clearly a key and its value; --targets makes it one"},
      {"not_named", "not named by --targets"},
      {"joined", "the targets are those of --join"},
      {"no_name", "it has no name"},
      {"long_name", "its name has more than 256 bytes"},
      {"not_utf8", "its name is not UTF-8"}};
  const auto word = words.find(reason);
  return word == words.end() ? reason : word->second;
}

// What is said of a label, for people, in front of its name and behind it.
std::pair<std::string, std::string> Verdict(const LabelUse& label) {
  if (label.used) {
    return {"target",
            absl::StrCat(FoundIn(label), label.found == 0 ? "; no graph has it" : "", LackedBy(label))};
  }
  const bool shows_first =
      IsOfValue(label.reason) && (label.no_numbers < label.found || label.reason == ingest::kSeveral);
  return {label.reason == ingest::kPerNode ? "not stored" : "no target",
          absl::StrCat(FoundIn(label), "; ", WordsOf(label.reason),
                       shows_first
                           ? absl::StrCat(" in ", Count(label.no_numbers), ", first in ", label.first_no_number)
                           : "",
                       LackedBy(label))};
}

// Labels of which the same is said share a line.
std::string ToText(const std::vector<LabelUse>& labels) {
  std::vector<std::pair<std::pair<std::string, std::string>, std::vector<std::string>>> lines;
  for (const LabelUse& label : labels) {
    const std::pair<std::string, std::string> verdict = Verdict(label);
    const std::string name = label.name.empty() ? "''" : label.name;
    const auto line =
        std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.first == verdict; });
    if (line == lines.end()) {
      lines.push_back({verdict, {name}});
    } else {
      line->second.push_back(name);
    }
  }
  std::string text;
  for (auto& [verdict, names] : lines) {
    const std::size_t more = names.size() - std::min(names.size(), kNamesShown);
    names.resize(names.size() - more);
    absl::StrAppend(&text, verdict.first, " ", absl::StrJoin(names, ", "),
                    more > 0 ? absl::StrCat(" and ", more, " more") : "", " (", verdict.second, ")\n");
  }
  if (labels.empty()) return "no targets: nothing read is a label (--join takes targets from a table)\n";
  const bool has_targets =
      std::any_of(labels.begin(), labels.end(), [](const LabelUse& label) { return label.used; });
  return has_targets ? text : absl::StrCat(text, "no targets: no label is one\n");
}

std::string ToText(const std::vector<ingest::Origin>& unread) {
  std::string text;
  for (std::size_t k = 0; k < std::min(unread.size(), kNamesShown); ++k) {
    absl::StrAppend(&text, "the rest of ", unread[k].file, " was not read",
                    unread[k].line > 0 ? absl::StrCat(", from line ", unread[k].line, " on") : "",
                    "; what graphs it holds is not counted\n");
  }
  if (unread.size() <= kNamesShown) return text;
  return absl::StrCat(text, "... and that of ", unread.size() - kNamesShown, " more files\n");
}

std::string ToText(const std::vector<ingest::PassedOver>& sources) {
  std::string text;
  for (const ingest::PassedOver& files : sources) {
    absl::StrAppend(&text, "passed over ", Count(files.count), " other files of ", files.path, ": ",
                    absl::StrJoin(files.names, ", "), files.count > files.names.size() ? ", ...\n" : "\n");
  }
  return text;
}

// What the server has counted.
std::vector<LabelUse> TargetsOf(const v1::Dataset& dataset) {
  std::vector<LabelUse> uses;
  for (const v1::Split& split : dataset.splits()) {
    if (split.name() != "all") continue;
    for (const v1::TargetStatistics& target : split.targets()) {
      uses.push_back(
          {.name = target.target(), .found = target.count(), .graphs = split.graphs(), .used = true});
    }
  }
  return uses;
}

std::string TextOfTargets(const v1::Dataset& dataset) {
  const std::vector<LabelUse> targets = TargetsOf(dataset);
  return targets.empty() ? "no targets: the files hold none\n" : ToText(targets);
}

}  // namespace

Json JsonOf(const ingest::Ledger& ledger) {
  Json unread = Json::array();
  for (const ingest::Origin& place : ledger.unread()) {
    Json rest = {{"file", place.file}};
    if (place.line > 0) rest["line"] = place.line;
    unread.push_back(std::move(rest));
  }
  return {{"read", ledger.read()},
          {"stored_by_remark", ToJson(ledger.stored_by_remark())},
          {"refused", ledger.refused_graphs()},
          {"refused_by_reason", ToJson(ledger.refused_by_reason())},
          {"refused_truncated", ledger.unlisted() > 0},
          {"rest_unread", std::move(unread)},
          {"passed_over", ledger.passed_over()},
          {"join", ToJson(ledger.join())},
          {"labels", ledger.labels() ? ToJson(*ledger.labels()) : Json::array()}};
}

std::string TextOf(const ingest::Ledger& ledger) {
  std::string text;
  for (const auto& [remark, count] : ledger.stored_by_remark()) {
    absl::StrAppend(&text, "stored ", Count(count), ": ", remark, "\n");
  }
  for (const auto& [reason, count] : ledger.refused_by_reason()) {
    absl::StrAppend(&text, "refused ", Count(count), ": ", reason, "\n");
  }
  absl::StrAppend(&text, ToText(ledger.unread()), ToText(ledger.passed_over_by_source()), ToText(ledger.join()),
                  ledger.labels() ? ToText(*ledger.labels()) : "");
  if (ledger.unlisted() > 0) {
    absl::StrAppend(&text, "labels are counted in ", Count(ledger.unlisted()),
                    " refused graphs as well, which the ", "server does not list\n");
  }
  return text;
}

Json ToJson(const ImportResult& result, const ingest::Ledger& ledger) {
  const v1::Dataset& dataset = result.sealed.dataset();
  const std::string* target = DefaultTarget(dataset);
  Json json = JsonOf(ledger);
  if (!ledger.labels()) json["labels"] = ToJson(TargetsOf(dataset));
  json["dataset"] = dataset.name();
  json["version"] = dataset.version();
  json["unchanged"] = result.sealed.unchanged();
  json["stored"] = result.stored;
  AddSplits(SplitsOf(dataset), &json);
  json["continued_at"] = result.continued_at;
  json["default_target"] = target == nullptr ? Json() : Json(*target);
  json["seconds"] = result.seconds;
  json["graphs_per_second"] = static_cast<double>(result.stored) / result.seconds;
  return json;
}

std::string ToText(const ImportResult& result, const ingest::Ledger& ledger) {
  const v1::Dataset& dataset = result.sealed.dataset();
  std::string text = absl::StrCat(
      wire::FullName(dataset), result.sealed.unchanged() ? " was there already\n" : "\n", "stored ",
      Count(result.stored), " of ", Count(ledger.read()), " graphs, ", Count(dataset.nodes().total()),
      " nodes, ", Count(dataset.edges().total()), " edges in ", FormatNumber(result.seconds, 3), " s (",
      FormatCount(static_cast<double>(result.stored) / result.seconds), " graphs/s)\n", TextOf(ledger),
      ledger.labels() ? "" : TextOfTargets(dataset), TextOf(SplitsOf(dataset)));
  if (const std::string* target = DefaultTarget(dataset)) {
    absl::StrAppend(&text, "training learns ", *target, " unless --target names another\n");
  }
  return text;
}

void NoteRefusals(const std::string& listed, const ingest::Ledger& ledger, Output& output) {
  const std::vector<ingest::RefusedGraph>& refused = ledger.refused();
  const std::size_t shown = std::min(refused.size(), kRefusalsShown);
  for (std::size_t i = 0; i < shown; ++i) output.Note(absl::StrCat("refused: ", refused[i].message));
  if (shown == ledger.refused_graphs()) return;
  const std::string how_many = ledger.unlisted() == 0
                                   ? "all"
                                   : absl::StrCat("the first ", refused.size(), " of ", ledger.refused_graphs(),
                                                  ", as many as the server's answer holds");
  output.Note(absl::StrCat("... and ", ledger.refused_graphs() - shown, " more; ",
                           listed.empty() ? "--ledger FILE" : listed, " lists ", how_many));
}

}  // namespace packtrain::cli
