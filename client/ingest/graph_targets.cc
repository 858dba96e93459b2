#include "client/ingest/graph_targets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// As many as a server takes.
constexpr std::size_t kMaxTargets = 1024;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kShownBytes = 40;
constexpr char kAllowMissing[] = " (--missing-target nan stores it without)";

std::string Shortened(std::string_view word) {
  return word.size() <= kShownBytes ? std::string(word)
                                    : absl::StrCat(std::string(word.substr(0, kShownBytes)), "...");
}

absl::Status CheckNames(const std::vector<std::string>& names) {
  if (names.size() > kMaxTargets) {
    return Refusal("too_many_targets", absl::StrCat(names.size(), " targets, at most ", kMaxTargets,
                                                    " are taken (--targets names those that matter)"));
  }
  for (const std::string& name : names) {
    if (!IsUtf8(name)) return Refusal("not_utf8", "the name of a target is not UTF-8");
  }
  return absl::OkStatus();
}

}  // namespace

GraphTargets::GraphTargets(std::vector<std::string> wanted, std::optional<TargetTable> table,
                           bool allow_missing)
    : wanted_(std::move(wanted)),
      table_(std::move(table)),
      allow_missing_(allow_missing),
      is_given_(table_ || !wanted_.empty()),
      labels_(allow_missing) {}

void GraphTargets::Restart() {
  labels_.Restart();
  doubtful_.reset();
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

void GraphTargets::Count() {
  labels_.Count();
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
  ABSL_RETURN_IF_ERROR(CheckNames(names));
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
                      TargetOf(*doubtful_) ? "is no number in some graph" : "is a number in further graphs");
}

bool GraphTargets::WouldChooseOtherwise() const { return !is_given_ && labels_.Targets() != names_; }

absl::Status GraphTargets::Take(std::string_view id, std::vector<double>* values) const {
  values->clear();
  ABSL_RETURN_IF_ERROR(table_ ? Join(id, values) : TakeLabels(values));
  return Check(*values);
}

absl::Status GraphTargets::Join(std::string_view id, std::vector<double>* values) const {
  const std::optional<TargetTable::Row> row = table_->Find(id);
  if (!row && !allow_missing_) {
    return Refusal("missing_target", absl::StrCat("no row of ", table_->file(), " has this id", kAllowMissing));
  }
  if (!row) {
    values->assign(names_.size(), kMissing);
    return absl::OkStatus();
  }
  ABSL_RETURN_IF_ERROR(table_->Check(*row));
  values->assign(row->values.begin(), row->values.end());
  return absl::OkStatus();
}

absl::Status GraphTargets::TakeLabels(std::vector<double>* values) const {
  values->assign(names_.size(), kMissing);
  for (const LabelTable::Reading& reading : readings_) {
    const std::optional<std::size_t> target = TargetOf(reading.label);
    if (!target || reading.text.kind == LabelText::Kind::kMissing) continue;
    if (reading.text.kind == LabelText::Kind::kText) {
      return Refusal("bad_target", absl::StrCat("target '", names_[*target], "' is not a number: '",
                                                Shortened(reading.word), "'"));
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
    if (std::isnan(values[column]) && !allow_missing_) {
      return Refusal("missing_target", absl::StrCat("target '", name, "' is missing", kAllowMissing));
    }
  }
  return absl::OkStatus();
}

std::vector<LabelUse> GraphTargets::Uses() const {
  std::vector<LabelUse> uses = table_ ? table_->uses() : UsesOfTargets();
  for (std::size_t label = 0; label < labels_.size(); ++label) {
    if (TargetOf(label) || labels_.is_structural(label)) continue;
    LabelUse use = labels_.UseOf(label);
    use.used = false;
    if (is_given_ && use.reason != kPerNode) use.reason = table_ ? "joined" : "not_named";
    uses.push_back(std::move(use));
  }
  return uses;
}

std::vector<LabelUse> GraphTargets::UsesOfTargets() const {
  std::vector<LabelUse> uses;
  for (const std::string& name : names_) {
    const std::optional<std::size_t> label = labels_.Find(name);
    LabelUse use = label ? labels_.UseOf(*label) : LabelUse{.name = name, .graphs = labels_.graphs()};
    use.used = true;
    use.reason.clear();
    uses.push_back(std::move(use));
  }
  return uses;
}

}  // namespace packtrain::ingest
