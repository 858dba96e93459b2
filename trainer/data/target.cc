#include "trainer/data/target.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

absl::StatusOr<const client::SplitInfo*> FindSplit(const client::DatasetInfo& dataset,
                                                   const std::string& name) {
  if (const client::SplitInfo* split = dataset.FindSplit(name)) return split;
  const auto append_name = [](std::string* out, const client::SplitInfo& split) { out->append(split.name); };
  return absl::NotFoundError(absl::StrCat(dataset.reference, " has no split '", name, "'; --split knows: ",
                                          absl::StrJoin(dataset.splits, ", ", append_name)));
}

absl::StatusOr<std::size_t> FindColumn(const client::DatasetInfo& dataset, const client::SplitInfo& split,
                                       const std::string& name) {
  const auto found = std::ranges::find(split.targets, name, &client::TargetStatistics::target);
  if (found != split.targets.end()) return static_cast<std::size_t>(found - split.targets.begin());
  const auto append_name = [](std::string* out, const client::TargetStatistics& t) { out->append(t.target); };
  return absl::InvalidArgumentError(
      absl::StrCat(dataset.reference, " has no target '", name,
                   "'; --target knows: ", absl::StrJoin(split.targets, ", ", append_name)));
}

// In the order of `names`.
absl::StatusOr<std::vector<std::size_t>> FindColumns(const client::DatasetInfo& dataset,
                                                     const client::SplitInfo& split, const std::string& names) {
  if (split.targets.empty())
    return absl::FailedPreconditionError(absl::StrCat(dataset.reference, " has no targets"));
  if (names.empty()) return std::vector<std::size_t>{0};
  if (const absl::StatusOr<std::size_t> column = FindColumn(dataset, split, names); column.ok())
    return std::vector<std::size_t>{*column};
  std::vector<std::size_t> columns;
  for (const absl::string_view name : absl::StrSplit(names, ',')) {
    ABSL_ASSIGN_OR_RETURN(const std::size_t column, FindColumn(dataset, split, std::string(name)));
    if (std::ranges::find(columns, column) != columns.end())
      return absl::InvalidArgumentError(absl::StrCat("--target ", names, ": '", name, "' twice"));
    columns.push_back(column);
  }
  return columns;
}

absl::StatusOr<Target> Normalised(const client::DatasetInfo& dataset, const client::SplitInfo& split,
                                  std::size_t column) {
  const client::TargetStatistics& chosen = split.targets[column];
  if (chosen.count == 0) {
    return absl::FailedPreconditionError(absl::StrCat("no graph of split '", split.name, "' of ",
                                                      dataset.reference, " has the target '", chosen.target,
                                                      "'"));
  }
  if (!std::isfinite(chosen.mean) || !std::isfinite(chosen.stddev)) {
    return absl::FailedPreconditionError(absl::StrCat("target '", chosen.target, "' of ", dataset.reference,
                                                      " has mean ", chosen.mean, " and standard deviation ",
                                                      chosen.stddev, ": too great to be normalised"));
  }
  return Target{.name = chosen.target,
                .unit = chosen.unit,
                .column = column,
                .columns = split.targets.size(),
                .mean = chosen.mean,
                .scale = chosen.stddev > 0 ? chosen.stddev : 1,
                .median = chosen.median.value_or(chosen.mean)};
}

}  // namespace

absl::StatusOr<std::vector<Target>> ChooseTargets(const client::DatasetInfo& dataset, const std::string& split,
                                                  const std::string& names) {
  ABSL_ASSIGN_OR_RETURN(const client::SplitInfo* info, FindSplit(dataset, split));
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::size_t> columns, FindColumns(dataset, *info, names));
  if (info->graphs == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("split '", split, "' of ", dataset.reference, " is empty; --split chooses another"));
  }
  std::vector<Target> targets;
  for (const std::size_t column : columns) {
    ABSL_ASSIGN_OR_RETURN(Target target, Normalised(dataset, *info, column));
    targets.push_back(std::move(target));
  }
  return targets;
}

std::string NamesOf(const std::vector<Target>& targets) {
  const auto append_name = [](std::string* out, const Target& target) { out->append(target.name); };
  return absl::StrJoin(targets, ",", append_name);
}

absl::StatusOr<std::string> ResolveSplit(const client::DatasetInfo& dataset, const std::string& requested) {
  if (requested.empty()) return dataset.FindSplit("train") ? "train" : "all";
  ABSL_RETURN_IF_ERROR(FindSplit(dataset, requested).status());
  return requested;
}

absl::StatusOr<ClassTable> MakeClassTable(const client::DatasetInfo& dataset) {
  ClassTable table;
  table.fill(-1);
  std::int32_t row = 0;
  for (const std::uint32_t atomic_number : dataset.classes) {
    if (atomic_number >= table.size()) {
      return absl::InvalidArgumentError(absl::StrCat(dataset.reference, " has atomic number ", atomic_number,
                                                     "; at most ", table.size() - 1, " is known"));
    }
    table[atomic_number] = row++;
  }
  return table;
}

TokenClasses MakeTokenClasses(const client::FieldInfo& tokens) {
  constexpr std::uint64_t kCommon = 2;
  const bool counted = tokens.graphs_with_word.size() == tokens.words;
  const auto is_common = [&](std::size_t token) {
    return !counted || tokens.graphs_with_word[token] >= kCommon;
  };
  std::vector<std::int32_t> of_token(tokens.words, -1);
  std::int32_t row = 0;
  for (std::size_t token = 0; token < of_token.size(); ++token) {
    if (is_common(token)) of_token[token] = row++;
  }
  std::ranges::replace(of_token, -1, row);
  return {.of_token = std::move(of_token), .count = row + 1};
}

}  // namespace packtrain::trainer
