// The words of files that are joined. Each file has vocabularies of its own (vocabularies.h); the join has the
// words of all, sorted, with the sum of their counts, as one import of all sources would find them. So the
// records of a file may need other ids:
//
//   JoinedWords words;
//   ABSL_RETURN_IF_ERROR(words.Add(schema));  // of each file
//   ABSL_RETURN_IF_ERROR(words.Finish());
//   words.Store(&joined_schema);
//   ABSL_ASSIGN_OR_RETURN(WordConverter converter, words.ConverterOf(schema));  // of a file
//   if (!converter.changes_nothing()) ABSL_RETURN_IF_ERROR(converter.Convert(&block, refuse));
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_JOINED_WORDS_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_JOINED_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/vocabularies.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/records/graph_record.h"

namespace packtrain::ingest {

v1::Schema WithoutWords(v1::Schema schema);

// Gives the records of one file the ids of a join. Used by one thread.
class WordConverter {
 public:
  // Whether all words have the same ids in the join.
  bool changes_nothing() const { return fields_.empty(); }

  // Takes a graph that is refused: its place in the block, its id and why; an error ends the conversion.
  using Refuse = absl::FunctionRef<absl::Status(int place, std::string_view id, const absl::Status& refusal)>;

  // Changes the ids in place; graphs that are refused are taken out of the block. Refusals:
  // "too_many_edge_types" where an id does not fit its field, "unknown_word" for an id that the file's
  // vocabulary does not have. INVALID_ARGUMENT: a record is none of the file's schema.
  absl::Status Convert(v1::RecordBlock* block, Refuse refuse) const;

 private:
  friend class JoinedWords;

  struct WordField {
    std::string name;
    std::size_t place = 0;           // in the layout
    std::vector<std::uint32_t> ids;  // in the join, by id in the file
  };

  explicit WordConverter(records::RecordLayout layout) : layout_(std::move(layout)) {}
  absl::Status ConvertRecord(const records::RecordView& view, std::string& record) const;

  records::RecordLayout layout_;
  std::vector<WordField> fields_;  // whose ids change
};

// Used by one thread.
class JoinedWords {
 public:
  // Takes the vocabularies of a file. To be called for each, in order. INVALID_ARGUMENT: they are not of the
  // fields that hold words in the first file, or a format has fixed the words of a field, and they are not
  // those of the first file.
  absl::Status Add(const v1::Schema& schema);
  // Behind the last file. The refusal "too_many_words" (vocabularies.h).
  absl::Status Finish() { return words_.Finish(); }

  // After Finish: gives the schema of the join its vocabularies.
  void Store(v1::Schema* schema) const;
  // After Finish, for a schema that was added. INVALID_ARGUMENT: it is none.
  absl::StatusOr<WordConverter> ConverterOf(const v1::Schema& schema) const;

 private:
  bool has_files_ = false;
  // Of the first file; those that records were searched for have their fields only.
  std::vector<v1::Vocabulary> first_;
  Vocabularies words_;  // of the fields whose words are not fixed
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_JOINED_WORDS_H_
