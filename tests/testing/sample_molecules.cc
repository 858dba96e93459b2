#include "tests/testing/sample_molecules.h"

#include <gtest/gtest.h>

#include <string_view>

#include "server/records/graph_record.h"

namespace packtrain::testing {
namespace {

template <typename T>
std::string_view BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void AddField(v1::Schema& schema, const char* name, v1::FieldScope scope, v1::DataType type,
              const std::vector<std::uint32_t>& dims, const char* unit) {
  v1::Field& field = *schema.add_fields();
  field.set_name(name);
  field.set_scope(scope);
  field.set_data_type(type);
  for (const std::uint32_t dim : dims) field.add_dims(dim);
  field.set_unit(unit);
}

}  // namespace

std::vector<Molecule> SampleMolecules() {
  return {
      {"hydrogen", {1}, {{0.F, 0.F, 0.F}}, 0.0},
      {"dihydrogen", {1, 1}, {{0.F, 0.F, 0.3705F}, {0.F, 0.F, -0.3705F}}, -4.75},
      {"water", {8, 1, 1}, {{0.F, 0.F, 0.1173F}, {0.F, 0.7572F, -0.4692F}, {0.F, -0.7572F, -0.4692F}}, -10.08},
      {"ammonia",
       {7, 1, 1, 1},
       {{0.F, 0.F, 0.1162F},
        {0.F, 0.9397F, -0.2711F},
        {0.8138F, -0.4699F, -0.2711F},
        {-0.8138F, -0.4699F, -0.2711F}},
       -12.88},
      {"methane",
       {6, 1, 1, 1, 1},
       {{0.F, 0.F, 0.F},
        {0.6276F, 0.6276F, 0.6276F},
        {0.6276F, -0.6276F, -0.6276F},
        {-0.6276F, 0.6276F, -0.6276F},
        {-0.6276F, -0.6276F, 0.6276F}},
       -18.18},
  };
}

v1::Schema MoleculeSchema() {
  v1::Schema schema;
  AddField(schema, "z", v1::FIELD_SCOPE_NODE, v1::DATA_TYPE_U8, {}, "");
  AddField(schema, "pos", v1::FIELD_SCOPE_NODE, v1::DATA_TYPE_F32, {3}, "angstrom");
  AddField(schema, "y", v1::FIELD_SCOPE_GRAPH, v1::DATA_TYPE_F64, {1}, "");
  schema.set_edge_rule(v1::EDGE_RULE_FULL);
  schema.set_edges("full");
  v1::Target& target = *schema.add_targets();
  target.set_name("energy");
  target.set_unit("eV");
  return schema;
}

std::string RecordOf(const Molecule& molecule) {
  const auto layout = records::RecordLayout::Create(MoleculeSchema());
  const std::vector<double> y = {molecule.energy};
  const std::array<std::string_view, 3> fields = {BytesOf(molecule.z), BytesOf(molecule.pos), BytesOf(y)};
  const auto n_node = static_cast<std::uint32_t>(molecule.z.size());
  records::GraphView graph;
  graph.n_node = n_node;
  graph.n_edge = n_node * (n_node - 1);
  graph.fields = fields;
  graph.source_id = molecule.id;
  std::string record;
  const absl::Status status = records::EncodeRecord(*layout, graph, record);
  EXPECT_TRUE(status.ok()) << status;
  return record;
}

v1::GraphBlock BlockOf(std::span<const Molecule> molecules) {
  v1::GraphBlock block;
  for (const char* name : {"z", "pos", "y"}) block.add_columns()->set_field(name);
  for (const Molecule& molecule : molecules) {
    block.add_source_ids(molecule.id);
    block.add_n_node(static_cast<std::uint32_t>(molecule.z.size()));
    block.mutable_columns(0)->mutable_data()->append(BytesOf(molecule.z));
    block.mutable_columns(1)->mutable_data()->append(BytesOf(molecule.pos));
    block.mutable_columns(2)->mutable_data()->append(BytesOf(std::vector<double>{molecule.energy}));
  }
  return block;
}

std::vector<Molecule> ManyMolecules(std::uint32_t count) {
  const std::vector<Molecule> samples = SampleMolecules();
  std::vector<Molecule> molecules;
  for (std::uint32_t k = 0; k < count; ++k) {
    Molecule& molecule = molecules.emplace_back(samples[k % samples.size()]);
    molecule.id.append(1, '-').append(std::to_string(k));
    molecule.energy += 0.001 * k;
  }
  return molecules;
}

}  // namespace packtrain::testing
