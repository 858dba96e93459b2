#include "server/records/node_renumbering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "server/records/block_reader.h"
#include "server/records/schema.h"
#include "tests/testing/sample_chains.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::records {
namespace {

using ::packtrain::testing::Chain;
using ::packtrain::testing::ChainBlock;
using ::packtrain::testing::ChainSchema;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::RenumberedChainSchema;
using ::packtrain::testing::RenumberedRecordOf;
using ::packtrain::testing::SampleChains;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::vector<T> ValuesOf(std::string_view rows) {
  std::vector<T> values(rows.size() / sizeof(T));
  rows.copy(reinterpret_cast<char*>(values.data()), rows.size());
  return values;
}

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Sender, receiver and link of each edge.
using Edges = std::multiset<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>>;

class NodeRenumberingTest : public ::testing::Test {
 protected:
  // The chain as it was read, until the next call.
  GraphView AsRead(const Chain& chain) {
    block_ = ChainBlock(std::span(&chain, 1));
    reader_.emplace(BlockReader::Open(from_, block_, /*holds_edges=*/true).value());
    EXPECT_TRUE(reader_->Next());
    return reader_->graph();
  }

  GraphView Renumbered(const Chain& chain) {
    GraphView graph = AsRead(chain);
    EXPECT_FALSE(renumbering_.Renumber(graph)->has_value());
    return graph;
  }

  const RecordLayout from_ = RecordLayout::Create(ChainSchema()).value();
  const RecordLayout to_ = RecordLayout::Create(RenumberedChainSchema()).value();
  edges::WorkingMemory memory_;
  NodeRenumbering renumbering_{from_, to_, memory_};
  v1::GraphBlock block_;
  std::optional<BlockReader> reader_;
};

TEST_F(NodeRenumberingTest, FieldsAndEdgesFollowTheNodes) {
  for (const Chain& chain : SampleChains()) {
    const GraphView read = AsRead(chain);
    const auto places = ValuesOf<std::int32_t>(read.fields[0]);
    const auto links = ValuesOf<std::uint8_t>(read.fields[1]);
    Edges edges;
    for (std::size_t e = 0; e < read.n_edge; ++e) edges.emplace(read.senders[e], read.receivers[e], links[e]);

    GraphView graph = read;
    ASSERT_FALSE(renumbering_.Renumber(graph)->has_value());
    ASSERT_EQ(graph.fields.size(), 4u);
    const auto source_nodes = ValuesOf<std::int32_t>(graph.fields[3]);
    ASSERT_TRUE(HoldsEachNodeOnce(std::as_bytes(std::span(graph.fields[3])), chain.nodes));
    const auto new_places = ValuesOf<std::int32_t>(graph.fields[0]);
    for (std::uint32_t node = 0; node < chain.nodes; ++node) {
      EXPECT_EQ(new_places[node], places[static_cast<std::size_t>(source_nodes[node])]) << chain.id << node;
    }
    const auto new_links = ValuesOf<std::uint8_t>(graph.fields[1]);
    Edges new_edges;
    for (std::size_t e = 0; e < graph.n_edge; ++e) {
      new_edges.emplace(source_nodes[graph.senders[e]], source_nodes[graph.receivers[e]], new_links[e]);
    }
    EXPECT_EQ(new_edges, edges) << chain.id;
    EXPECT_EQ(graph.fields[2], read.fields[2]);
    EXPECT_EQ(graph.source_id, chain.id);
  }
}

TEST_F(NodeRenumberingTest, RecordHasBothBandwidths) {
  for (const Chain& chain : SampleChains()) {
    const std::string record = RenumberedRecordOf(chain);
    const auto view = RecordView::Parse(to_, std::as_bytes(std::span(record)));
    ASSERT_THAT(view, IsOk());
    EXPECT_EQ(view->bandwidth(), chain.nodes > 1 ? 1u : 0u) << chain.id;
    EXPECT_EQ(view->bandwidth_as_read(), chain.BandwidthAsRead()) << chain.id;
    EXPECT_EQ(view->source_nodes().size(), 4 * chain.nodes);
  }
}

TEST_F(NodeRenumberingTest, EdgesOfARecordThatEndNowhereDoNotCount) {
  std::string record = RenumberedRecordOf({"e", 10, 3});
  const auto view = RecordView::Parse(to_, std::as_bytes(std::span(record)));
  ASSERT_THAT(view, IsOk());
  const std::size_t senders = static_cast<std::size_t>(view->senders().data() - view->bytes().data());
  record.replace(senders, view->n_edge(), view->n_edge(), '\xff');
  EXPECT_EQ(RecordView::Parse(to_, std::as_bytes(std::span(record)))->bandwidth_as_read(), 0u);
}

TEST_F(NodeRenumberingTest, SourceOrderIsTheGraphAsItWasRead) {
  SourceOrder order(from_);
  for (const Chain& chain : SampleChains()) {
    GraphView graph = Renumbered(chain);
    const std::string source_nodes(graph.fields[3]);
    graph.fields = graph.fields.first(3);
    const auto restored = order.Of(graph, std::as_bytes(std::span(source_nodes)));
    ASSERT_THAT(restored, IsOk());
    const GraphView read = reader_->graph();
    EXPECT_EQ(restored->n_node, read.n_node);
    EXPECT_EQ(std::vector(restored->fields.begin(), restored->fields.end()),
              std::vector(read.fields.begin(), read.fields.end()));
    EXPECT_TRUE(std::ranges::equal(restored->senders, read.senders)) << chain.id;
    EXPECT_TRUE(std::ranges::equal(restored->receivers, read.receivers)) << chain.id;
  }
}

TEST_F(NodeRenumberingTest, SourceNodesThatAreNotEachNodeOnceAreDataLoss) {
  SourceOrder order(from_);
  for (const std::vector<std::int32_t>& nodes : std::vector<std::vector<std::int32_t>>{
           {0, 1, 2, 3, 3}, {0, 1, 2, 3, 5}, {0, -1, 2, 3, 4}, {0, 1, 2, 3}}) {
    GraphView graph = Renumbered({"c", 5, 2});
    graph.fields = graph.fields.first(3);
    const std::string rows = BytesOf(nodes);
    EXPECT_THAT(order.Of(graph, std::as_bytes(std::span(rows))),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("'source_node' of graph 'c'")));
  }
}

TEST_F(NodeRenumberingTest, AGraphThatSourceNodeMakesTooLargeIsRefusedBeforeAnyWork) {
  v1::Schema schema;
  schema.set_edge_rule(v1::EDGE_RULE_STORED);
  schema.set_edges("given");
  v1::Field& field = *schema.add_fields();
  field.set_name("q");
  field.set_scope(v1::FIELD_SCOPE_GRAPH);
  field.set_data_type(v1::DATA_TYPE_U8);
  const RecordLayout from = RecordLayout::Create(schema).value();
  const RecordLayout to = RecordLayout::Create(SchemaOfRenumbered(schema, v1::RENUMBERING_RCM).value()).value();
  edges::WorkingMemory memory;
  NodeRenumbering renumbering(from, to, memory);
  const std::string_view row = "1";
  const std::uint32_t sender = 0, receiver = 1;
  GraphView graph;
  graph.n_edge = 1;
  graph.senders = std::span(&sender, 1);
  graph.receivers = std::span(&receiver, 1);
  graph.fields = std::span(&row, 1);
  graph.source_id = "a";
  for (const std::uint32_t nodes : {std::uint32_t{1} << 28, std::numeric_limits<std::uint32_t>::max()}) {
    graph.n_node = nodes;
    ASSERT_LT(RecordBytes(from, graph), 100u);
    const auto refusal = renumbering.Renumber(graph);
    ASSERT_THAT(refusal, IsOk());
    ASSERT_TRUE(refusal->has_value());
    EXPECT_EQ((*refusal)->reason, refusal_reason::kTooLarge);
    EXPECT_THAT((*refusal)->message, HasSubstr("with field 'source_node'"));
    EXPECT_EQ(memory.bytes(), 0u);
  }
  graph.n_node = 2;
  EXPECT_FALSE(renumbering.Renumber(graph)->has_value());
}

TEST_F(NodeRenumberingTest, MemoryIsTakenBeforeTheWork) {
  std::uint64_t limit = 100'000, asked = 0;
  edges::WorkingMemory memory([&](std::uint64_t bytes) {
    asked = bytes;
    return bytes <= limit ? absl::OkStatus() : absl::ResourceExhaustedError("too much");
  });
  NodeRenumbering renumbering(from_, to_, memory);
  GraphView graph = AsRead({"long", 20'000, 3});
  EXPECT_THAT(renumbering.Renumber(graph), StatusIs(absl::StatusCode::kResourceExhausted, "too much"));
  EXPECT_EQ(graph.fields.size(), 3u);  // as it was
  EXPECT_EQ(memory.bytes(), 0u);
  limit = asked * 10;
  EXPECT_FALSE(renumbering.Renumber(graph)->has_value());
  EXPECT_GT(memory.bytes(), 20'000u * 3 * sizeof(std::uint32_t));
  EXPECT_LE(memory.bytes(), limit);
}

TEST(SchemaOfRenumberedTest, AddsTheFieldBehindAllOthers) {
  const auto schema = SchemaOfRenumbered(ChainSchema(), v1::RENUMBERING_RCM);
  ASSERT_THAT(schema, IsOk());
  EXPECT_EQ(schema->renumbered(), v1::RENUMBERING_RCM);
  ASSERT_EQ(schema->fields_size(), 4);
  const v1::Field& field = schema->fields(3);
  EXPECT_EQ(field.name(), kSourceNodeField);
  EXPECT_EQ(field.scope(), v1::FIELD_SCOPE_NODE);
  EXPECT_EQ(field.data_type(), v1::DATA_TYPE_I32);
  EXPECT_TRUE(field.dims().empty());
  EXPECT_EQ(SchemaAsRead(*schema).SerializeAsString(), ChainSchema().SerializeAsString());
}

TEST(SchemaOfRenumberedTest, LeavesASchemaAloneThatIsNotToBeRenumbered) {
  const auto schema = SchemaOfRenumbered(MoleculeSchema(), v1::RENUMBERING_UNSPECIFIED);
  ASSERT_THAT(schema, IsOk());
  EXPECT_EQ(schema->SerializeAsString(), MoleculeSchema().SerializeAsString());
  EXPECT_EQ(SchemaAsRead(*schema).SerializeAsString(), MoleculeSchema().SerializeAsString());
}

TEST(SchemaOfRenumberedTest, RefusesEdgesThatAreNotStoredAndSaysWhichAre) {
  EXPECT_THAT(SchemaOfRenumbered(MoleculeSchema(), v1::RENUMBERING_RCM),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::AllOf(HasSubstr("--renumber rcm: edges 'full' are not stored"),
                                        HasSubstr("--edges with radius:R or knn:K"))));
}

TEST(SchemaOfRenumberedTest, RefusesGraphsThatAreRenumberedAlready) {
  EXPECT_THAT(SchemaOfRenumbered(RenumberedChainSchema(), v1::RENUMBERING_RCM),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("renumbered already, by rcm")));
}

TEST(SchemaOfRenumberedTest, RefusesGraphsThatHaveTheField) {
  v1::Schema schema = RenumberedChainSchema();
  schema.clear_renumbered();
  EXPECT_THAT(SchemaOfRenumbered(schema, v1::RENUMBERING_RCM),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a field 'source_node' already")));
}

TEST(NodeOrderTest, PutsEachNodeInItsPlace) {
  v1::Schema schema = ChainSchema();
  const RecordLayout layout = RecordLayout::Create(schema).value();
  const std::string places = BytesOf<std::int32_t>({10, 11, 12}), links = {1, 2}, y = BytesOf<double>({3});
  const std::vector<std::string_view> fields = {places, links, y};
  const std::vector<std::uint32_t> senders = {0, 2}, receivers = {1, 1}, nodes = {2, 0, 1};
  const GraphView graph = {
      .n_node = 3, .n_edge = 2, .senders = senders, .receivers = receivers, .fields = fields, .source_id = "a"};
  NodeOrder order;
  const GraphView ordered = order.Ordered(layout, graph, nodes);
  EXPECT_THAT(ValuesOf<std::int32_t>(ordered.fields[0]), ElementsAre(12, 10, 11));
  EXPECT_THAT(ValuesOf<std::uint8_t>(ordered.fields[1]), ElementsAre(1, 2));
  EXPECT_THAT(ordered.senders, ElementsAre(1, 0));
  EXPECT_THAT(ordered.receivers, ElementsAre(2, 2));
}

}  // namespace
}  // namespace packtrain::records
