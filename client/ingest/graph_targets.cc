#include "client/ingest/graph_targets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// As many as a server takes.
constexpr std::size_t kMaxTargets = 1024;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr char kAllowMissing[] = " (--missing-target nan stores it without)";
// How many names and ids a message shows.
constexpr std::size_t kNamesShown = 20;
constexpr std::size_t kIdsShown = 3;

std::string Listed(std::vector<std::string> names) {
  const std::size_t more = names.size() - std::min(names.size(), kNamesShown);
  names.resize(names.size() - more);
  return absl::StrCat(absl::StrJoin(names, ", "), more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

// The first ids of the table.
std::string FirstIds(const TargetTable& table) {
  std::vector<std::string> ids;
  for (std::size_t row = 0; row < std::min(table.rows(), kIdsShown); ++row) ids.push_back(Shown(table.id(row)));
  if (ids.size() < table.rows()) ids.emplace_back("...");
  return absl::StrJoin(ids, ", ");
}

// What a label is that is no number, as the end of a sentence about a target.
std::string NoNumber(const LabelTable::Reading& reading) {
  switch (reading.text.kind) {
    case LabelText::Kind::kArray:
      return "is an array, and not a number";
    case LabelText::Kind::kObject:
      return "is an object, and not a number";
    case LabelText::Kind::kSeveral:
      return absl::StrCat("has several values: ", Shown(reading.word), " and ", Shown(reading.other));
    case LabelText::Kind::kPerNode:
      return "has values of nodes or edges, and not a number";
    default:
      return absl::StrCat("is not a number: ", Shown(reading.word));
  }
}

absl::Status CheckCount(std::size_t targets) {
  if (targets <= kMaxTargets) return absl::OkStatus();
  return Refusal("too_many_targets", absl::StrCat(targets, " targets, at most ", kMaxTargets,
                                                  " are taken (--targets names those that matter)"));
}

// A refusal at the place of a label that has one of its own.
absl::Status AtLabel(const LabelTable::Reading& label, const absl::Status& refusal) {
  return label.line == 0 ? refusal : RefusedAt({std::string(label.file), "", 0, label.line}, refusal);
}

}  // namespace

GraphTargets::GraphTargets(std::vector<std::string> wanted, std::optional<TargetTable> table,
                           bool allow_missing, bool may_drop)
    : wanted_(std::move(wanted)),
      table_(std::move(table)),
      allow_missing_(allow_missing),
      is_given_(table_ || !wanted_.empty()),
      labels_(allow_missing),
      kept_(may_drop),
      kept_columns_(may_drop) {}

void GraphTargets::Restart() {
  labels_.Restart();
  doubtful_.reset();
  kept_.Restart();
  kept_columns_.Restart();
  row_.reset();
  met_.assign(table_ ? table_->rows() : 0, false);
  graphs_ = graphs_without_row_ = 0;
  first_graphs_.clear();
}

void GraphTargets::LookUp(std::string_view id, bool is_graph) {
  if (!table_) return;
  row_ = table_->Find(id);
  if (row_) met_[row_->number] = true;
  if (!is_graph) return;
  ++graphs_;
  if (row_) return;
  ++graphs_without_row_;
  if (first_graphs_.size() < kIdsShown) first_graphs_.push_back(AsUtf8(std::string(id)));
}

void GraphTargets::Read(const SourceGraph& graph, bool labels_are_cells) {
  readings_ = labels_.Read(graph, labels_are_cells);
  if (chosen_ && !table_) MapNewLabels();
}

void GraphTargets::MapNewLabels() {
  while (target_of_.size() < labels_.size()) {
    const auto name = std::find(names_.begin(), names_.end(), labels_.name(target_of_.size()));
    target_of_.push_back(name == names_.end() ? 0 : static_cast<std::size_t>(name - names_.begin()) + 1);
  }
}

std::optional<std::size_t> GraphTargets::TargetOf(std::size_t label) const {
  if (label >= target_of_.size() || target_of_[label] == 0) return std::nullopt;
  return target_of_[label] - 1;
}

void GraphTargets::Count(LabelTable::PlaceOfReading place) {
  labels_.Count(place);
  if (is_given_ || !chosen_ || doubtful_) return;
  std::size_t found = 0;
  for (const LabelTable::Reading& reading : readings_) {
    const bool is_target = TargetOf(reading.label).has_value();
    if (labels_.IsTarget(reading.label) != is_target) doubtful_ = reading.label;
    found += is_target ? 1 : 0;
  }
  if (allow_missing_ || found == names_.size()) return;
  for (std::size_t label = 0; label < labels_.size() && !doubtful_; ++label) {
    if (TargetOf(label) && !labels_.IsTarget(label)) doubtful_ = label;
  }
}

absl::Status GraphTargets::Choose() {
  std::vector<std::string> names = table_ ? table_->names() : is_given_ ? wanted_ : labels_.Targets();
  ABSL_RETURN_IF_ERROR(CheckCount(names.size()));
  names_ = std::move(names);
  chosen_ = true;
  doubtful_.reset();
  target_of_.clear();
  if (!table_) MapNewLabels();
  return absl::OkStatus();
}

std::string GraphTargets::doubt() const {
  if (!doubtful_) return "";
  return absl::StrCat("'", labels_.name(*doubtful_), "' ",
                      TargetOf(*doubtful_) ? "is no number, or not clearly a pair, in some graph"
                                           : "is a number in further graphs");
}

bool GraphTargets::WouldChooseOtherwise() const { return !is_given_ && labels_.Targets() != names_; }

absl::Status GraphTargets::Take(std::vector<double>* values) const {
  values->clear();
  ABSL_RETURN_IF_ERROR(table_ ? Join(values) : TakeLabels(values));
  return Check(*values);
}

absl::Status GraphTargets::Join(std::vector<double>* values) const {
  if (!row_ && !allow_missing_) {
    return Refusal("missing_target", absl::StrCat("no row of ", table_->file(), " has this id; its column '",
                                                  table_->key(), "' has ", FirstIds(*table_), kAllowMissing));
  }
  if (!row_) {
    values->assign(names_.size(), kMissing);
    return absl::OkStatus();
  }
  ABSL_RETURN_IF_ERROR(table_->Check(*row_));
  values->assign(row_->values.begin(), row_->values.end());
  return absl::OkStatus();
}

absl::Status GraphTargets::TakeLabels(std::vector<double>* values) const {
  values->assign(names_.size(), kMissing);
  for (const LabelTable::Reading& reading : readings_) {
    const std::optional<std::size_t> target = TargetOf(reading.label);
    if (!target || reading.text.kind == LabelText::Kind::kMissing) continue;
    if (reading.text.kind != LabelText::Kind::kNumber) {
      return AtLabel(reading,
                     Refusal("bad_target", absl::StrCat("target '", names_[*target], "' ", NoNumber(reading))));
    }
    if (std::isinf(reading.text.number)) {
      return AtLabel(reading,
                     Refusal("not_finite", absl::StrCat("target '", names_[*target], "' is not finite")));
    }
    (*values)[*target] = reading.text.number;
  }
  return absl::OkStatus();
}

absl::Status GraphTargets::Check(const std::vector<double>& values) const {
  for (std::size_t column = 0; column < values.size(); ++column) {
    const std::string& name = names_[column];
    if (std::isinf(values[column])) {
      return Refusal("not_finite", absl::StrCat("target '", name, "' is not finite"));
    }
    if (std::isnan(values[column]) && !allow_missing_) return Missing(name);
  }
  return absl::OkStatus();
}

absl::Status GraphTargets::Missing(const std::string& name) const {
  const std::string what = absl::StrCat("target '", name, "' is missing");
  if (table_) return Refusal("missing_target", absl::StrCat(table_->PlaceOf(*row_), ": ", what, kAllowMissing));
  if (const std::optional<std::size_t> label = labels_.Find(name)) {
    const absl::Status refusal = Refusal("missing_target", absl::StrCat(what, kAllowMissing));
    const auto reading = std::ranges::find(readings_, *label, &LabelTable::Reading::label);
    return reading == readings_.end() ? refusal : AtLabel(*reading, refusal);
  }
  return Refusal("missing_target",
                 absl::StrCat(what, ", as in every graph read so far (--targets); ", Offered()));
}

void GraphTargets::Keep() {
  found_.clear();
  for (const LabelTable::Reading& reading : readings_) {
    if (reading.text.kind == LabelText::Kind::kMissing) continue;
    found_.push_back(
        {static_cast<std::uint32_t>(reading.label), reading.text.kind == LabelText::Kind::kNumber});
  }
  kept_.Add(found_);
  if (!table_) return;
  found_.clear();
  for (std::size_t column = 0; row_ && column < row_->cells.size(); ++column) {
    const LabelText::Kind kind = row_->cells[column];
    if (kind == LabelText::Kind::kMissing) continue;
    found_.push_back({static_cast<std::uint32_t>(column), kind == LabelText::Kind::kNumber});
  }
  kept_columns_.Add(found_);
}

bool GraphTargets::IsNowhere(std::size_t target) const {
  if (table_) return kept_columns_.CountsWithout({}).Of(target).numbers == 0;
  const std::optional<std::size_t> label = labels_.Find(names_[target]);
  return !label || (!labels_.is_declared(*label) && kept_.CountsWithout({}).Of(*label).numbers == 0);
}

absl::Status GraphTargets::CheckFound() const {
  if (table_ && graphs_ > 0 && graphs_without_row_ == graphs_) {
    return Refusal(
        "no_row",
        absl::StrCat("no row of ", table_->file(), " is of any of the ", graphs_, " graphs: its column '",
                     table_->key(), "' has ", FirstIds(*table_), ", and the ids of the graphs are ",
                     absl::StrJoin(first_graphs_, ", "), graphs_ > first_graphs_.size() ? ", ..." : "",
                     " (--key names the column of the ids)"));
  }
  for (std::size_t target = 0; target < wanted_.size(); ++target) {
    if (!IsNowhere(target)) continue;
    return Refusal("no_such_target",
                   absl::StrCat("no graph has target '", wanted_[target], "' (--targets); ", Offered()));
  }
  return absl::OkStatus();
}

std::string GraphTargets::Offered() const {
  std::vector<std::string> names;
  if (table_) {
    const KeptLabels::Counts kept = kept_columns_.CountsWithout({});
    for (std::size_t column = 0; column < table_->columns().size(); ++column) {
      const std::string& name = table_->columns()[column].name;
      if (kept.Of(column).numbers > 0 && WhyNoTargetName(name).empty()) names.push_back(name);
    }
  } else {
    for (std::size_t label = 0; label < labels_.size(); ++label) {
      const bool is_offered = labels_.numbers(label) > 0 && labels_.can_be_named(label);
      if (is_offered) names.push_back(labels_.name(label));
    }
  }
  return names.empty() ? "nothing else is a number" : absl::StrCat("numbers are: ", Listed(std::move(names)));
}

std::vector<LabelUse> GraphTargets::Uses(std::span<const std::uint64_t> refused) const {
  const KeptLabels::Counts kept = kept_.CountsWithout(refused);
  std::vector<LabelUse> uses = table_ ? UsesOfColumns(refused) : UsesOfTargets(kept);
  for (std::size_t label = 0; label < labels_.size(); ++label) {
    if (TargetOf(label) || labels_.is_structural(label)) continue;
    LabelUse use = labels_.UseOf(label, kept.Of(label), kept.graphs);
    use.used = false;
    const bool can_be_number =
        use.reason != kPerNode && use.reason != kArray && use.reason != kObject && use.reason != kSeveral;
    if (is_given_ && can_be_number && labels_.can_be_named(label)) use.reason = table_ ? "joined" : "not_named";
    uses.push_back(std::move(use));
  }
  return uses;
}

std::vector<LabelUse> GraphTargets::UsesOfColumns(std::span<const std::uint64_t> refused) const {
  const KeptLabels::Counts kept = kept_columns_.CountsWithout(refused);
  std::vector<LabelUse> uses;
  for (const TargetTable::Column& column : table_->columns()) {
    const KeptLabels::Count count = kept.Of(uses.size());
    uses.push_back({.name = ShownName(column.name),
                    .found = count.found,
                    .graphs = kept.graphs,
                    .used = column.reason.empty(),
                    .reason = column.reason,
                    .no_numbers = count.found - count.numbers,
                    .first_no_number = AsUtf8(column.first_no_number)});
  }
  return uses;
}

std::vector<LabelUse> GraphTargets::UsesOfTargets(const KeptLabels::Counts& kept) const {
  std::vector<LabelUse> uses;
  for (const std::string& name : names_) {
    const std::optional<std::size_t> label = labels_.Find(name);
    LabelUse use = label ? labels_.UseOf(*label, kept.Of(*label), kept.graphs)
                         : LabelUse{.name = name, .graphs = kept.graphs};
    use.used = true;
    use.reason.clear();
    uses.push_back(std::move(use));
  }
  return uses;
}

std::optional<JoinUse> GraphTargets::join_use() const {
  if (!table_) return std::nullopt;
  JoinUse use = {.file = table_->file(),
                 .graphs = graphs_,
                 .graphs_without_row = graphs_without_row_,
                 .first_graphs = first_graphs_,
                 .rows = table_->rows()};
  for (std::size_t row = 0; row < met_.size(); ++row) {
    if (met_[row]) continue;
    ++use.rows_without_graph;
    if (use.first_rows.size() < kIdsShown) use.first_rows.push_back(AsUtf8(table_->id(row)));
  }
  return use;
}

}  // namespace packtrain::ingest
