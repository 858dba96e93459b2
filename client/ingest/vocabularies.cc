#include "client/ingest/vocabularies.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ingest/input_list.h"
#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// What a message needs for a word besides its bytes, with its count.
constexpr std::uint64_t kBytesOfAWord = 8;

bool HoldsWords(const GraphLayout& layout) {
  return std::any_of(layout.fields.begin(), layout.fields.end(),
                     [](const GraphField& field) { return field.words; });
}

// Reads on to the end of the file, or until `limit` records (0: all) of all files were read.
absl::Status ReadWords(GraphReader& reader, std::uint64_t limit, std::uint64_t* read,
                       Vocabularies& vocabularies) {
  SourceGraph graph(reader.layout());
  for (; limit == 0 || *read < limit; ++*read) {
    const absl::StatusOr<bool> more = reader.Next(&graph);
    if (!more.ok() && !IsRefusal(more.status())) return more.status();
    if (!more.ok()) continue;
    if (!*more) break;
    for (std::size_t k = 0; k < graph.words.size(); ++k) {
      const GraphField& field = reader.layout().fields[k];
      if (field.words) vocabularies.Note(field.name, graph.words[k]);
    }
  }
  return absl::OkStatus();
}

}  // namespace

Vocabularies::Words& Vocabularies::WordsOf(std::string_view field) {
  const auto place = fields_.find(field);
  return place == fields_.end() ? fields_[std::string(field)] : place->second;
}

Vocabularies::Word* Vocabularies::Keep(std::string_view text, Words& words) {
  const absl::string_view key(text.data(), text.size());
  const auto word = words.find(key);
  if (word != words.end()) return &word->second;
  // Too many are counted, but not kept.
  bytes_ += key.size() + kBytesOfAWord;
  return bytes_ > max_bytes_ ? nullptr : &words.try_emplace(std::string(key)).first->second;
}

void Vocabularies::Note(std::string_view field, const WordRows& words) {
  Words& kept = WordsOf(field);
  const std::uint64_t note = ++notes_;
  std::size_t begin = 0;
  for (const std::size_t end : words.ends) {
    Word* const word = Keep(std::string_view(words.text).substr(begin, end - begin), kept);
    begin = end;
    if (word != nullptr && std::exchange(word->last_note, note) != note) ++word->graphs;
  }
}

void Vocabularies::Add(const v1::Vocabulary& found) {
  Words& kept = WordsOf(found.field());
  for (int k = 0; k < found.words_size(); ++k) {
    Word* const word = Keep(found.words(k), kept);
    if (word != nullptr && k < found.graphs_size()) word->graphs += found.graphs(k);
  }
}

absl::Status Vocabularies::Finish() {
  finished_ = true;
  if (bytes_ > max_bytes_) {
    return Refusal("too_many_words", absl::StrCat("the words of all graphs take more than ", max_bytes_,
                                                  " bytes, the limit of what is stored with a data set"));
  }
  for (auto& [field, words] : fields_) {
    std::vector<Words::value_type*> sorted;
    for (Words::value_type& word : words) sorted.push_back(&word);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    for (std::size_t k = 0; k < sorted.size(); ++k) sorted[k]->second.id = static_cast<std::uint32_t>(k);
  }
  return absl::OkStatus();
}

std::optional<std::uint32_t> Vocabularies::Find(std::string_view field, std::string_view word) const {
  const auto words = fields_.find(field);
  if (words == fields_.end()) return std::nullopt;
  const auto found = words->second.find(absl::string_view(word.data(), word.size()));
  return found == words->second.end() ? std::nullopt : std::optional(found->second.id);
}

v1::Vocabulary Vocabularies::Of(std::string_view field) const {
  v1::Vocabulary vocabulary;
  vocabulary.set_field(std::string(field));
  const auto words = fields_.find(field);
  if (words == fields_.end()) return vocabulary;
  std::vector<const Words::value_type*> by_id(words->second.size());
  for (const Words::value_type& word : words->second) by_id[word.second.id] = &word;
  for (const Words::value_type* word : by_id) {
    vocabulary.add_words(word->first);
    vocabulary.add_graphs(word->second.graphs);
  }
  return vocabulary;
}

absl::Status IdDoesNotFit(std::string_view field, std::size_t id_bytes) {
  return Refusal("too_many_edge_types", absl::StrCat("'", std::string(field), "' has more than ",
                                                     std::uint64_t{1} << (8 * id_bytes), " different texts"));
}

absl::Status GatherWords(InputList& inputs, std::uint64_t limit, Vocabularies& vocabularies) {
  std::uint64_t read = 0;
  while (limit == 0 || read < limit) {
    const absl::StatusOr<std::unique_ptr<GraphReader>> reader = inputs.Next();
    if (!reader.ok() && IsRefusal(reader.status())) {
      ++read;
      continue;
    }
    ABSL_RETURN_IF_ERROR(reader.status());
    if (*reader == nullptr) break;
    if (limit == 0 && !HoldsWords((*reader)->layout())) continue;
    ABSL_RETURN_IF_ERROR(ReadWords(**reader, limit, &read, vocabularies));
  }
  return vocabularies.Finish();
}

}  // namespace packtrain::ingest
