// Typed bond graphs as lines of JSON.
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/formats/jsonl_form.h"
#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr char kFeatures[] = "node_features";
constexpr char kBonds[] = "graph";
// Of the elements that the first features stand for, one-hot; the atomic number follows them.
constexpr std::array<std::uint8_t, 5> kOneHot = {1, 6, 7, 8, 9};

// The features of a node that begin as those of QM9 do, as an atomic number; nullopt: they do not.
std::optional<std::uint8_t> AtomicNumberOf(std::span<const float> features) {
  if (features.size() <= kOneHot.size()) return std::nullopt;
  std::optional<std::uint8_t> element;
  for (std::size_t k = 0; k < kOneHot.size(); ++k) {
    if (features[k] != 0 && features[k] != 1) return std::nullopt;
    if (features[k] == 0) continue;
    if (element) return std::nullopt;
    element = kOneHot[k];
  }
  if (element && features[kOneHot.size()] != static_cast<float>(*element)) return std::nullopt;
  return element;
}

// Of all nodes; nullopt where one of them has none.
std::optional<std::vector<std::uint8_t>> AtomicNumbersOf(std::span<const float> features, std::size_t width) {
  std::vector<std::uint8_t> z;
  for (std::size_t at = 0; at + width <= features.size(); at += width) {
    const std::optional<std::uint8_t> element = AtomicNumberOf(features.subspan(at, width));
    if (!element) return std::nullopt;
    z.push_back(*element);
  }
  return z;
}

GraphLayout LayoutOf(std::uint32_t width, bool has_z) {
  GraphLayout layout;
  if (has_z) {
    layout.fields.push_back({.name = "z", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_U8});
  }
  layout.fields.push_back(
      {.name = "x", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_F32, .dims = {width}});
  layout.fields.push_back({.name = "edge_type", .scope = v1::FIELD_SCOPE_EDGE, .data_type = v1::DATA_TYPE_U8});
  layout.edges = "bonds";
  return layout;
}

class BondForm final : public JsonlForm {
 public:
  BondForm(std::uint32_t width, bool has_z, const ReadLimits& limits)
      : JsonlForm(LayoutOf(width, has_z), limits), width_(width), has_z_(has_z) {}

  absl::Status Read(JsonObject record, SourceGraph* graph, RecordWords*) const override {
    std::optional<JsonValue> features, bonds;
    LabelList labels;
    ABSL_RETURN_IF_ERROR(VisitMembers(record, [&](std::string_view key, JsonValue value) -> absl::Status {
      if (key == kFeatures) {
        features = value;
      } else if (key == kBonds) {
        bonds = value;
      } else if (key == "id") {
        ABSL_ASSIGN_OR_RETURN(graph->id, IdOf(value));
      } else if (key == "targets") {
        return AddTargets(value, labels);
      } else if (key == kSplitKey) {
        TakeSplit(value, graph, &labels);
      } else {
        AddLabel(key, value, &labels);
      }
      return absl::OkStatus();
    }));
    labels.MoveTo(graph);
    if (!features || !bonds) {
      return Refusal("missing_field", absl::StrCat("the record has no '", features ? kBonds : kFeatures, "'"));
    }
    ABSL_RETURN_IF_ERROR(ReadNodes(*features, graph));
    return ReadBonds(*bonds, graph);
  }

 private:
  static absl::Status AddTargets(JsonValue value, LabelList& labels) {
    ABSL_ASSIGN_OR_RETURN(const JsonArray targets, ArrayOf(value, "targets"));
    std::size_t column = 0;
    for (const JsonValue target : targets) {
      JsonValue number = target;
      JsonArray list;
      if (target.get(list) == simdjson::SUCCESS && list.size() == 1) number = list.at(0).value();
      AddLabel(absl::StrCat("target_", column++), number, &labels);
    }
    return absl::OkStatus();
  }

  absl::Status ReadNodes(JsonValue value, SourceGraph* graph) const {
    ABSL_ASSIGN_OR_RETURN(const JsonArray rows, ArrayOf(value, kFeatures));
    FieldValues& features = graph->fields[has_z_ ? 1 : 0];
    std::uint32_t nodes = 0;
    for (const JsonValue row : rows) {
      ABSL_RETURN_IF_ERROR(AppendRow(row, {width_}, kFeatures, &features));
      ++nodes;
    }
    ABSL_RETURN_IF_ERROR(CheckCounts(nodes, 0));
    graph->n_node = nodes;
    if (!has_z_) return absl::OkStatus();
    std::optional<std::vector<std::uint8_t>> z =
        AtomicNumbersOf(std::get<std::vector<float>>(features), width_);
    if (!z) {
      return Refusal(
          "contradiction",
          "the first five features of a node are one-hot of H, C, N, O, F in the first record, and the "
          "sixth is its atomic number, but not here");
    }
    graph->Values<std::uint8_t>(0) = *std::move(z);
    return absl::OkStatus();
  }

  absl::Status ReadBonds(JsonValue value, SourceGraph* graph) const {
    ABSL_ASSIGN_OR_RETURN(const JsonArray bonds, ArrayOf(value, kBonds));
    std::vector<std::uint8_t>& types = graph->Values<std::uint8_t>(has_z_ ? 2 : 1);
    for (const JsonValue bond : bonds) {
      ABSL_ASSIGN_OR_RETURN(const JsonArray parts, ArrayOf(bond, kBonds));
      if (parts.size() != 3) return Refusal("bad_shape", "a bond must be [from, type, to]");
      ABSL_ASSIGN_OR_RETURN(const std::uint32_t from, IndexOf(parts.at(0).value(), kBonds));
      ABSL_ASSIGN_OR_RETURN(const std::uint32_t type, IndexOf(parts.at(1).value(), kBonds));
      ABSL_ASSIGN_OR_RETURN(const std::uint32_t to, IndexOf(parts.at(2).value(), kBonds));
      ABSL_RETURN_IF_ERROR(CheckNode(std::max(from, to), graph->n_node, kBonds));
      if (type > 255) return Refusal("bad_value", absl::StrCat("bond type ", type, " is above 255"));
      graph->senders.insert(graph->senders.end(), {from, to});
      graph->receivers.insert(graph->receivers.end(), {to, from});
      types.insert(types.end(), 2, static_cast<std::uint8_t>(type));
    }
    return CheckCounts(graph->n_node, graph->senders.size());
  }

  const std::uint32_t width_;
  const bool has_z_;
};

}  // namespace

std::unique_ptr<JsonlForm> NewBondForm(JsonObject record, const ReadLimits& limits) {
  FieldValues features = std::vector<float>();
  std::uint32_t width = 1;
  JsonArray rows;
  if (record[kFeatures].get(rows) == simdjson::SUCCESS) {
    for (const JsonValue row : rows) {
      const std::vector<std::uint32_t> dims = DimsOf(row);
      if (dims.size() == 1 && dims[0] > 0) width = dims[0];
      if (!AppendRow(row, {width}, kFeatures, &features).ok()) break;
    }
  }
  const std::vector<float>& values = std::get<std::vector<float>>(features);
  return std::make_unique<BondForm>(width, !values.empty() && AtomicNumbersOf(values, width).has_value(),
                                    limits);
}

}  // namespace packtrain::ingest
