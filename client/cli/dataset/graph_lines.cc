#include "client/cli/dataset/graph_lines.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <type_traits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/dataset/dataset_json.h"
#include "client/cli/output.h"

namespace packtrain::cli {
namespace {

using Dims = google::protobuf::RepeatedField<std::uint32_t>;

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
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
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

// The schema without its vocabularies, whose words are in the lines.
std::string SchemaText(const v1::Schema& schema) {
  v1::Schema described = schema;
  described.clear_vocabularies();
  Json text = MessageToJson(described, DatasetRules());
  text.erase("vocabularies");
  Json& words = text["words"] = Json::array();
  for (const v1::Vocabulary& vocabulary : schema.vocabularies()) words.push_back(vocabulary.field());
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

  void AppendGraph(int graph, bool with_schema, std::string& out) {
    const std::uint32_t n_node = block_.n_node(graph);
    const bool stored = schema_.edge_rule() == v1::EDGE_RULE_STORED;
    const std::uint64_t n_edge = stored ? block_.n_edge(graph) : std::uint64_t{n_node} * (n_node - 1);
    absl::StrAppend(&out, "{\"id\":", Json(block_.source_ids(graph)).dump(), ",\"n_node\":", n_node,
                    ",\"n_edge\":", n_edge);
    if (with_schema) absl::StrAppend(&out, ",\"schema\":", SchemaText(schema_));
    if (stored) {
      AppendNodes("senders", block_.senders(), n_edge, out);
      AppendNodes("receivers", block_.receivers(), n_edge, out);
      edge_ += n_edge;
    }
    for (const v1::Field& field : schema_.fields()) AppendField(field, n_node, n_edge, out);
    out += "}\n";
  }

 private:
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

std::string GraphLines(const v1::Schema& schema, const v1::GraphBlock& block, bool is_first) {
  Columns columns(schema, block);
  std::string lines;
  for (int graph = 0; graph < block.n_node_size(); ++graph)
    columns.AppendGraph(graph, is_first && graph == 0, lines);
  return lines;
}

}  // namespace packtrain::cli
