#include "client/ingest/kept_labels.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace packtrain::ingest {

void KeptLabels::Restart() {
  counts_ = {};
  sets_.clear();
  runs_.clear();
}

void KeptLabels::Add(std::span<const Found> labels) {
  std::swap(current_, before_);
  current_.clear();
  for (const Found& found : labels) current_.push_back(2 * found.label + (found.is_number ? 1 : 0));
  if (remembers_) Remember();
  Add(current_, &counts_);
}

// The graph is not counted yet.
void KeptLabels::Remember() {
  if (!runs_.empty() && current_ == before_) return;
  runs_.push_back({counts_.graphs, &*sets_.insert(current_).first});
}

void KeptLabels::Add(const Set& set, Counts* counts) {
  ++counts->graphs;
  for (const std::uint32_t code : set) {
    const std::size_t label = code / 2;
    if (label >= counts->labels.size()) counts->labels.resize(label + 1);
    ++counts->labels[label].found;
    counts->labels[label].numbers += code % 2;
  }
}

void KeptLabels::Subtract(const Set& set, Counts* counts) {
  --counts->graphs;
  for (const std::uint32_t code : set) {
    --counts->labels[code / 2].found;
    counts->labels[code / 2].numbers -= code % 2;
  }
}

KeptLabels::Counts KeptLabels::CountsWithout(std::span<const std::uint64_t> refused) const {
  Counts counts = counts_;
  for (const std::uint64_t graph : refused) {
    const auto behind = std::ranges::upper_bound(runs_, graph, {}, &Run::first);
    if (behind != runs_.begin() && graph < counts_.graphs) Subtract(*std::prev(behind)->set, &counts);
  }
  return counts;
}

}  // namespace packtrain::ingest
