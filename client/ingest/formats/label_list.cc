#include "client/ingest/formats/label_list.h"

#include <utility>

namespace packtrain::ingest {

void LabelList::Add(std::string_view name, std::string_view text, bool structural) {
  Append(name, text, structural, /*per_node=*/false);
}

void LabelList::AddPerNode(std::string_view name) { Append(name, "", /*structural=*/false, /*per_node=*/true); }

void LabelList::Append(std::string_view name, std::string_view text, bool structural, bool per_node) {
  text_.insert(text_.end(), name.begin(), name.end());
  text_.insert(text_.end(), text.begin(), text.end());
  entries_.push_back({name.size(), text.size(), structural, per_node});
}

void LabelList::MoveTo(SourceGraph* graph) {
  std::swap(graph->text, text_);
  const char* at = graph->text.data();
  for (const Entry& entry : entries_) {
    const std::string_view name(at, entry.name_bytes), text(at + entry.name_bytes, entry.text_bytes);
    graph->labels.push_back(
        {.name = name, .text = text, .structural = entry.structural, .per_node = entry.per_node});
    at += entry.name_bytes + entry.text_bytes;
  }
  text_.clear();
  entries_.clear();
}

}  // namespace packtrain::ingest
