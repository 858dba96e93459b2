// Programs as lines of JSON, in both forms of the variable misuse task.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/formats/jsonl_form.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

enum FieldPosition : std::size_t { kToken, kSlot, kCandidate, kTarget, kEdgeType };

GraphLayout ProgramLayout() {
  const auto field = [](std::string name, v1::FieldScope scope, v1::DataType type, bool words) {
    return GraphField{.name = std::move(name), .scope = scope, .data_type = type, .words = words};
  };
  GraphLayout layout;
  layout.fields = {field("token", v1::FIELD_SCOPE_NODE, v1::DATA_TYPE_I32, true),
                   field("is_slot", v1::FIELD_SCOPE_NODE, v1::DATA_TYPE_U8, false),
                   field("is_candidate", v1::FIELD_SCOPE_NODE, v1::DATA_TYPE_U8, false),
                   field("is_target", v1::FIELD_SCOPE_NODE, v1::DATA_TYPE_U8, false),
                   field("edge_type", v1::FIELD_SCOPE_EDGE, v1::DATA_TYPE_U8, true)};
  layout.edges = "program";
  layout.record_word = "program";
  return layout;
}

// The members of a record by key.
using Members = std::map<std::string_view, JsonValue>;

absl::StatusOr<Members> MembersOf(JsonObject object) {
  Members members;
  ABSL_RETURN_IF_ERROR(VisitMembers(object, [&](std::string_view key, JsonValue value) {
    members.emplace(key, value);
    return absl::OkStatus();
  }));
  return members;
}

absl::StatusOr<JsonValue> Required(const Members& members, std::string_view key) {
  const auto member = members.find(key);
  if (member != members.end()) return member->second;
  return Refusal("missing_field", absl::StrCat("the record has no '", std::string(key), "'"));
}

class ProgramForm : public JsonlForm {
 protected:
  explicit ProgramForm(const ReadLimits& limits) : JsonlForm(ProgramLayout(), limits) {}

  // Gives the graph its nodes, of which none is marked yet.
  absl::Status SetNodes(std::size_t nodes, SourceGraph* graph) const {
    ABSL_RETURN_IF_ERROR(CheckCounts(nodes, 0));
    graph->n_node = static_cast<std::uint32_t>(nodes);
    for (const FieldPosition mark : {kSlot, kCandidate, kTarget}) {
      graph->Values<std::uint8_t>(mark).assign(nodes, 0);
    }
    return absl::OkStatus();
  }

  static absl::Status Mark(FieldPosition field, JsonValue node, std::string_view name, SourceGraph* graph) {
    ABSL_ASSIGN_OR_RETURN(const std::uint32_t index, IndexOf(node, name));
    ABSL_RETURN_IF_ERROR(CheckNode(index, graph->n_node, name));
    graph->Values<std::uint8_t>(field)[index] = 1;
    return absl::OkStatus();
  }

  // The slot is never a candidate.
  static void UnmarkSlot(SourceGraph* graph) {
    const std::vector<std::uint8_t>& slot = graph->Values<std::uint8_t>(kSlot);
    std::vector<std::uint8_t>& candidate = graph->Values<std::uint8_t>(kCandidate);
    for (std::size_t k = 0; k < slot.size(); ++k) candidate[k] &= static_cast<std::uint8_t>(1 - slot[k]);
  }

  static absl::Status AddEdge(JsonArray ends, std::string_view type, SourceGraph* graph, RecordWords* words) {
    ABSL_ASSIGN_OR_RETURN(const std::uint32_t from, IndexOf(ends.at(0).value(), "edges"));
    ABSL_ASSIGN_OR_RETURN(const std::uint32_t to, IndexOf(ends.at(1).value(), "edges"));
    ABSL_RETURN_IF_ERROR(CheckNode(std::max(from, to), graph->n_node, "edges"));
    graph->senders.push_back(from);
    graph->receivers.push_back(to);
    (*words)[kEdgeType].push_back(type);
    return absl::OkStatus();
  }
};

class TokenForm final : public ProgramForm {
 public:
  explicit TokenForm(const ReadLimits& limits) : ProgramForm(limits) {}

  absl::Status Read(JsonObject record, SourceGraph* graph, RecordWords* words) const override {
    ABSL_ASSIGN_OR_RETURN(const Members members, MembersOf(record));
    if (const auto id = members.find("id"); id != members.end()) {
      ABSL_ASSIGN_OR_RETURN(graph->id, IdOf(id->second));
    }
    AddLabels(members, graph);
    ABSL_RETURN_IF_ERROR(ReadTokens(members, graph, words));
    ABSL_RETURN_IF_ERROR(ReadMarks(members, graph));
    return ReadEdges(members, graph, words);
  }

 private:
  // What became fields is no label; `error_location` is a node's index.
  static void AddLabels(const Members& members, SourceGraph* graph) {
    LabelList labels;
    for (const auto& [key, value] : members) {
      const bool field = key == "source_tokens" || key == "edges" || key == "repair_targets" || key == "id" ||
                         key == "repair_candidates";
      if (field) continue;
      if (key == "error_location") {
        labels.Add(key, TextOfLabel(value).value_or(""), /*structural=*/true);
      } else if (key == kSplitKey) {
        TakeSplit(value, graph, &labels);
      } else {
        AddLabel(key, value, &labels);
      }
    }
    labels.MoveTo(graph);
  }

  absl::Status ReadTokens(const Members& members, SourceGraph* graph, RecordWords* words) const {
    ABSL_ASSIGN_OR_RETURN(const JsonValue value, Required(members, "source_tokens"));
    ABSL_ASSIGN_OR_RETURN(const JsonArray tokens, ArrayOf(value, "source_tokens"));
    for (const JsonValue token : tokens) {
      ABSL_ASSIGN_OR_RETURN(const std::string_view word, TextOf(token, "source_tokens"));
      (*words)[kToken].push_back(word);
    }
    return SetNodes((*words)[kToken].size(), graph);
  }

  static absl::Status ReadMarks(const Members& members, SourceGraph* graph) {
    ABSL_ASSIGN_OR_RETURN(const JsonValue has_bug, Required(members, "has_bug"));
    ABSL_ASSIGN_OR_RETURN(const bool has_slot, TruthOf(has_bug, "has_bug"));
    if (has_slot) {
      ABSL_ASSIGN_OR_RETURN(const JsonValue slot, Required(members, "error_location"));
      ABSL_RETURN_IF_ERROR(Mark(kSlot, slot, "error_location", graph));
    }
    ABSL_RETURN_IF_ERROR(MarkAll(kTarget, members, "repair_targets", graph));
    if (members.contains("repair_candidates")) {
      ABSL_RETURN_IF_ERROR(MarkAll(kCandidate, members, "repair_candidates", graph));
    }
    UnmarkSlot(graph);
    return absl::OkStatus();
  }

  // Candidates may also be listed as text, which names no node.
  static absl::Status MarkAll(FieldPosition field, const Members& members, std::string_view key,
                              SourceGraph* graph) {
    ABSL_ASSIGN_OR_RETURN(const JsonValue value, Required(members, key));
    ABSL_ASSIGN_OR_RETURN(const JsonArray nodes, ArrayOf(value, key));
    for (const JsonValue node : nodes) {
      if (field == kCandidate && node.is_string()) continue;
      ABSL_RETURN_IF_ERROR(Mark(field, node, key, graph));
    }
    return absl::OkStatus();
  }

  absl::Status ReadEdges(const Members& members, SourceGraph* graph, RecordWords* words) const {
    ABSL_ASSIGN_OR_RETURN(const JsonValue value, Required(members, "edges"));
    ABSL_ASSIGN_OR_RETURN(const JsonArray edges, ArrayOf(value, "edges"));
    for (const JsonValue edge : edges) {
      ABSL_ASSIGN_OR_RETURN(const JsonArray parts, ArrayOf(edge, "edges"));
      if (parts.size() != 4) return Refusal("bad_shape", "an edge must be [from, to, type, name of the type]");
      ABSL_ASSIGN_OR_RETURN(const std::string_view type, TextOf(parts.at(3).value(), "edges"));
      ABSL_RETURN_IF_ERROR(AddEdge(parts, type, graph, words));
    }
    return CheckCounts(graph->n_node, graph->senders.size());
  }
};

class TreeForm final : public ProgramForm {
 public:
  explicit TreeForm(const ReadLimits& limits) : ProgramForm(limits) {}

  absl::Status Read(JsonObject record, SourceGraph* graph, RecordWords* words) const override {
    ABSL_ASSIGN_OR_RETURN(const Members members, MembersOf(record));
    if (const auto id = members.find("id"); id != members.end()) {
      ABSL_ASSIGN_OR_RETURN(graph->id, IdOf(id->second));
    }
    AddLabels(members, graph);
    ABSL_ASSIGN_OR_RETURN(const JsonValue value, Required(members, "ContextGraph"));
    ABSL_ASSIGN_OR_RETURN(const JsonObject object, ObjectOf(value, "ContextGraph"));
    ABSL_ASSIGN_OR_RETURN(const Members parts, MembersOf(object));
    ABSL_RETURN_IF_ERROR(ReadNodes(parts, graph, words));
    ABSL_RETURN_IF_ERROR(ReadMarks(members, graph));
    return ReadEdges(parts, graph, words);
  }

 private:
  static void AddLabels(const Members& members, SourceGraph* graph) {
    LabelList labels;
    for (const auto& [key, value] : members) {
      const bool node =
          key == "HoleNode" || key == "SlotDummyNode" || key == "LastTokenBeforeHole" || key == "slotTokenIdx";
      if (node) {
        labels.Add(key, TextOfLabel(value).value_or(""), /*structural=*/true);
      } else if (key == kSplitKey) {
        TakeSplit(value, graph, &labels);
      } else if (key != "id" && key != "ContextGraph" && key != "SymbolCandidates" &&
                 key != "LastUseOfVariablesInScope") {
        AddLabel(key, value, &labels);
      }
    }
    labels.MoveTo(graph);
  }

  // The table has each number from 0 on once, as it is an object without equal keys.
  absl::Status ReadNodes(const Members& parts, SourceGraph* graph, RecordWords* words) const {
    ABSL_ASSIGN_OR_RETURN(const JsonValue value, Required(parts, "NodeLabels"));
    ABSL_ASSIGN_OR_RETURN(const JsonObject labels, ObjectOf(value, "NodeLabels"));
    std::size_t nodes = 0;
    for ([[maybe_unused]] const simdjson::dom::key_value_pair label : labels) ++nodes;
    ABSL_RETURN_IF_ERROR(SetNodes(nodes, graph));
    std::vector<std::string_view>& tokens = (*words)[kToken];
    tokens.resize(nodes);
    return VisitMembers(labels, [&](std::string_view key, JsonValue label) -> absl::Status {
      const std::optional<std::uint64_t> node = ParseCount(key);
      if (!node || *node >= nodes || key != absl::StrCat(*node)) {
        return Refusal("bad_node_table", absl::StrCat("'NodeLabels' has ", nodes, " nodes, but a key '",
                                                      std::string(key), "'; they must be 0 to ", nodes - 1));
      }
      ABSL_ASSIGN_OR_RETURN(tokens[*node], TextOf(label, "NodeLabels"));
      return absl::OkStatus();
    });
  }

  static absl::Status ReadMarks(const Members& members, SourceGraph* graph) {
    const bool hole = members.contains("HoleNode");
    ABSL_ASSIGN_OR_RETURN(const JsonValue slot, Required(members, hole ? "HoleNode" : "SlotDummyNode"));
    ABSL_RETURN_IF_ERROR(Mark(kSlot, slot, hole ? "HoleNode" : "SlotDummyNode", graph));
    ABSL_RETURN_IF_ERROR(hole ? MarkVariables(members, graph) : MarkSymbols(members, graph));
    UnmarkSlot(graph);
    return absl::OkStatus();
  }

  static absl::Status MarkVariables(const Members& members, SourceGraph* graph) {
    ABSL_ASSIGN_OR_RETURN(const JsonValue value, Required(members, "LastUseOfVariablesInScope"));
    ABSL_ASSIGN_OR_RETURN(const JsonObject variables, ObjectOf(value, "LastUseOfVariablesInScope"));
    std::string_view expression;
    if (const auto original = members.find("OriginalExpression"); original != members.end()) {
      ABSL_ASSIGN_OR_RETURN(expression, TextOf(original->second, "OriginalExpression"));
    }
    return VisitMembers(variables, [&](std::string_view name, JsonValue node) -> absl::Status {
      ABSL_RETURN_IF_ERROR(Mark(kCandidate, node, "LastUseOfVariablesInScope", graph));
      if (name != expression) return absl::OkStatus();
      return Mark(kTarget, node, "LastUseOfVariablesInScope", graph);
    });
  }

  static absl::Status MarkSymbols(const Members& members, SourceGraph* graph) {
    ABSL_ASSIGN_OR_RETURN(const JsonValue value, Required(members, "SymbolCandidates"));
    ABSL_ASSIGN_OR_RETURN(const JsonArray symbols, ArrayOf(value, "SymbolCandidates"));
    for (const JsonValue element : symbols) {
      ABSL_ASSIGN_OR_RETURN(const JsonObject object, ObjectOf(element, "SymbolCandidates"));
      ABSL_ASSIGN_OR_RETURN(const Members symbol, MembersOf(object));
      ABSL_ASSIGN_OR_RETURN(const JsonValue node, Required(symbol, "SymbolDummyNode"));
      ABSL_ASSIGN_OR_RETURN(const JsonValue is_correct, Required(symbol, "IsCorrect"));
      ABSL_ASSIGN_OR_RETURN(const bool right, TruthOf(is_correct, "IsCorrect"));
      ABSL_RETURN_IF_ERROR(Mark(kCandidate, node, "SymbolDummyNode", graph));
      if (!right) continue;
      ABSL_RETURN_IF_ERROR(Mark(kTarget, node, "SymbolDummyNode", graph));
    }
    return absl::OkStatus();
  }

  absl::Status ReadEdges(const Members& parts, SourceGraph* graph, RecordWords* words) const {
    ABSL_ASSIGN_OR_RETURN(const JsonValue value, Required(parts, "Edges"));
    ABSL_ASSIGN_OR_RETURN(const JsonObject types, ObjectOf(value, "Edges"));
    ABSL_RETURN_IF_ERROR(VisitMembers(types, [&](std::string_view type, JsonValue list) -> absl::Status {
      ABSL_ASSIGN_OR_RETURN(const JsonArray edges, ArrayOf(list, "Edges"));
      for (const JsonValue edge : edges) {
        ABSL_ASSIGN_OR_RETURN(const JsonArray ends, ArrayOf(edge, "Edges"));
        if (ends.size() != 2) return Refusal("bad_shape", "an edge must be [from, to]");
        ABSL_RETURN_IF_ERROR(AddEdge(ends, type, graph, words));
      }
      return absl::OkStatus();
    }));
    return CheckCounts(graph->n_node, graph->senders.size());
  }
};

}  // namespace

std::unique_ptr<JsonlForm> NewTokenForm(const ReadLimits& limits) {
  return std::make_unique<TokenForm>(limits);
}

std::unique_ptr<JsonlForm> NewTreeForm(const ReadLimits& limits) { return std::make_unique<TreeForm>(limits); }

}  // namespace packtrain::ingest
