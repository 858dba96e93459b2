#include "client/ingest/formats/label_list.h"

#include <utility>

namespace packtrain::ingest {

void LabelList::Add(std::string_view name, std::string_view text, bool structural) {
  Append({.name = name, .text = text, .structural = structural});
}

void LabelList::AddArray(std::string_view name, std::uint64_t rows) {
  Append({.name = name, .text = "", .form = LabelForm::kArray, .rows = rows});
}

void LabelList::AddObject(std::string_view name) {
  Append({.name = name, .text = "", .form = LabelForm::kObject});
}

void LabelList::AddCell(std::string_view name, std::string_view text, std::string_view file,
                        std::uint64_t line) {
  Append({.name = name, .text = text, .file = file, .line = line});
}

void LabelList::AddTarget(std::string_view name, std::string_view text, std::string_view unit) {
  Append({.name = name, .text = text, .unit = unit, .is_target = true});
}

void LabelList::Append(const Label& label) {
  for (const std::string_view part : {label.name, label.text, label.unit}) {
    text_.insert(text_.end(), part.begin(), part.end());
  }
  labels_.push_back(label);
}

void LabelList::MoveTo(SourceGraph* graph) {
  std::swap(graph->text, text_);
  const char* at = graph->text.data();
  for (Label& label : labels_) {
    for (std::string_view* const part : {&label.name, &label.text, &label.unit}) {
      *part = std::string_view(at, part->size());
      at += part->size();
    }
    graph->labels.push_back(label);
  }
  text_.clear();
  labels_.clear();
}

}  // namespace packtrain::ingest
