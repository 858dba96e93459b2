#include "client/ingest/formats/joined_words.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// Whether the format of the records fixes the words, and has not counted them.
bool IsFixed(const v1::Vocabulary& vocabulary) {
  return !vocabulary.words().empty() && vocabulary.graphs().empty();
}

bool HasSameWords(const v1::Vocabulary& a, const v1::Vocabulary& b) {
  return std::equal(a.words().begin(), a.words().end(), b.words().begin(), b.words().end());
}

std::string FieldsOf(const std::vector<v1::Vocabulary>& vocabularies) {
  const std::string names = absl::StrJoin(
      vocabularies, ", ",
      [](std::string* out, const v1::Vocabulary& vocabulary) { absl::StrAppend(out, vocabulary.field()); });
  return names.empty() ? "none" : names;
}

// Gives the rows of one field the ids of the join.
template <typename T>
absl::Status ConvertRows(const std::string& field, const std::vector<std::uint32_t>& ids,
                         std::span<char> rows) {
  for (std::size_t at = 0; at + sizeof(T) <= rows.size(); at += sizeof(T)) {
    T id;
    std::memcpy(&id, rows.data() + at, sizeof(id));
    if (std::cmp_less(id, 0) || std::cmp_greater_equal(id, ids.size())) {
      return Refusal("unknown_word", absl::StrCat("'", field, "' holds ", static_cast<std::int64_t>(id),
                                                  ", but the file has ", ids.size(), " words"));
    }
    const std::uint32_t joined = ids[static_cast<std::size_t>(id)];
    if (!std::in_range<T>(joined)) return IdDoesNotFit(field, sizeof(T));
    const T stored = static_cast<T>(joined);
    std::memcpy(rows.data() + at, &stored, sizeof(stored));
  }
  return absl::OkStatus();
}

}  // namespace

v1::Schema WithoutWords(v1::Schema schema) {
  schema.clear_vocabularies();
  return schema;
}

absl::Status WordConverter::Convert(v1::RecordBlock* block, Refuse refuse) const {
  google::protobuf::RepeatedPtrField<std::string>& records = *block->mutable_records();
  int kept = 0;
  for (int place = 0; place < records.size(); ++place) {
    std::string& record = records[place];
    const absl::StatusOr<records::RecordView> view =
        records::RecordView::Parse(layout_, std::as_bytes(std::span(record)));
    if (!view.ok()) return absl::InvalidArgumentError(view.status().message());
    const absl::Status status = ConvertRecord(*view, record);
    if (status.ok()) {
      records.SwapElements(kept++, place);
    } else {
      ABSL_RETURN_IF_ERROR(refuse(place, view->source_id(), status));
    }
  }
  records.DeleteSubrange(kept, records.size() - kept);
  return absl::OkStatus();
}

absl::Status WordConverter::ConvertRecord(const records::RecordView& view, std::string& record) const {
  for (const WordField& field : fields_) {
    const std::span<const std::byte> bytes = view.field(field.place);
    const std::span<char> rows(record.data() + (bytes.data() - view.bytes().data()), bytes.size());
    switch (layout_.fields()[field.place].data_type) {
      case v1::DATA_TYPE_U8:
        ABSL_RETURN_IF_ERROR(ConvertRows<std::uint8_t>(field.name, field.ids, rows));
        break;
      case v1::DATA_TYPE_U16:
        ABSL_RETURN_IF_ERROR(ConvertRows<std::uint16_t>(field.name, field.ids, rows));
        break;
      default:  // the only other type of such a field
        ABSL_RETURN_IF_ERROR(ConvertRows<std::int32_t>(field.name, field.ids, rows));
    }
  }
  return absl::OkStatus();
}

absl::Status JoinedWords::Add(const v1::Schema& schema) {
  const std::vector<v1::Vocabulary> vocabularies(schema.vocabularies().begin(), schema.vocabularies().end());
  if (!std::exchange(has_files_, true)) {
    for (const v1::Vocabulary& vocabulary : vocabularies) {
      first_.push_back(vocabulary);
      if (IsFixed(vocabulary)) continue;
      first_.back().clear_words();
      first_.back().clear_graphs();
    }
  }
  if (FieldsOf(vocabularies) != FieldsOf(first_)) {
    return absl::InvalidArgumentError(absl::StrCat("its fields of words are ", FieldsOf(vocabularies),
                                                   ", those of the first file are ", FieldsOf(first_),
                                                   "; files that are joined have the same"));
  }
  for (std::size_t k = 0; k < first_.size(); ++k) {
    if (IsFixed(first_[k]) != IsFixed(vocabularies[k]) ||
        (IsFixed(first_[k]) && !HasSameWords(first_[k], vocabularies[k]))) {
      return absl::InvalidArgumentError(
          absl::StrCat("the values of its field '", first_[k].field(),
                       "' stand for other words than in the first file, and their format fixes them"));
    }
    if (!IsFixed(first_[k])) words_.Add(vocabularies[k]);
  }
  return absl::OkStatus();
}

void JoinedWords::Store(v1::Schema* schema) const {
  schema->clear_vocabularies();
  for (const v1::Vocabulary& vocabulary : first_) {
    *schema->add_vocabularies() = IsFixed(vocabulary) ? vocabulary : words_.Of(vocabulary.field());
  }
}

absl::StatusOr<WordConverter> JoinedWords::ConverterOf(const v1::Schema& schema) const {
  ABSL_ASSIGN_OR_RETURN(records::RecordLayout layout, records::RecordLayout::Create(schema));
  WordConverter converter(std::move(layout));
  for (const v1::Vocabulary& vocabulary : schema.vocabularies()) {
    const std::optional<std::size_t> place = converter.layout_.FindField(vocabulary.field());
    if (!place || IsFixed(vocabulary)) continue;
    WordConverter::WordField field = {vocabulary.field(), *place, {}};
    for (const std::string& word : vocabulary.words()) {
      field.ids.push_back(words_.Find(vocabulary.field(), word).value_or(0));
    }
    std::vector<std::uint32_t> same(field.ids.size());
    std::iota(same.begin(), same.end(), 0u);
    if (field.ids != same) converter.fields_.push_back(std::move(field));
  }
  return converter;
}

}  // namespace packtrain::ingest
