#include "client/cli/dataset/graph_lines.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/dataset/dataset_json.h"
#include "client/cli/output.h"

namespace packtrain::cli {
namespace {

using Dims = google::protobuf::RepeatedField<std::uint32_t>;

// Up to here whole numbers are exact as doubles.
constexpr double kExact = 9007199254740992.0;

// Keys of a line that are no fields; `nodes` and so on hold fields.
constexpr std::array<std::string_view, 8> kTakenKeys = {"id",    "split",   "schema", "nodes",
                                                        "edges", "targets", "graph",  "y"};

bool IsTaken(const v1::Field& field) {
  if (field.name() == "y") return field.scope() != v1::FIELD_SCOPE_GRAPH;
  return std::find(kTakenKeys.begin(), kTakenKeys.end(), field.name()) != kTakenKeys.end();
}

// Takes elements of one field from the front of `rest` and appends them as JSON.
template <typename T>
void AppendNumber(std::string_view& rest, std::string& out) {
  T value;
  std::memcpy(&value, rest.data(), sizeof(T));
  rest.remove_prefix(sizeof(T));
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      out += "null";
      return;
    }
  }
  char digits[32];
  const std::size_t begin = out.size();
  char* end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  if constexpr (std::is_same_v<T, float>) {
    // Readers of JSON round to a double first, from which a few floats do not come back.
    double read = 0;
    std::from_chars(digits, end, read);
    if (static_cast<float>(read) != value) {
      end = std::to_chars(digits, digits + sizeof(digits), static_cast<double>(value)).ptr;
    }
  }
  out.append(digits, end);
  if constexpr (std::is_floating_point_v<T>) {
    // Without a point, readers of JSON take "-0" for 0, and may refuse whole numbers beyond 64 bits.
    const bool looks_whole = std::string_view(out).substr(begin).find_first_of(".e") == std::string_view::npos;
    const double magnitude = std::abs(static_cast<double>(value));
    if (looks_whole && (magnitude > kExact || (magnitude == 0 && std::signbit(value)))) out += ".0";
  }
}

using AppendElement = void (*)(std::string_view& rest, std::string& out);

AppendElement AppenderOf(v1::DataType type) {
  switch (type) {
    case v1::DATA_TYPE_U8:
      return AppendNumber<std::uint8_t>;
    case v1::DATA_TYPE_U16:
      return AppendNumber<std::uint16_t>;
    case v1::DATA_TYPE_U32:
      return AppendNumber<std::uint32_t>;
    case v1::DATA_TYPE_U64:
      return AppendNumber<std::uint64_t>;
    case v1::DATA_TYPE_I32:
      return AppendNumber<std::int32_t>;
    case v1::DATA_TYPE_I64:
      return AppendNumber<std::int64_t>;
    case v1::DATA_TYPE_F32:
      return AppendNumber<float>;
    default:
      return AppendNumber<double>;
  }
}

template <typename AppendOne>
void AppendList(std::uint64_t count, AppendOne append_one, std::string& out) {
  out += '[';
  for (std::uint64_t k = 0; k < count; ++k) {
    if (k > 0) out += ',';
    append_one(k);
  }
  out += ']';
}

// One row, from dimension `dim` on.
void AppendRow(const Dims& dims, int dim, AppendElement append, std::string_view& rest, std::string& out) {
  if (dim == dims.size()) return append(rest, out);
  AppendList(
      dims[dim], [&](std::uint64_t) { AppendRow(dims, dim + 1, append, rest, out); }, out);
}

// The schema without the words that were found in records, which are in the lines.
std::string SchemaText(const v1::Schema& schema) {
  v1::Schema described = schema;
  described.clear_vocabularies();
  Json text = MessageToJson(described, DatasetRules());
  text.erase("vocabularies");
  Json words = Json::array(), names = Json::object();
  for (const v1::Vocabulary& vocabulary : schema.vocabularies()) {
    const bool are_fixed = !vocabulary.words().empty() && vocabulary.graphs().empty();
    if (are_fixed) {
      names[vocabulary.field()] =
          std::vector<std::string>(vocabulary.words().begin(), vocabulary.words().end());
    } else {
      words.push_back(vocabulary.field());
    }
  }
  text["words"] = std::move(words);
  if (!names.empty()) text["names"] = std::move(names);
  return text.dump();
}

// Takes the id of a word from the front of `rest` and appends the word, or the id where there is no such word.
void AppendWord(const v1::Vocabulary& vocabulary, AppendElement append, std::string_view& rest,
                std::string& out) {
  const std::size_t begin = out.size();
  append(rest, out);
  int id = 0;
  if (!absl::SimpleAtoi(out.substr(begin), &id) || id < 0 || id >= vocabulary.words_size()) return;
  out.resize(begin);
  out += Json(vocabulary.words(id)).dump();
}

// The columns of a block, taken graph by graph.
class Columns {
 public:
  Columns(const v1::Schema& schema, const v1::GraphBlock& block) : schema_(schema), block_(block) {
    for (const v1::Column& column : block.columns()) rest_[column.field()] = column.data();
    for (const v1::Vocabulary& vocabulary : schema.vocabularies()) words_[vocabulary.field()] = &vocabulary;
  }

  void AppendGraph(int graph, bool with_schema, std::string_view split, std::string& out) {
    const std::uint32_t n_node = block_.n_node(graph);
    const bool stored = schema_.edge_rule() == v1::EDGE_RULE_STORED;
    const std::uint64_t n_edge = stored ? block_.n_edge(graph) : std::uint64_t{n_node} * (n_node - 1);
    absl::StrAppend(&out, "{\"id\":", Json(block_.source_ids(graph)).dump(), ",\"n_node\":", n_node,
                    ",\"n_edge\":", n_edge);
    if (!split.empty()) absl::StrAppend(&out, ",\"split\":\"", std::string(split), "\"");
    if (with_schema) absl::StrAppend(&out, ",\"schema\":", SchemaText(schema_));
    if (stored) {
      AppendNodes("senders", block_.senders(), n_edge, out);
      AppendNodes("receivers", block_.receivers(), n_edge, out);
      edge_ += n_edge;
    }
    for (const v1::Field& field : schema_.fields()) {
      if (!IsTaken(field)) AppendField(field, n_node, n_edge, out);
    }
    for (const auto& [scope, key] : kObjects) AppendTaken(scope, key, n_node, n_edge, out);
    out += "}\n";
  }

 private:
  static constexpr std::pair<v1::FieldScope, const char*> kObjects[] = {
      {v1::FIELD_SCOPE_NODE, "nodes"}, {v1::FIELD_SCOPE_EDGE, "edges"}, {v1::FIELD_SCOPE_GRAPH, "graph"}};

  // The fields of one scope whose names are taken, in an object.
  void AppendTaken(v1::FieldScope scope, const char* key, std::uint64_t n_node, std::uint64_t n_edge,
                   std::string& out) {
    std::string members;
    for (const v1::Field& field : schema_.fields()) {
      if (IsTaken(field) && field.scope() == scope) AppendField(field, n_node, n_edge, members);
    }
    if (!members.empty()) absl::StrAppend(&out, ",\"", key, "\":{", members.substr(1), "}");
  }

  void AppendNodes(const char* name, const Dims& nodes, std::uint64_t count, std::string& out) const {
    absl::StrAppend(&out, ",\"", name, "\":");
    AppendList(
        count, [&](std::uint64_t k) { absl::StrAppend(&out, nodes[static_cast<int>(edge_ + k)]); }, out);
  }

  void AppendField(const v1::Field& field, std::uint64_t n_node, std::uint64_t n_edge, std::string& out) {
    absl::StrAppend(&out, ",", Json(field.name()).dump(), ":");
    std::string_view& rest = rest_[field.name()];
    const auto words = words_.find(field.name());
    const auto append_row = [&](std::uint64_t) {
      const AppendElement append = AppenderOf(field.data_type());
      if (words != words_.end()) return AppendWord(*words->second, append, rest, out);
      AppendRow(field.dims(), 0, append, rest, out);
    };
    if (field.scope() == v1::FIELD_SCOPE_GRAPH) return append_row(0);
    AppendList(field.scope() == v1::FIELD_SCOPE_NODE ? n_node : n_edge, append_row, out);
  }

  const v1::Schema& schema_;
  const v1::GraphBlock& block_;
  std::map<std::string, std::string_view> rest_;        // of each field's column
  std::map<std::string, const v1::Vocabulary*> words_;  // by field, where it has one
  std::uint64_t edge_ = 0;                              // the graph's first
};

}  // namespace

std::string GraphLines(const v1::Schema& schema, const v1::GraphBlock& block, std::uint64_t first,
                       const SplitNames& splits) {
  Columns columns(schema, block);
  std::string lines;
  for (int graph = 0; graph < block.n_node_size(); ++graph) {
    const std::uint64_t index = first + static_cast<std::uint64_t>(graph);
    const std::string_view split = index < splits.size() ? splits[index] : std::string_view();
    columns.AppendGraph(graph, index == 0, split, lines);
  }
  return lines;
}

}  // namespace packtrain::cli
