#include "client/ingest/graph_block_builder.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <variant>

namespace packtrain::ingest {
namespace {

static_assert(std::endian::native == std::endian::little, "columns are little-endian");

constexpr char kTargetField[] = "y";

void AddField(const GraphField& from, v1::Schema* schema) {
  v1::Field* field = schema->add_fields();
  field->set_name(from.name);
  field->set_scope(from.scope);
  field->set_data_type(from.data_type);
  field->mutable_dims()->Add(from.dims.begin(), from.dims.end());
  field->set_unit(from.unit);
}

// The one for so many targets, if there are any.
void AddTargetField(std::size_t targets, v1::Schema* schema) {
  if (targets == 0) return;
  AddField({.name = kTargetField,
            .scope = v1::FIELD_SCOPE_GRAPH,
            .data_type = v1::DATA_TYPE_F64,
            .dims = {static_cast<std::uint32_t>(targets)}},
           schema);
}

// Appends elements as they lie in memory; returns how many bytes.
template <typename Elements>
std::size_t Append(const Elements& elements, std::string* column) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(elements));
  column->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return bytes.size();
}

}  // namespace

v1::Schema SchemaOf(const BlockLayout& layout) {
  v1::Schema schema;
  const std::size_t fields = layout.graphs.fields.size();
  for (std::size_t k = 0; k <= fields; ++k) {
    if (k == std::min(fields, layout.graphs.fields_before_targets))
      AddTargetField(layout.targets.size(), &schema);
    if (k < fields && layout.stored[k]) AddField(layout.graphs.fields[k], &schema);
  }
  for (const std::string& target : layout.targets) schema.add_targets()->set_name(target);
  if (layout.own_edges) {
    schema.set_edge_rule(v1::EDGE_RULE_STORED);
    schema.set_edges(layout.graphs.edges);
    schema.set_renumbered(layout.graphs.renumbered);
  }
  return schema;
}

GraphBlockBuilder::GraphBlockBuilder(BlockLayout layout, std::size_t block_bytes)
    : layout_(std::move(layout)), block_bytes_(block_bytes) {
  BeginBlock();
}

void GraphBlockBuilder::Add(const SourceGraph& graph, std::span<const double> targets, const Origin& origin) {
  block_.add_source_ids(graph.id);
  block_.add_n_node(graph.n_node);
  std::string* place = block_.add_origins();
  *place = FormatOrigin(origin);
  bytes_ += graph.id.size() + place->size() + sizeof(graph.n_node);
  for (const auto& [field, column] : columns_) {
    bytes_ += std::visit([to = column](const auto& values) { return Append(values, to); }, graph.fields[field]);
  }
  if (y_ != nullptr) bytes_ += Append(targets, y_);
  if (layout_.own_edges) {
    block_.add_n_edge(static_cast<std::uint32_t>(graph.senders.size()));
    block_.mutable_senders()->Add(graph.senders.begin(), graph.senders.end());
    block_.mutable_receivers()->Add(graph.receivers.begin(), graph.receivers.end());
    bytes_ += (1 + 2 * graph.senders.size()) * sizeof(std::uint32_t);
  }
}

v1::GraphBlock GraphBlockBuilder::Take() {
  v1::GraphBlock block = std::exchange(block_, v1::GraphBlock());
  BeginBlock();
  return block;
}

void GraphBlockBuilder::BeginBlock() {
  bytes_ = 0;
  columns_.clear();
  for (std::size_t k = 0; k < layout_.graphs.fields.size(); ++k) {
    if (layout_.stored[k]) columns_.emplace_back(k, AddColumn(layout_.graphs.fields[k].name));
  }
  if (!layout_.targets.empty()) y_ = AddColumn(kTargetField);
}

std::string* GraphBlockBuilder::AddColumn(const std::string& field) {
  v1::Column* column = block_.add_columns();
  column->set_field(field);
  return column->mutable_data();
}

}  // namespace packtrain::ingest
