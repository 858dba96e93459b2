#include "client/cli/dataset/empty_splits.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "proto/wire/full_name.h"

namespace packtrain::cli {

std::vector<std::string> NotesOfEmptySplits(const v1::Dataset& dataset,
                                            const std::vector<std::uint32_t>& permille) {
  constexpr std::array<const char*, 3> kNames = {"train", "val", "test"};
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (i < permille.size() && permille[i] == 0) continue;
    const auto split = std::ranges::find(dataset.splits(), kNames[i], &v1::Split::name);
    if (split == dataset.splits().end() || split->graphs() > 0) continue;
    notes.push_back(absl::StrCat("split ", kNames[i], " of ", wire::FullName(dataset),
                                 " is empty: none of the ", dataset.graphs(), " graphs is in it"));
  }
  return notes;
}

}  // namespace packtrain::cli
