// The words that records hold instead of numbers, such as tokens of programs and names of edge types, and the
// ids that are stored for them.
//
// An id depends on all words of an import, so every file is read twice:
//
//   options.vocabularies = std::make_shared<Vocabularies>();
//   GatherWords(...);                  // reads all files: graphs have words, and 0 for their ids
//   read all files again, for good;    // readers call Find for the ids
#ifndef PACKTRAIN_CLIENT_INGEST_VOCABULARIES_H_
#define PACKTRAIN_CLIENT_INGEST_VOCABULARIES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "client/ingest/graph_reader.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

class InputList;

// One vocabulary for each field that holds words. Until Finish it is used by one thread, then by any number.
class Vocabularies {
 public:
  // As many as a server stores, in bytes.
  explicit Vocabularies(std::uint64_t max_bytes = std::uint64_t{16} << 20) : max_bytes_(max_bytes) {}

  // Before Finish: takes note of the words of one graph, which may repeat.
  void Note(std::string_view field, const WordRows& words);
  // Before Finish: takes over the words that were found elsewhere, with the number of graphs that each is in.
  void Add(const v1::Vocabulary& found);

  // Ends the first reading: words are sorted by their bytes and numbered from 0. The refusal
  // "too_many_words" where they are more than are stored. To be called once.
  absl::Status Finish();
  bool finished() const { return finished_; }

  // After Finish: the id of a word; none where the first reading did not find it.
  std::optional<std::uint32_t> Find(std::string_view field, std::string_view word) const;
  // As it is stored with the data set; no words where there are none.
  v1::Vocabulary Of(std::string_view field) const;

 private:
  struct Word {
    std::uint64_t graphs = 0;
    std::uint64_t last_note = 0;  // that found it, so that a graph counts once
    std::uint32_t id = 0;
  };
  using Words = absl::flat_hash_map<std::string, Word>;

  Words& WordsOf(std::string_view field);
  // The place of a word, which may be new; null where no more are kept.
  Word* Keep(std::string_view text, Words& words);

  const std::uint64_t max_bytes_;
  std::map<std::string, Words, std::less<>> fields_;
  std::uint64_t notes_ = 0;
  std::uint64_t bytes_ = 0;  // of distinct words, about as in messages
  bool finished_ = false;
};

// The refusal "too_many_edge_types" of a graph with a word whose id does not fit `field`, as of u8 ids above
// 255.
absl::Status IdDoesNotFit(std::string_view field, std::size_t id_bytes);

// The first reading: reads the first `limit` records (0: all) of the inputs, whose readers were given
// `vocabularies`, and finishes these. Inputs without words are passed over, records that are refused are left
// to the second reading. Errors are those of InputList::Next that are no refusals, and "too_many_words".
absl::Status GatherWords(InputList& inputs, std::uint64_t limit, Vocabularies& vocabularies);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_VOCABULARIES_H_
