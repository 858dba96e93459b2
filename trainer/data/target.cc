#include "trainer/data/target.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
  if (split.targets.empty())
    return absl::FailedPreconditionError(absl::StrCat(dataset.reference, " has no targets"));
  if (name.empty()) return 0;
  for (std::size_t i = 0; i < split.targets.size(); ++i) {
    if (split.targets[i].target == name) return i;
  }
  const auto append_name = [](std::string* out, const client::TargetStatistics& t) { out->append(t.target); };
  return absl::InvalidArgumentError(
      absl::StrCat(dataset.reference, " has no target '", name,
                   "'; --target knows: ", absl::StrJoin(split.targets, ", ", append_name)));
}

}  // namespace

absl::StatusOr<Target> ChooseTarget(const client::DatasetInfo& dataset, const std::string& split,
                                    const std::string& name) {
  ABSL_ASSIGN_OR_RETURN(const client::SplitInfo* info, FindSplit(dataset, split));
  ABSL_ASSIGN_OR_RETURN(const std::size_t column, FindColumn(dataset, *info, name));
  const client::TargetStatistics& chosen = info->targets[column];
  if (info->graphs == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("split '", split, "' of ", dataset.reference, " is empty; --split chooses another"));
  }
  if (chosen.count == 0) {
    return absl::FailedPreconditionError(absl::StrCat("no graph of split '", split, "' of ", dataset.reference,
                                                      " has the target '", chosen.target, "'"));
  }
  if (!std::isfinite(chosen.mean) || !std::isfinite(chosen.stddev)) {
    return absl::FailedPreconditionError(absl::StrCat("target '", chosen.target, "' of ", dataset.reference,
                                                      " has mean ", chosen.mean, " and standard deviation ",
                                                      chosen.stddev, ": too great to be normalised"));
  }
  Target target{.name = chosen.target,
                .unit = chosen.unit,
                .column = column,
                .columns = info->targets.size(),
                .mean = chosen.mean};
  if (chosen.stddev > 0) target.scale = chosen.stddev;
  return target;
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
