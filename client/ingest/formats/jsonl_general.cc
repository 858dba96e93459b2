#include "client/ingest/formats/jsonl_general.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

std::optional<std::size_t> Position(const GraphLayout& layout, std::string_view name) {
  const auto field = std::find_if(layout.fields.begin(), layout.fields.end(),
                                  [&](const GraphField& candidate) { return candidate.name == name; });
  if (field == layout.fields.end()) return std::nullopt;
  return static_cast<std::size_t>(field - layout.fields.begin());
}

// The number of rows of one kind: the first that says it is believed.
class RowCount {
 public:
  absl::Status Take(std::uint64_t rows, std::string_view name) {
    if (!rows_) {
      rows_ = rows;
      name_ = name;
    }
    if (rows == *rows_) return absl::OkStatus();
    return Refusal("length_mismatch", absl::StrCat("'", std::string(name), "' means ", rows, ", but '",
                                                   std::string(name_), "' means ", *rows_));
  }

  std::optional<std::uint64_t> rows() const { return rows_; }

 private:
  std::optional<std::uint64_t> rows_;
  std::string_view name_;
};

// Reads one record.
class GeneralRecord {
 public:
  GeneralRecord(const GeneralLayout& layout, SourceGraph* graph, RecordWords* words)
      : layout_(layout.graphs),
        targets_(layout.targets),
        graph_(*graph),
        words_(*words),
        seen_(layout_.fields.size()) {}

  absl::Status Read(JsonObject record) {
    ABSL_RETURN_IF_ERROR(
        VisitMembers(record, [this](std::string_view key, JsonValue value) { return TakeMember(key, value); }));
    labels_.MoveTo(&graph_);
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      const GraphField& field = layout_.fields[k];
      if (!seen_[k] && field.optional_noun.empty()) return Missing(field.name);
    }
    if (!nodes_.rows()) {
      return Refusal("missing_field", "nothing says how many nodes there are ('nodes', 'n_node')");
    }
    return layout_.edges.empty() ? absl::OkStatus() : CheckEdges();
  }

  std::uint64_t nodes() const { return *nodes_.rows(); }

 private:
  static absl::Status Missing(std::string_view name) {
    return Refusal("missing_field",
                   absl::StrCat("the record has no '", std::string(name), "', which the first record has"));
  }

  static absl::Status Unknown(std::string_view name) {
    return Refusal("unknown_field",
                   absl::StrCat("the record has '", std::string(name), "', which the first record lacks"));
  }

  absl::Status TakeMember(std::string_view key, JsonValue value) {
    if (key == "id") {
      ABSL_ASSIGN_OR_RETURN(graph_.id, IdOf(value));
      return absl::OkStatus();
    }
    if (key == "nodes") return TakeNodes(value);
    if (key == "edges") return TakeEdges(value);
    if (key == "graph") return TakeFields(v1::FIELD_SCOPE_GRAPH, key, value);
    if (key == "targets") return TakeTargets(value);
    if (key == "y") return TakeColumns(value);
    if (key == "n_node" || key == "n_edge") return TakeCount(key, value);
    if (key == "schema") return absl::OkStatus();
    if (key == "senders" || key == "receivers") return TakeEnds(key, value);
    if (const std::optional<std::size_t> field = Position(layout_, key)) return TakeField(*field, value);
    if (key == kSplitKey) {
      TakeSplit(value, &graph_, &labels_);
    } else {
      AddLabel(key, value, &labels_);
    }
    return absl::OkStatus();
  }

  absl::Status TakeCount(std::string_view key, JsonValue value) {
    ABSL_ASSIGN_OR_RETURN(const std::uint32_t count, IndexOf(value, key));
    return (key == "n_node" ? nodes_ : edges_).Take(count, key);
  }

  absl::Status TakeNodes(JsonValue value) {
    return value.is_object() ? TakeFields(v1::FIELD_SCOPE_NODE, "nodes", value) : TakeCount("n_node", value);
  }

  absl::Status TakeEdges(JsonValue value) {
    if (value.is_object()) return TakeFields(v1::FIELD_SCOPE_EDGE, "edges", value);
    ABSL_ASSIGN_OR_RETURN(const JsonArray pairs, ArrayOf(value, "edges"));
    for (const JsonValue pair : pairs) {
      ABSL_ASSIGN_OR_RETURN(const JsonArray ends, ArrayOf(pair, "edges"));
      if (ends.size() != 2)
        return Refusal("bad_shape", "an edge in the list 'edges' must be [sender, receiver]");
      ABSL_ASSIGN_OR_RETURN(const std::uint32_t sender, IndexOf(ends.at(0).value(), "edges"));
      ABSL_ASSIGN_OR_RETURN(const std::uint32_t receiver, IndexOf(ends.at(1).value(), "edges"));
      graph_.senders.push_back(sender);
      graph_.receivers.push_back(receiver);
    }
    return edges_.Take(graph_.senders.size(), "edges");
  }

  absl::Status TakeFields(v1::FieldScope scope, std::string_view name, JsonValue value) {
    ABSL_ASSIGN_OR_RETURN(const JsonObject object, ObjectOf(value, name));
    return VisitMembers(object, [&](std::string_view key, JsonValue rows) -> absl::Status {
      if (scope == v1::FIELD_SCOPE_EDGE && (key == "senders" || key == "receivers")) return TakeEnds(key, rows);
      const std::optional<std::size_t> field = Position(layout_, key);
      if (!field || layout_.fields[*field].scope != scope) return Unknown(key);
      return TakeField(*field, rows);
    });
  }

  absl::Status TakeEnds(std::string_view key, JsonValue value) {
    if (layout_.edges.empty()) return Unknown(key);
    std::vector<std::uint32_t>& ends = key == "senders" ? graph_.senders : graph_.receivers;
    if (!ends.empty()) return Refusal("duplicate_key", absl::StrCat("'", std::string(key), "' comes twice"));
    ABSL_ASSIGN_OR_RETURN(const JsonArray nodes, ArrayOf(value, key));
    for (const JsonValue node : nodes) {
      ABSL_ASSIGN_OR_RETURN(const std::uint32_t index, IndexOf(node, key));
      ends.push_back(index);
    }
    return edges_.Take(ends.size(), key);
  }

  absl::Status TakeField(std::size_t k, JsonValue value) {
    const GraphField& field = layout_.fields[k];
    if (seen_[k]) return Refusal("duplicate_key", absl::StrCat("'", field.name, "' comes twice"));
    seen_[k] = true;
    if (field.scope == v1::FIELD_SCOPE_GRAPH) return TakeRow(k, value);
    ABSL_ASSIGN_OR_RETURN(const JsonArray rows, ArrayOf(value, field.name));
    std::uint64_t count = 0;
    for (const JsonValue row : rows) {
      ABSL_RETURN_IF_ERROR(TakeRow(k, row));
      ++count;
    }
    return (field.scope == v1::FIELD_SCOPE_NODE ? nodes_ : edges_).Take(count, field.name);
  }

  absl::Status TakeRow(std::size_t k, JsonValue row) {
    const GraphField& field = layout_.fields[k];
    if (!field.names.empty() && row.is_string()) return TakeName(k, row);
    if (!field.words) return AppendRow(row, field.dims, field.name, &graph_.fields[k]);
    ABSL_ASSIGN_OR_RETURN(const std::string_view word, TextOf(row, field.name));
    words_[k].push_back(word);
    return absl::OkStatus();
  }

  // A text that the field's format fixes.
  absl::Status TakeName(std::size_t k, JsonValue row) {
    const GraphField& field = layout_.fields[k];
    ABSL_ASSIGN_OR_RETURN(const std::string_view text, TextOf(row, field.name));
    const auto name = std::find(field.names.begin(), field.names.end(), text);
    if (name == field.names.end()) {
      return Refusal("unknown_word", absl::StrCat("'", field.name, "' holds ", Shown(text),
                                                  ", which is not in the schema's list of its names"));
    }
    std::visit(
        [&](auto& values) {
          using Value = typename std::remove_reference_t<decltype(values)>::value_type;
          values.push_back(static_cast<Value>(name - field.names.begin()));
        },
        graph_.fields[k]);
    return absl::OkStatus();
  }

  absl::Status TakeTargets(JsonValue value) {
    ABSL_ASSIGN_OR_RETURN(const JsonObject object, ObjectOf(value, "targets"));
    return VisitMembers(object, [this](std::string_view name, JsonValue target) {
      AddTargetLabel(name, target, &labels_);
      return absl::OkStatus();
    });
  }

  // A column without a name in the schema is y, or y_0, y_1 and so on.
  absl::Status TakeColumns(JsonValue value) {
    JsonArray columns;
    if (value.get(columns) != simdjson::SUCCESS) {
      if (targets_.size() == 1) return TakeColumn(targets_[0], value);
      AddTargetLabel("y", value, &labels_);
      return absl::OkStatus();
    }
    if (!targets_.empty() && columns.size() != targets_.size()) {
      return Refusal("bad_shape", absl::StrCat("'y' has ", columns.size(), " values, the schema ",
                                               targets_.size(), " targets"));
    }
    std::size_t column = 0;
    for (const JsonValue target : columns) {
      if (targets_.empty()) {
        AddTargetLabel(absl::StrCat("y_", column), target, &labels_);
      } else {
        ABSL_RETURN_IF_ERROR(TakeColumn(targets_[column], target));
      }
      ++column;
    }
    return absl::OkStatus();
  }

  absl::Status TakeColumn(const GeneralTarget& target, JsonValue value) {
    const std::optional<std::string> text = TextOfLabel(value);
    if (!text) return Refusal("bad_shape", absl::StrCat("target '", target.name, "' is no number"));
    labels_.AddTarget(target.name, *text, target.unit);
    return absl::OkStatus();
  }

  absl::Status CheckEdges() const {
    if (!edges_.rows()) return Missing("edges");
    if (graph_.senders.size() == *edges_.rows() && graph_.receivers.size() == *edges_.rows())
      return absl::OkStatus();
    return Refusal("length_mismatch",
                   absl::StrCat("there are ", graph_.senders.size(), " senders and ", graph_.receivers.size(),
                                " receivers of ", *edges_.rows(), " edges"));
  }

  const GraphLayout& layout_;
  const std::vector<GeneralTarget>& targets_;
  SourceGraph& graph_;
  RecordWords& words_;
  LabelList labels_;
  RowCount nodes_;
  RowCount edges_;
  std::vector<bool> seen_;  // by field
};

class GeneralForm final : public JsonlForm {
 public:
  GeneralForm(GeneralLayout layout, const ReadLimits& limits)
      : JsonlForm(layout.graphs, limits), layout_(std::move(layout)) {}

  absl::Status Read(JsonObject record, SourceGraph* graph, RecordWords* words) const override {
    GeneralRecord reading(layout_, graph, words);
    ABSL_RETURN_IF_ERROR(reading.Read(record));
    const std::uint64_t nodes = reading.nodes();
    ABSL_RETURN_IF_ERROR(CheckCounts(nodes, graph->senders.size()));
    graph->n_node = static_cast<std::uint32_t>(nodes);
    for (const std::vector<std::uint32_t>* ends : {&graph->senders, &graph->receivers}) {
      for (const std::uint32_t node : *ends) ABSL_RETURN_IF_ERROR(CheckNode(node, nodes, "edges"));
    }
    return absl::OkStatus();
  }

 private:
  const GeneralLayout layout_;
};

}  // namespace

std::unique_ptr<JsonlForm> NewGeneralForm(GeneralLayout layout, const ReadLimits& limits) {
  return std::make_unique<GeneralForm>(std::move(layout), limits);
}

}  // namespace packtrain::ingest
