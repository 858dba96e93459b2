#include "client/ingest/graph_block_builder.h"

#include <bit>
#include <cstdint>
#include <utility>

namespace packtrain::ingest {
namespace {

static_assert(std::endian::native == std::endian::little, "columns are little-endian");

void AddField(const char* name, v1::FieldScope scope, v1::DataType type, std::span<const std::uint32_t> dims,
              const char* unit, v1::Schema* schema) {
  v1::Field* field = schema->add_fields();
  field->set_name(name);
  field->set_scope(scope);
  field->set_data_type(type);
  field->mutable_dims()->Add(dims.begin(), dims.end());
  field->set_unit(unit);
}

// Appends elements as they lie in memory; returns how many bytes.
template <typename Elements>
std::size_t Append(const Elements& elements, std::string* column) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(elements));
  column->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return bytes.size();
}

}  // namespace

v1::Schema SchemaOf(const FrameLayout& layout) {
  static constexpr std::uint32_t kVector[] = {3};
  static constexpr std::uint32_t kMatrix[] = {3, 3};
  v1::Schema schema;
  AddField("z", v1::FIELD_SCOPE_NODE, v1::DATA_TYPE_U8, {}, "", &schema);
  AddField("pos", v1::FIELD_SCOPE_NODE, v1::DATA_TYPE_F32, kVector, "angstrom", &schema);
  if (layout.periodic) {
    AddField("cell", v1::FIELD_SCOPE_GRAPH, v1::DATA_TYPE_F32, kMatrix, "angstrom", &schema);
    AddField("pbc", v1::FIELD_SCOPE_GRAPH, v1::DATA_TYPE_U8, kVector, "", &schema);
  }
  if (!layout.targets.empty()) {
    const std::uint32_t columns[] = {static_cast<std::uint32_t>(layout.targets.size())};
    AddField("y", v1::FIELD_SCOPE_GRAPH, v1::DATA_TYPE_F64, columns, "", &schema);
  }
  for (const std::string& target : layout.targets) schema.add_targets()->set_name(target);
  schema.set_edge_rule(v1::EDGE_RULE_FULL);
  schema.set_edges("full");
  return schema;
}

GraphBlockBuilder::GraphBlockBuilder(const FrameLayout& layout, std::size_t block_bytes)
    : layout_(layout), block_bytes_(block_bytes) {
  BeginBlock();
}

void GraphBlockBuilder::Add(const Frame& frame, std::span<const double> targets, const Origin& origin) {
  block_.add_source_ids(frame.id);
  block_.add_n_node(static_cast<std::uint32_t>(frame.z.size()));
  std::string* place = block_.add_origins();
  *place = FormatOrigin(origin);
  bytes_ += frame.id.size() + place->size() + sizeof(std::uint32_t);
  bytes_ += Append(frame.z, z_);
  bytes_ += Append(frame.pos, pos_);
  if (cell_ != nullptr) bytes_ += Append(frame.cell->vectors, cell_);
  if (pbc_ != nullptr) bytes_ += Append(frame.cell->pbc, pbc_);
  if (y_ != nullptr) bytes_ += Append(targets, y_);
}

v1::GraphBlock GraphBlockBuilder::Take() {
  v1::GraphBlock block = std::exchange(block_, v1::GraphBlock());
  BeginBlock();
  return block;
}

void GraphBlockBuilder::BeginBlock() {
  bytes_ = 0;
  z_ = AddColumn("z");
  pos_ = AddColumn("pos");
  if (layout_.periodic) {
    cell_ = AddColumn("cell");
    pbc_ = AddColumn("pbc");
  }
  if (!layout_.targets.empty()) y_ = AddColumn("y");
}

std::string* GraphBlockBuilder::AddColumn(const char* field) {
  v1::Column* column = block_.add_columns();
  column->set_field(field);
  return column->mutable_data();
}

}  // namespace packtrain::ingest
