#include "client/ingest/graph_targets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
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

std::vector<std::string> NumericLabels(const SourceGraph& graph) {
  std::vector<std::string> names;
  for (const Label& label : graph.labels) {
    if (!label.structural && ParseDouble(label.text)) names.emplace_back(label.name);
  }
  return names;
}

// NaN where the graph has no such label, nullopt where it is not a number.
std::optional<double> NumberOf(const SourceGraph& graph, std::string_view name) {
  const auto label = std::find_if(graph.labels.begin(), graph.labels.end(),
                                  [&](const Label& candidate) { return candidate.name == name; });
  return label == graph.labels.end() ? kMissing : ParseDouble(label->text);
}

}  // namespace

GraphTargets::GraphTargets(std::vector<std::string> wanted, std::optional<TargetTable> table,
                           bool allow_missing)
    : wanted_(std::move(wanted)), table_(std::move(table)), allow_missing_(allow_missing) {}

absl::StatusOr<std::vector<std::string>> GraphTargets::NamesFor(const SourceGraph& first) const {
  std::vector<std::string> names = table_ ? table_->names() : wanted_.empty() ? NumericLabels(first) : wanted_;
  if (names.size() > kMaxTargets) {
    return Refusal("too_many_targets", absl::StrCat(names.size(), " targets, at most ", kMaxTargets,
                                                    " are taken (--targets names those that matter)"));
  }
  for (const std::string& name : names) {
    if (!IsUtf8(name)) return Refusal("not_utf8", "the name of a target is not UTF-8");
  }
  return names;
}

absl::Status GraphTargets::Take(const std::vector<std::string>& names, const SourceGraph& graph,
                                std::vector<double>* values) const {
  values->clear();
  ABSL_RETURN_IF_ERROR(table_ ? Join(graph, values) : ReadLabels(names, graph, values));
  return Check(names, *values);
}

absl::Status GraphTargets::Join(const SourceGraph& graph, std::vector<double>* values) const {
  const std::optional<std::span<const double>> row = table_->Find(graph.id);
  if (!row && !allow_missing_) {
    return Refusal("missing_target", absl::StrCat("no row of ", table_->file(),
                                                  " has this id (--missing-target nan stores it without)"));
  }
  if (row) {
    values->assign(row->begin(), row->end());
  } else {
    values->assign(table_->names().size(), kMissing);
  }
  return absl::OkStatus();
}

absl::Status GraphTargets::ReadLabels(const std::vector<std::string>& names, const SourceGraph& graph,
                                      std::vector<double>* values) const {
  for (const std::string& name : names) {
    const std::optional<double> value = NumberOf(graph, name);
    if (!value) return Refusal("bad_target", absl::StrCat("target '", name, "' is not a number"));
    values->push_back(*value);
  }
  return absl::OkStatus();
}

absl::Status GraphTargets::Check(const std::vector<std::string>& names,
                                 const std::vector<double>& values) const {
  for (std::size_t column = 0; column < values.size(); ++column) {
    const std::string& name = names[column];
    if (std::isinf(values[column])) {
      return Refusal("not_finite", absl::StrCat("target '", name, "' is not finite"));
    }
    if (std::isnan(values[column]) && !allow_missing_) {
      return Refusal("missing_target",
                     absl::StrCat("target '", name, "' is missing (--missing-target nan stores it without)"));
    }
  }
  return absl::OkStatus();
}

}  // namespace packtrain::ingest
