#include "server/records/schema.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_layout.h"

namespace packtrain::records {
namespace {

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("schema: ", parts...));
}

bool IsNameByte(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

bool IsSectionName(std::string_view name) {
  constexpr std::array kTaken = {wire::kGraphIndexSection, wire::kNodeCountSection, wire::kEdgeCountSection,
                                 wire::kSendersSection, wire::kReceiversSection};
  return std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end();
}

absl::Status CheckName(const std::string& name) {
  if (name.empty() || name.size() > kMaxFieldNameBytes || !std::all_of(name.begin(), name.end(), IsNameByte)) {
    return Invalid("field name '", name, "' must be 1 to ", kMaxFieldNameBytes, " characters of [a-z0-9_]");
  }
  if (IsSectionName(name)) return Invalid("field name '", name, "' is the name of a batch section");
  return absl::OkStatus();
}

absl::Status CheckDims(const v1::Field& field) {
  if (field.dims_size() > kMaxDims) {
    return Invalid("field '", field.name(), "' has ", field.dims_size(), " dimensions, at most ", kMaxDims);
  }
  std::uint64_t elements = 1;
  for (const std::uint32_t dim : field.dims()) {
    elements *= dim;  // at most 2^16 * 2^32
    if (elements == 0 || elements > kMaxRowElements) {
      return Invalid("a row of field '", field.name(), "' must hold 1 to ", kMaxRowElements, " elements");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckUnit(const std::string& of, const std::string& unit) {
  if (unit.size() <= kMaxTextBytes) return absl::OkStatus();
  return Invalid("the unit of '", of, "' is longer than ", kMaxTextBytes, " bytes");
}

bool IsKnown(v1::FieldScope scope) {
  return scope == v1::FIELD_SCOPE_NODE || scope == v1::FIELD_SCOPE_EDGE || scope == v1::FIELD_SCOPE_GRAPH;
}

bool IsKnown(v1::DataType type) { return type >= v1::DATA_TYPE_U8 && type <= v1::DATA_TYPE_U64; }

absl::Status CheckTargetField(const v1::Schema& schema, const v1::Field& field) {
  const bool fits = field.scope() == v1::FIELD_SCOPE_GRAPH && field.data_type() == v1::DATA_TYPE_F64 &&
                    field.dims_size() == 1 &&
                    field.dims(0) == static_cast<std::uint32_t>(schema.targets_size());
  if (fits) return absl::OkStatus();
  return Invalid("field 'y' must be a graph field of F64 with dims [", schema.targets_size(),
                 "], one element for each target");
}

absl::Status CheckClassField(const v1::Field& field) {
  const bool integer = field.data_type() == v1::DATA_TYPE_U8 || field.data_type() == v1::DATA_TYPE_U16;
  if (integer && field.scope() == v1::FIELD_SCOPE_NODE && RowElements(field) == 1) return absl::OkStatus();
  return Invalid("field 'z' must be a node field of one U8 or U16, an atomic number");
}

absl::Status CheckField(const v1::Schema& schema, const v1::Field& field) {
  ABSL_RETURN_IF_ERROR(CheckName(field.name()));
  if (!IsKnown(field.scope())) return Invalid("field '", field.name(), "' has no known scope");
  if (!IsKnown(field.data_type())) return Invalid("field '", field.name(), "' has no known data type");
  ABSL_RETURN_IF_ERROR(CheckDims(field));
  ABSL_RETURN_IF_ERROR(CheckUnit(field.name(), field.unit()));
  if (field.scope() == v1::FIELD_SCOPE_EDGE && schema.edge_rule() != v1::EDGE_RULE_STORED) {
    return Invalid("edge field '", field.name(), "' needs edges that are stored, EDGE_RULE_STORED");
  }
  if (field.name() == kTargetField) return CheckTargetField(schema, field);
  if (field.name() == kClassField) return CheckClassField(field);
  return absl::OkStatus();
}

absl::Status CheckFields(const v1::Schema& schema) {
  if (schema.fields_size() < 1 || schema.fields_size() > kMaxFields) {
    return Invalid("has ", schema.fields_size(), " fields, must have 1 to ", kMaxFields);
  }
  absl::flat_hash_set<std::string> names;
  for (const v1::Field& field : schema.fields()) {
    ABSL_RETURN_IF_ERROR(CheckField(schema, field));
    if (!names.insert(field.name()).second) return Invalid("field '", field.name(), "' occurs twice");
  }
  if (schema.targets_size() > 0 && !names.contains(std::string(kTargetField))) {
    return Invalid("has targets but no graph field 'y' to hold them");
  }
  return absl::OkStatus();
}

absl::Status CheckTargets(const v1::Schema& schema) {
  if (schema.targets_size() > kMaxTargets) {
    return Invalid("has ", schema.targets_size(), " targets, at most ", kMaxTargets);
  }
  absl::flat_hash_set<std::string> names;
  for (const v1::Target& target : schema.targets()) {
    if (target.name().empty() || target.name().size() > kMaxTextBytes) {
      return Invalid("a target's name must be 1 to ", kMaxTextBytes, " bytes");
    }
    if (!names.insert(target.name()).second) return Invalid("target '", target.name(), "' occurs twice");
    ABSL_RETURN_IF_ERROR(CheckUnit(target.name(), target.unit()));
  }
  return absl::OkStatus();
}

absl::Status CheckEdges(const v1::Schema& schema) {
  if (schema.edges().size() > kMaxTextBytes) return Invalid("edges: longer than ", kMaxTextBytes, " bytes");
  switch (schema.edge_rule()) {
    case v1::EDGE_RULE_STORED:
      return absl::OkStatus();
    case v1::EDGE_RULE_FULL:
      if (schema.edges() == "full") return absl::OkStatus();
      return Invalid("edges '", schema.edges(), "' with EDGE_RULE_FULL, must be 'full'");
    default:
      return Invalid("the edge rule must be EDGE_RULE_FULL or EDGE_RULE_STORED");
  }
}

const v1::Field* FindField(const v1::Schema& schema, std::string_view name) {
  const auto field = std::find_if(schema.fields().begin(), schema.fields().end(),
                                  [&](const v1::Field& candidate) { return candidate.name() == name; });
  return field == schema.fields().end() ? nullptr : &*field;
}

absl::Status CheckRenumbered(const v1::Schema& schema) {
  if (!IsRenumbered(schema)) return absl::OkStatus();
  if (schema.renumbered() != v1::RENUMBERING_RCM) return Invalid("the nodes are renumbered in an unknown way");
  if (schema.edge_rule() != v1::EDGE_RULE_STORED) {
    return Invalid("renumbered nodes need edges that are stored, EDGE_RULE_STORED");
  }
  const v1::Field* field = FindField(schema, kSourceNodeField);
  const bool fits = field != nullptr && field->scope() == v1::FIELD_SCOPE_NODE &&
                    field->data_type() == v1::DATA_TYPE_I32 && field->dims().empty();
  return fits ? absl::OkStatus() : Invalid("renumbered nodes need a node field 'source_node' of one I32");
}

absl::Status CheckWordField(const v1::Field& field) {
  const bool integer = field.data_type() == v1::DATA_TYPE_U8 || field.data_type() == v1::DATA_TYPE_U16 ||
                       field.data_type() == v1::DATA_TYPE_I32;
  if (integer && RowElements(field) == 1) return absl::OkStatus();
  return Invalid("field '", field.name(), "' has a vocabulary, so it must hold one U8, U16 or I32");
}

absl::Status CheckVocabulary(const v1::Schema& schema, const v1::Vocabulary& vocabulary) {
  const std::string& name = vocabulary.field();
  const v1::Field* field = FindField(schema, name);
  if (field == nullptr) return Invalid("the vocabulary of '", name, "' has no such field");
  ABSL_RETURN_IF_ERROR(CheckWordField(*field));
  absl::flat_hash_set<absl::string_view> words;
  for (const std::string& word : vocabulary.words()) {
    if (!words.insert(word).second) return Invalid("the word '", word, "' of field '", name, "' occurs twice");
  }
  if (vocabulary.graphs().empty() || vocabulary.graphs_size() == vocabulary.words_size())
    return absl::OkStatus();
  return Invalid("the vocabulary of '", name, "' needs a number of graphs for each word");
}

absl::Status CheckVocabularies(const v1::Schema& schema) {
  absl::flat_hash_set<std::string> names;
  std::uint64_t bytes = 0;
  for (const v1::Vocabulary& vocabulary : schema.vocabularies()) {
    ABSL_RETURN_IF_ERROR(CheckVocabulary(schema, vocabulary));
    if (!names.insert(vocabulary.field()).second) {
      return Invalid("field '", vocabulary.field(), "' has two vocabularies");
    }
    bytes += vocabulary.ByteSizeLong();
  }
  if (bytes <= kMaxVocabularyBytes) return absl::OkStatus();
  return Invalid("the vocabularies take ", bytes, " bytes, at most ", kMaxVocabularyBytes);
}

void AppendNumber(std::uint64_t number, std::string& out) {
  for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(number >> shift));
}

void AppendText(std::string_view text, std::string& out) {
  AppendNumber(text.size(), out);
  out.append(text);
}

void AppendField(const v1::Field& field, std::string& out) {
  AppendText(field.name(), out);
  AppendNumber(field.scope(), out);
  AppendNumber(field.data_type(), out);
  AppendNumber(field.dims_size(), out);
  for (const std::uint32_t dim : field.dims()) AppendNumber(dim, out);
  AppendText(field.unit(), out);
}

void AppendVocabulary(const v1::Vocabulary& vocabulary, std::string& out) {
  AppendText(vocabulary.field(), out);
  AppendNumber(vocabulary.words_size(), out);
  for (const std::string& word : vocabulary.words()) AppendText(word, out);
}

}  // namespace

absl::Status CheckSchema(const v1::Schema& schema) {
  ABSL_RETURN_IF_ERROR(CheckEdges(schema));
  ABSL_RETURN_IF_ERROR(CheckTargets(schema));
  ABSL_RETURN_IF_ERROR(CheckFields(schema));
  ABSL_RETURN_IF_ERROR(CheckRenumbered(schema));
  return CheckVocabularies(schema);
}

std::uint64_t RowElements(const v1::Field& field) {
  std::uint64_t elements = 1;
  for (const std::uint32_t dim : field.dims()) elements *= dim;
  return elements;
}

void DropStrayVocabularies(v1::Schema& schema) {
  auto& all = *schema.mutable_vocabularies();
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const v1::Vocabulary& vocabulary) {
                             return FindField(schema, vocabulary.field()) == nullptr;
                           }),
            all.end());
}

std::string CanonicalSchema(const v1::Schema& schema) {
  std::string out;
  AppendNumber(schema.fields_size(), out);
  for (const v1::Field& field : schema.fields()) AppendField(field, out);
  AppendNumber(schema.edge_rule(), out);
  AppendText(schema.edges(), out);
  AppendNumber(schema.targets_size(), out);
  for (const v1::Target& target : schema.targets()) {
    AppendText(target.name(), out);
    AppendText(target.unit(), out);
  }
  // Nothing where there are none, as in schemas that are older than vocabularies.
  for (const v1::Vocabulary& vocabulary : schema.vocabularies()) AppendVocabulary(vocabulary, out);
  // The same of numberings. No vocabulary ends with the number behind its name.
  if (IsRenumbered(schema)) {
    AppendText("renumbered", out);
    AppendNumber(schema.renumbered(), out);
  }
  return out;
}

}  // namespace packtrain::records
