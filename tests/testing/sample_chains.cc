#include "tests/testing/sample_chains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "server/records/block_reader.h"
#include "server/records/edge_order.h"
#include "server/records/graph_record.h"
#include "server/records/node_renumbering.h"

namespace packtrain::testing {
namespace {

void AddField(v1::Schema& schema, const char* name, v1::FieldScope scope, v1::DataType type) {
  v1::Field& field = *schema.add_fields();
  field.set_name(name);
  field.set_scope(scope);
  field.set_data_type(type);
}

template <typename T>
void Append(T value, v1::Column* column) {
  column->mutable_data()->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The node at each place of the chain.
std::vector<std::uint32_t> NodesAlong(const Chain& chain) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t place = 0; place < chain.nodes; ++place) nodes.push_back(place * chain.step % chain.nodes);
  return nodes;
}

}  // namespace

std::uint32_t Chain::BandwidthAsRead() const {
  const std::vector<std::uint32_t> along = NodesAlong(*this);
  std::uint32_t bandwidth = 0;
  for (std::size_t place = 1; place < along.size(); ++place) {
    const auto [low, high] = std::minmax(along[place - 1], along[place]);
    bandwidth = std::max(bandwidth, high - low);
  }
  return bandwidth;
}

std::vector<Chain> SampleChains() {
  return {{"a", 1, 1}, {"b", 2, 1}, {"c", 5, 2}, {"d", 7, 3}, {"e", 10, 3}, {"f", 11, 4}, {"g", 8, 3}};
}

std::vector<Chain> ManyChains(std::uint32_t count) {
  const std::vector<Chain> samples = SampleChains();
  std::vector<Chain> chains;
  for (std::uint32_t k = 0; k < count; ++k) {
    chains.push_back(samples[k % samples.size()]);
    chains.back().id += std::to_string(k);
  }
  return chains;
}

v1::Schema ChainSchema() {
  v1::Schema schema;
  AddField(schema, "place", v1::FIELD_SCOPE_NODE, v1::DATA_TYPE_I32);
  AddField(schema, "link", v1::FIELD_SCOPE_EDGE, v1::DATA_TYPE_U8);
  AddField(schema, "y", v1::FIELD_SCOPE_GRAPH, v1::DATA_TYPE_F64);
  schema.mutable_fields(2)->add_dims(1);
  schema.add_targets()->set_name("length");
  schema.set_edge_rule(v1::EDGE_RULE_STORED);
  schema.set_edges("chain");
  return schema;
}

v1::Schema RenumberedChainSchema() {
  return records::SchemaOfRenumbered(ChainSchema(), v1::RENUMBERING_RCM).value();
}

v1::GraphBlock ChainBlock(std::span<const Chain> chains) {
  v1::GraphBlock block;
  for (const char* name : {"place", "link", "y"}) block.add_columns()->set_field(name);
  for (const Chain& chain : chains) {
    block.add_source_ids(chain.id);
    block.add_n_node(chain.nodes);
    block.add_n_edge(2 * (chain.nodes - 1));
    const std::vector<std::uint32_t> along = NodesAlong(chain);
    std::vector<std::int32_t> places(chain.nodes);
    for (std::uint32_t place = 0; place < chain.nodes; ++place) {
      places[along[place]] = static_cast<std::int32_t>(place);
    }
    for (const std::int32_t place : places) Append(place, block.mutable_columns(0));
    for (std::uint32_t place = 1; place < chain.nodes; ++place) {
      for (const auto& [sender, receiver] :
           {std::pair(along[place - 1], along[place]), std::pair(along[place], along[place - 1])}) {
        block.add_senders(sender);
        block.add_receivers(receiver);
        Append(static_cast<std::uint8_t>(place - 1), block.mutable_columns(1));
      }
    }
    Append(static_cast<double>(chain.nodes), block.mutable_columns(2));
  }
  return block;
}

std::string RenumberedRecordOf(const Chain& chain) {
  const records::RecordLayout from = records::RecordLayout::Create(ChainSchema()).value();
  const records::RecordLayout to = records::RecordLayout::Create(RenumberedChainSchema()).value();
  const v1::GraphBlock block = ChainBlock(std::span(&chain, 1));
  records::BlockReader reader = records::BlockReader::Open(from, block, /*holds_edges=*/true).value();
  EXPECT_TRUE(reader.Next());
  records::GraphView graph = reader.graph();
  edges::WorkingMemory memory;
  records::NodeRenumbering renumbering(from, to, memory);
  EXPECT_FALSE(renumbering.Renumber(graph)->has_value());
  records::EdgeOrder order(to, memory);
  std::string record;
  const absl::Status encoded = records::EncodeRecord(to, *order.Sorted(graph), record);
  EXPECT_TRUE(encoded.ok()) << encoded;
  return record;
}

}  // namespace packtrain::testing
