#include "client/cli/dataset/import_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
    if (!label.lacking_files.empty()) use["lacking_files"] = label.lacking_files;
    json.push_back(std::move(use));
  }
  return json;
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

// What is said of a label, for people, in front of its name and behind it.
std::pair<std::string, std::string> Verdict(const LabelUse& label) {
  if (label.used) return {"target", FoundIn(label) + LackedBy(label)};
  if (label.reason == "missing_in_some") {
    return {"no target", absl::StrCat(FoundIn(label), "; --missing-target nan makes it one", LackedBy(label))};
  }
  if (label.reason == ingest::kPerNode) {
    return {"not stored", absl::StrCat(FoundIn(label), "; values of nodes or edges")};
  }
  const std::map<std::string, std::string> words = {{"text", "text"},
                                                    {"empty", "without a value"},
                                                    {"not_named", "not named by --targets"},
                                                    {"joined", "the targets are those of --join"},
                                                    {"not_utf8", "its name is not UTF-8"}};
  const auto word = words.find(label.reason);
  return {"no target", absl::StrCat(FoundIn(label), "; ", word == words.end() ? label.reason : word->second)};
}

// Labels of which the same is said share a line.
std::string ToText(const std::vector<LabelUse>& labels) {
  std::vector<std::pair<std::pair<std::string, std::string>, std::vector<std::string>>> lines;
  for (const LabelUse& label : labels) {
    const std::pair<std::string, std::string> verdict = Verdict(label);
    const auto line =
        std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.first == verdict; });
    if (line == lines.end()) {
      lines.push_back({verdict, {label.name}});
    } else {
      line->second.push_back(label.name);
    }
  }
  std::string text;
  for (auto& [verdict, names] : lines) {
    const std::size_t more = names.size() - std::min(names.size(), kNamesShown);
    names.resize(names.size() - more);
    absl::StrAppend(&text, verdict.first, " ", absl::StrJoin(names, ", "),
                    more > 0 ? absl::StrCat(" and ", more, " more") : "", " (", verdict.second, ")\n");
  }
  return text;
}

std::string ToText(const std::vector<ingest::PassedOver>& sources) {
  std::string text;
  for (const ingest::PassedOver& files : sources) {
    absl::StrAppend(&text, "passed over ", Count(files.count), " other files of ", files.path, ": ",
                    absl::StrJoin(files.names, ", "), files.count > files.names.size() ? ", ...\n" : "\n");
  }
  return text;
}

}  // namespace

Json JsonOf(const ingest::Ledger& ledger) {
  return {{"read", ledger.read()},
          {"stored_by_remark", ToJson(ledger.stored_by_remark())},
          {"refused", ledger.refused_graphs()},
          {"refused_by_reason", ToJson(ledger.refused_by_reason())},
          {"refused_truncated", ledger.unlisted() > 0},
          {"passed_over", ledger.passed_over()},
          {"labels", ToJson(ledger.labels())}};
}

std::string TextOf(const ingest::Ledger& ledger) {
  std::string text;
  for (const auto& [remark, count] : ledger.stored_by_remark()) {
    absl::StrAppend(&text, "stored ", Count(count), ": ", remark, "\n");
  }
  for (const auto& [reason, count] : ledger.refused_by_reason()) {
    absl::StrAppend(&text, "refused ", Count(count), ": ", reason, "\n");
  }
  return absl::StrCat(text, ToText(ledger.passed_over_by_source()), ToText(ledger.labels()));
}

Json ToJson(const ImportResult& result, const ingest::Ledger& ledger) {
  const v1::Dataset& dataset = result.sealed.dataset();
  const std::string* target = DefaultTarget(dataset);
  Json json = JsonOf(ledger);
  json["dataset"] = dataset.name();
  json["version"] = dataset.version();
  json["unchanged"] = result.sealed.unchanged();
  json["stored"] = result.stored;
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
      FormatCount(static_cast<double>(result.stored) / result.seconds), " graphs/s)\n", TextOf(ledger));
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
