#include "client/cli/dataset/split_counts.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packtrain::cli {
namespace {

constexpr char kAll[] = "all";  // the split of all graphs

}  // namespace

SplitCounts SplitsOf(const v1::Dataset& dataset) {
  SplitCounts splits = {.graphs = {}, .in_none = dataset.graphs()};
  for (const v1::Split& split : dataset.splits()) {
    if (split.name() == kAll) continue;
    splits.graphs[split.name()] = split.graphs();
    splits.in_none -= split.graphs();
  }
  return splits;
}

SplitCounts SplitsOf(const v1::SealDatasetRequest& part, std::uint64_t graphs) {
  SplitCounts splits = {.graphs = {}, .in_none = graphs};
  if (!part.has_by_index()) return splits;
  const v1::SplitByIndex& listed = part.by_index();
  for (const auto& [name, size] : {std::pair("train", listed.train_size()), std::pair("val", listed.val_size()),
                                   std::pair("test", listed.test_size())}) {
    splits.graphs[name] = static_cast<std::uint64_t>(size);
    splits.in_none -= static_cast<std::uint64_t>(size);
  }
  return splits;
}

void AddSplits(const SplitCounts& splits, Json* json) {
  (*json)["splits"] = splits.graphs;
  (*json)["in_no_split"] = splits.graphs.empty() ? Json() : Json(splits.in_none);
}

std::string TextOf(const SplitCounts& splits) {
  if (splits.graphs.empty()) return "";
  std::vector<std::string> parts;
  for (const char* const name : {"train", "val", "test"}) {
    const auto split = splits.graphs.find(name);
    if (split != splits.graphs.end())
      parts.push_back(absl::StrCat(name, " ", FormatCount(static_cast<double>(split->second))));
  }
  return absl::StrCat("splits: ", absl::StrJoin(parts, ", "),
                      splits.in_none > 0 ? absl::StrCat("; ", FormatCount(static_cast<double>(splits.in_none)),
                                                        " graphs are in none")
                                         : "",
                      "\n");
}

}  // namespace packtrain::cli
