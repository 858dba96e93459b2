// What the records of a file in the general form hold, by its first record.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/formats/jsonl_general.h"
#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"
#include "proto/wire/import_words.h"

namespace packtrain::ingest {
namespace {

constexpr char kGivenEdges[] = "given";

constexpr std::array<std::pair<std::string_view, v1::DataType>, 8> kTypes = {{{"u8", v1::DATA_TYPE_U8},
                                                                              {"u16", v1::DATA_TYPE_U16},
                                                                              {"u32", v1::DATA_TYPE_U32},
                                                                              {"u64", v1::DATA_TYPE_U64},
                                                                              {"i32", v1::DATA_TYPE_I32},
                                                                              {"i64", v1::DATA_TYPE_I64},
                                                                              {"f32", v1::DATA_TYPE_F32},
                                                                              {"f64", v1::DATA_TYPE_F64}}};

absl::Status BadSchema(std::string_view what) {
  return Refusal("bad_schema", absl::StrCat("schema: ", std::string(what)));
}

// Fields whose names say what they are; those of dimensions 0 have them of the first record.
const std::vector<GraphField>& KnownFields() {
  constexpr v1::FieldScope kNode = v1::FIELD_SCOPE_NODE, kEdge = v1::FIELD_SCOPE_EDGE,
                           kGraph = v1::FIELD_SCOPE_GRAPH;
  static const auto* fields = new std::vector<GraphField>{
      {.name = "z", .scope = kNode, .data_type = v1::DATA_TYPE_U8},
      {.name = "pos", .scope = kNode, .data_type = v1::DATA_TYPE_F32, .dims = {3}, .unit = "angstrom"},
      {.name = "x", .scope = kNode, .data_type = v1::DATA_TYPE_F32, .dims = {0}},
      {.name = "token", .scope = kNode, .data_type = v1::DATA_TYPE_I32},
      {.name = "is_slot", .scope = kNode, .data_type = v1::DATA_TYPE_U8},
      {.name = "is_candidate", .scope = kNode, .data_type = v1::DATA_TYPE_U8},
      {.name = "is_target", .scope = kNode, .data_type = v1::DATA_TYPE_U8},
      {.name = "edge_type", .scope = kEdge, .data_type = v1::DATA_TYPE_U8},
      {.name = "edge_attr", .scope = kEdge, .data_type = v1::DATA_TYPE_F32, .dims = {0}},
      {.name = "shift", .scope = kEdge, .data_type = v1::DATA_TYPE_I32, .dims = {3}},
      {.name = "cell",
       .scope = kGraph,
       .data_type = v1::DATA_TYPE_F32,
       .dims = {3, 3},
       .unit = "angstrom",
       .optional_noun = "cell",
       .zero_where_absent = true},
      {.name = "pbc",
       .scope = kGraph,
       .data_type = v1::DATA_TYPE_U8,
       .dims = {3},
       .optional_noun = "cell",
       .zero_where_absent = true}};
  return *fields;
}

const GraphField* FindKnown(std::string_view name) {
  for (const GraphField& field : KnownFields()) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

// The first row of a field; nullopt: there is none.
std::optional<JsonValue> FirstRow(v1::FieldScope scope, JsonValue rows) {
  if (scope == v1::FIELD_SCOPE_GRAPH) return rows;
  JsonValue row;
  if (rows.at(0).get(row) != simdjson::SUCCESS) return std::nullopt;
  return row;
}

class LayoutFinder {
 public:
  absl::StatusOr<GeneralLayout> Find(JsonObject record) {
    ABSL_RETURN_IF_ERROR(
        VisitMembers(record, [this](std::string_view key, JsonValue value) { return TakeMember(key, value); }));
    for (const GraphField& field : KnownFields()) {
      if (!field.optional_noun.empty() && !Has(field.name)) layout_.graphs.fields.push_back(field);
    }
    if (has_edge_field_ && layout_.graphs.edges.empty()) {
      return Refusal("missing_field", "the record has fields of edges, but no edges");
    }
    return std::move(layout_);
  }

 private:
  bool Has(std::string_view name) const {
    return std::any_of(layout_.graphs.fields.begin(), layout_.graphs.fields.end(),
                       [&](const GraphField& field) { return field.name == name; });
  }

  absl::Status TakeMember(std::string_view key, JsonValue value) {
    if (key == "nodes" && value.is_object()) return TakeFields(v1::FIELD_SCOPE_NODE, value);
    if (key == "edges" && value.is_object()) return TakeFields(v1::FIELD_SCOPE_EDGE, value);
    if (key == "graph") return TakeFields(v1::FIELD_SCOPE_GRAPH, value);
    if (key == "edges" || key == "senders") layout_.graphs.edges = kGivenEdges;
    const GraphField* known = FindKnown(key);
    return known == nullptr ? absl::OkStatus() : Add(known->scope, key, value);
  }

  absl::Status TakeFields(v1::FieldScope scope, JsonValue value) {
    ABSL_ASSIGN_OR_RETURN(const JsonObject object, ObjectOf(value, "nodes, edges or graph"));
    return VisitMembers(object, [&](std::string_view key, JsonValue rows) -> absl::Status {
      if (scope == v1::FIELD_SCOPE_EDGE && (key == "senders" || key == "receivers")) {
        layout_.graphs.edges = kGivenEdges;
        return absl::OkStatus();
      }
      return Add(scope, key, rows);
    });
  }

  absl::Status Add(v1::FieldScope scope, std::string_view name, JsonValue rows) {
    const GraphField* known = FindKnown(name);
    GraphField field{.name = std::string(name), .scope = scope, .data_type = v1::DATA_TYPE_F32, .dims = {0}};
    if (known != nullptr && known->scope == scope) field = *known;
    if (Has(name)) return Refusal("duplicate_key", absl::StrCat("'", field.name, "' comes twice"));
    const std::optional<JsonValue> row = FirstRow(scope, rows);
    if (row && row->is_string()) {
      field.words = true;
      field.dims = {};
      if (field.data_type != v1::DATA_TYPE_U8) field.data_type = v1::DATA_TYPE_I32;
    }
    if (field.dims == std::vector<std::uint32_t>{0}) {
      field.dims = row ? DimsOf(*row) : std::vector<std::uint32_t>();
    }
    has_edge_field_ = has_edge_field_ || scope == v1::FIELD_SCOPE_EDGE;
    layout_.graphs.fields.push_back(std::move(field));
    return absl::OkStatus();
  }

  GeneralLayout layout_;
  bool has_edge_field_ = false;
};

absl::StatusOr<v1::FieldScope> ScopeOf(std::string_view word) {
  if (word == "node") return v1::FIELD_SCOPE_NODE;
  if (word == "edge") return v1::FIELD_SCOPE_EDGE;
  if (word == "graph") return v1::FIELD_SCOPE_GRAPH;
  return BadSchema("the scope of a field must be node, edge or graph");
}

absl::StatusOr<v1::DataType> TypeOf(std::string_view word) {
  for (const auto& [name, type] : kTypes) {
    if (name == word) return type;
  }
  return BadSchema("the dtype of a field must be u8, u16, u32, u64, i32, i64, f32 or f64");
}

absl::Status SetPart(std::string_view key, JsonValue value, GraphField* field) {
  if (key == "dims") {
    ABSL_ASSIGN_OR_RETURN(const JsonArray dims, ArrayOf(value, key));
    for (const JsonValue dim : dims) {
      ABSL_ASSIGN_OR_RETURN(const std::uint32_t size, IndexOf(dim, key));
      field->dims.push_back(size);
    }
    return absl::OkStatus();
  }
  if (key != "name" && key != "scope" && key != "dtype" && key != "unit") return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(const std::string_view text, TextOf(value, key));
  if (key == "name") field->name = text;
  if (key == "unit") field->unit = text;
  if (key == "scope") {
    ABSL_ASSIGN_OR_RETURN(field->scope, ScopeOf(text));
  }
  if (key == "dtype") {
    ABSL_ASSIGN_OR_RETURN(field->data_type, TypeOf(text));
  }
  return absl::OkStatus();
}

absl::StatusOr<GraphField> FieldOf(JsonValue value) {
  ABSL_ASSIGN_OR_RETURN(const JsonObject object, ObjectOf(value, "fields"));
  GraphField field;
  ABSL_RETURN_IF_ERROR(
      VisitMembers(object, [&](std::string_view key, JsonValue part) { return SetPart(key, part, &field); }));
  if (field.name.empty() || field.scope == v1::FIELD_SCOPE_UNSPECIFIED ||
      field.data_type == v1::DATA_TYPE_UNSPECIFIED) {
    return BadSchema("a field needs name, scope and dtype");
  }
  const GraphField* known = FindKnown(field.name);
  if (known != nullptr && known->scope == field.scope) {
    field.optional_noun = known->optional_noun;
    field.zero_where_absent = known->zero_where_absent;
  }
  return field;
}

absl::Status AddFields(JsonValue value, GraphLayout* layout) {
  ABSL_ASSIGN_OR_RETURN(const JsonArray fields, ArrayOf(value, "fields"));
  for (const JsonValue element : fields) {
    ABSL_ASSIGN_OR_RETURN(GraphField field, FieldOf(element));
    for (const GraphField& other : layout->fields) {
      if (other.name == field.name) return BadSchema(absl::StrCat("field '", field.name, "' comes twice"));
    }
    if (field.name == "y") {
      layout->fields_before_targets = layout->fields.size();
    } else {
      layout->fields.push_back(std::move(field));
    }
  }
  return absl::OkStatus();
}

// A name, or an object with name and perhaps unit.
absl::StatusOr<GeneralTarget> TargetOf(JsonValue value) {
  JsonValue name = value, unit;
  JsonObject object;
  GeneralTarget target;
  if (value.get(object) == simdjson::SUCCESS) {
    if (object["name"].get(name) != simdjson::SUCCESS) return BadSchema("a target needs a name");
    if (object["unit"].get(unit) == simdjson::SUCCESS) {
      ABSL_ASSIGN_OR_RETURN(target.unit, TextOf(unit, "unit"));
    }
  }
  ABSL_ASSIGN_OR_RETURN(target.name, TextOf(name, "targets"));
  return target;
}

absl::Status AddTargets(JsonValue value, std::vector<GeneralTarget>* targets) {
  ABSL_ASSIGN_OR_RETURN(const JsonArray columns, ArrayOf(value, "targets"));
  for (const JsonValue column : columns) {
    ABSL_ASSIGN_OR_RETURN(GeneralTarget target, TargetOf(column));
    targets->push_back(std::move(target));
  }
  return absl::OkStatus();
}

// The field of this name, whose values may stand for texts.
absl::StatusOr<GraphField*> FieldOfTexts(std::string_view name, GraphLayout* layout) {
  const auto field = std::find_if(layout->fields.begin(), layout->fields.end(),
                                  [&](const GraphField& candidate) { return candidate.name == name; });
  const bool fits = field != layout->fields.end() && field->dims.empty() &&
                    (field->data_type == v1::DATA_TYPE_U8 || field->data_type == v1::DATA_TYPE_U16 ||
                     field->data_type == v1::DATA_TYPE_I32);
  if (fits) return &*field;
  return BadSchema(absl::StrCat("'", std::string(name), "' is no field of one u8, u16 or i32"));
}

// The fields named hold texts.
absl::Status MarkWords(JsonValue value, GraphLayout* layout) {
  ABSL_ASSIGN_OR_RETURN(const JsonArray names, ArrayOf(value, "words"));
  for (const JsonValue element : names) {
    ABSL_ASSIGN_OR_RETURN(const std::string_view name, TextOf(element, "words"));
    ABSL_ASSIGN_OR_RETURN(GraphField* const field, FieldOfTexts(name, layout));
    field->words = true;
  }
  return absl::OkStatus();
}

// Values of the fields named stand for fixed texts.
absl::Status AddNames(JsonValue value, GraphLayout* layout) {
  ABSL_ASSIGN_OR_RETURN(const JsonObject fields, ObjectOf(value, "names"));
  return VisitMembers(fields, [&](std::string_view name, JsonValue list) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(GraphField* const field, FieldOfTexts(name, layout));
    ABSL_ASSIGN_OR_RETURN(const JsonArray texts, ArrayOf(list, "names"));
    for (const JsonValue text : texts) {
      ABSL_ASSIGN_OR_RETURN(field->names.emplace_back(), TextOf(text, "names"));
    }
    const std::size_t most = field->data_type == v1::DATA_TYPE_U8 ? 1 << 8 : 1 << 16;
    if (!field->words && !field->names.empty() && field->names.size() <= most) return absl::OkStatus();
    return BadSchema(absl::StrCat("'", field->name, "' must be either in 'words', or in 'names' with 1 to ",
                                  most, " texts"));
  });
}

absl::Status SetRenumbered(JsonValue value, GraphLayout* layout) {
  ABSL_ASSIGN_OR_RETURN(const std::string_view word, TextOf(value, "renumbered"));
  const auto renumbering = wire::ParseWord(word, wire::kRenumberingWords);
  if (!renumbering) {
    return BadSchema(absl::StrCat("'renumbered' must be ", wire::KnownWords(wire::kRenumberingWords)));
  }
  layout->renumbered = renumbering->value;
  return absl::OkStatus();
}

absl::StatusOr<GeneralLayout> LayoutOfSchema(JsonValue value) {
  ABSL_ASSIGN_OR_RETURN(const JsonObject schema, ObjectOf(value, "schema"));
  GeneralLayout layout;
  std::optional<JsonValue> words, names;
  ABSL_RETURN_IF_ERROR(VisitMembers(schema, [&](std::string_view key, JsonValue part) -> absl::Status {
    if (key == "fields") return AddFields(part, &layout.graphs);
    if (key == "targets") return AddTargets(part, &layout.targets);
    if (key == "words") words = part;
    if (key == "names") names = part;
    if (key == "renumbered") return SetRenumbered(part, &layout.graphs);
    if (key != "edge_builder") return absl::OkStatus();
    ABSL_ASSIGN_OR_RETURN(const std::string_view edges, TextOf(part, key));
    if (edges != "full") layout.graphs.edges = edges;
    return absl::OkStatus();
  }));
  if (words) {
    ABSL_RETURN_IF_ERROR(MarkWords(*words, &layout.graphs));
  }
  if (names) {
    ABSL_RETURN_IF_ERROR(AddNames(*names, &layout.graphs));
  }
  layout.graphs.labels_are_cells = !layout.targets.empty();  // which keep their order
  return layout;
}

}  // namespace

absl::StatusOr<GeneralLayout> GeneralLayoutOf(JsonObject record) {
  JsonValue schema;
  if (record["schema"].get(schema) == simdjson::SUCCESS) return LayoutOfSchema(schema);
  return LayoutFinder().Find(record);
}

}  // namespace packtrain::ingest
