#include "client/ingest/graph_block_builder.h"

#include <gmock/gmock.h>

#include "server/records/block_reader.h"
#include "server/records/graph_record.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;

// A program: tokens by id, the slot, the candidates for it, and edges of several types.
GraphLayout ProgramLayout() {
  return {.fields = {{.name = "token", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_I32},
                     {.name = "is_slot", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_U8},
                     {.name = "is_candidate", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_U8},
                     {.name = "edge_type", .scope = v1::FIELD_SCOPE_EDGE, .data_type = v1::DATA_TYPE_U16}},
          .edges = "program"};
}

SourceGraph Program(const std::string& id, std::vector<std::int32_t> tokens) {
  SourceGraph graph(ProgramLayout());
  graph.id = id;
  graph.n_node = static_cast<std::uint32_t>(tokens.size());
  graph.Values<std::uint8_t>(1).assign(tokens.size(), 0);
  graph.Values<std::uint8_t>(2).assign(tokens.size(), 1);
  for (std::uint32_t node = 1; node < graph.n_node; ++node) {
    graph.senders.push_back(node - 1);
    graph.receivers.push_back(node);
    graph.Values<std::uint16_t>(3).push_back(static_cast<std::uint16_t>(300 + node));
  }
  graph.Values<std::int32_t>(0) = std::move(tokens);
  return graph;
}

BlockLayout AllOf(const GraphLayout& graphs) {
  return {.graphs = graphs,
          .stored = std::vector<bool>(graphs.fields.size(), true),
          .own_edges = true,
          .targets = {}};
}

TEST(GraphBlockBuilderTest, ProgramsAreBlocksOfTheirSchema) {
  const BlockLayout layout = AllOf(ProgramLayout());
  GraphBlockBuilder builder(layout);
  builder.Add(Program("f", {40'000, -1, 7}), {}, {"a.jsonl", "line", 1, 1});
  builder.Add(Program("g", {5}), {}, {"a.jsonl", "line", 2, 2});
  const v1::GraphBlock block = builder.Take();
  const auto record_layout = records::RecordLayout::Create(SchemaOf(layout)).value();
  records::BlockReader reader = records::BlockReader::Open(record_layout, block, /*holds_edges=*/true).value();
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.graph().n_edge, 2u);
  EXPECT_THAT(reader.graph().senders, ElementsAre(0, 1));
  EXPECT_EQ(reader.graph().fields[0].size(), 3 * sizeof(std::int32_t));
  EXPECT_EQ(reader.graph().fields[3].size(), 2 * sizeof(std::uint16_t));
  EXPECT_EQ(reader.origin(), "a.jsonl:1: line 1");
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.graph().n_edge, 0u);
  EXPECT_FALSE(reader.Next());
}

TEST(GraphBlockBuilderTest, BlockIsFullAtItsSizeAndTheNextOneBeginsEmpty) {
  GraphBlockBuilder builder(AllOf(ProgramLayout()), /*block_bytes=*/60);
  builder.Add(Program("f", {1}), {}, {"a", "line", 1, 1});
  EXPECT_FALSE(builder.full());
  builder.Add(Program("g", {1, 2, 3}), {}, {"a", "line", 2, 2});
  EXPECT_TRUE(builder.full());
  EXPECT_EQ(builder.Take().source_ids_size(), 2);
  EXPECT_TRUE(builder.empty());
  EXPECT_FALSE(builder.full());
}

}  // namespace
}  // namespace packtrain::ingest
