#include "server/records/graph_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::records {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::SampleMolecules;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string Golden(const std::string& name) {
  std::ifstream file(std::string(PACKTRAIN_GOLDEN) + "/" + name);
  EXPECT_TRUE(file.is_open()) << name;
  std::string bytes;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    for (std::size_t at = 0; at + 1 < line.size(); at += 3) {
      bytes.push_back(static_cast<char>(std::stoi(line.substr(at, 2), nullptr, 16)));
    }
  }
  return bytes;
}

std::span<const std::byte> AsBytes(const std::string& record) { return std::as_bytes(std::span(record)); }

template <typename T>
std::string_view View(const T& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])};
}

// Water with its two bonds, as tests/golden/graph_record_stored.hex has it.
struct BondedWater {
  BondedWater() {
    v1::Schema schema = MoleculeSchema();
    schema.set_edge_rule(v1::EDGE_RULE_STORED);
    schema.set_edges("bonds");
    v1::Field& lengths_field = *schema.add_fields();
    lengths_field.set_name("edge_attr");
    lengths_field.set_scope(v1::FIELD_SCOPE_EDGE);
    lengths_field.set_data_type(v1::DATA_TYPE_F32);
    layout = RecordLayout::Create(schema).value();
    graph.n_node = 3;
    graph.n_edge = 4;
    graph.senders = senders;
    graph.receivers = receivers;
    graph.fields = fields;
    graph.source_id = "water";
  }

  testing::Molecule water = SampleMolecules()[2];
  std::array<double, 1> y = {water.energy};
  std::array<float, 4> lengths = {0.9572F, 0.9573F, 0.9572F, 0.9573F};
  std::array<std::uint32_t, 4> senders = {1, 2, 0, 0};
  std::array<std::uint32_t, 4> receivers = {0, 0, 1, 2};
  std::array<std::string_view, 4> fields = {View(water.z), View(water.pos), View(y), View(lengths)};
  RecordLayout layout = RecordLayout::Create(MoleculeSchema()).value();
  GraphView graph;
};

TEST(GraphRecordTest, WritesTheGoldenRecordOfAFullGraph) {
  EXPECT_EQ(RecordOf(SampleMolecules()[2]), Golden("graph_record_full.hex"));
}

TEST(GraphRecordTest, WritesTheGoldenRecordOfAGraphWithStoredEdges) {
  const BondedWater bonded;
  std::string record;
  ASSERT_THAT(EncodeRecord(bonded.layout, bonded.graph, record), IsOk());
  EXPECT_EQ(record, Golden("graph_record_stored.hex"));
}

TEST(GraphRecordTest, ReadsTheGoldenRecordOfAGraphWithStoredEdges) {
  const BondedWater bonded;
  const std::string record = Golden("graph_record_stored.hex");
  const auto view = RecordView::Parse(bonded.layout, AsBytes(record));
  ASSERT_THAT(view, IsOk());
  EXPECT_EQ(view->n_node(), 3u);
  EXPECT_EQ(view->n_edge(), 4u);
  EXPECT_EQ(view->bandwidth(), 2u);
  EXPECT_EQ(view->bandwidth_as_read(), 2u);  // not renumbered
  EXPECT_TRUE(view->source_nodes().empty());
  EXPECT_EQ(view->endpoint_bytes(), 1);
  EXPECT_EQ(view->source_id(), "water");
  for (std::size_t k = 0; k < bonded.fields.size(); ++k) {
    const std::span<const std::byte> rows = view->field(k);
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(rows.data()), rows.size()), bonded.fields[k]);
  }
  EXPECT_EQ(std::to_integer<int>(view->senders()[1]), 2);
  EXPECT_EQ(std::to_integer<int>(view->receivers()[3]), 2);
}

TEST(GraphRecordTest, AFullGraphStoresNoEdges) {
  const RecordLayout layout = RecordLayout::Create(MoleculeSchema()).value();
  const std::string record = RecordOf(SampleMolecules()[4]);
  const auto view = RecordView::Parse(layout, AsBytes(record));
  ASSERT_THAT(view, IsOk());
  EXPECT_EQ(view->n_edge(), 20u);
  EXPECT_EQ(view->endpoint_bytes(), 0);
  EXPECT_THAT(view->senders(), IsEmpty());
  EXPECT_THAT(view->receivers(), IsEmpty());
}

TEST(GraphRecordTest, EndpointsTakeTheSmallestWidthThatHoldsThem) {
  EXPECT_EQ(EndpointBytes(1), 1);
  EXPECT_EQ(EndpointBytes(256), 1);
  EXPECT_EQ(EndpointBytes(257), 2);
  EXPECT_EQ(EndpointBytes(65536), 2);
  EXPECT_EQ(EndpointBytes(65537), 4);
}

TEST(GraphRecordTest, AGraphOfStoredEdgesMayHaveNone) {
  BondedWater bonded;
  bonded.graph.n_edge = 0;
  bonded.graph.senders = {};
  bonded.graph.receivers = {};
  bonded.fields[3] = {};
  std::string record;
  ASSERT_THAT(EncodeRecord(bonded.layout, bonded.graph, record), IsOk());
  const auto view = RecordView::Parse(bonded.layout, AsBytes(record));
  ASSERT_THAT(view, IsOk());
  EXPECT_EQ(view->n_edge(), 0u);
  EXPECT_EQ(view->bandwidth(), 0u);
}

TEST(GraphRecordTest, RefusesViewsThatContradictThemselves) {
  std::string record;
  BondedWater no_nodes;
  no_nodes.graph.n_node = 0;
  EXPECT_THAT(EncodeRecord(no_nodes.layout, no_nodes.graph, record),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("node")));
  BondedWater lost_edge;
  lost_edge.graph.n_edge = 5;
  EXPECT_THAT(EncodeRecord(lost_edge.layout, lost_edge.graph, record),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("edges")));
  BondedWater short_field;
  short_field.fields[1].remove_suffix(4);
  EXPECT_THAT(EncodeRecord(short_field.layout, short_field.graph, record),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("fields")));
}

TEST(GraphRecordTest, RefusesARecordAboveTheLimit) {
  BondedWater bonded;
  bonded.graph.source_id = {"x", kMaxRecordBytes};  // refused before a byte of it is read
  std::string record;
  EXPECT_THAT(EncodeRecord(bonded.layout, bonded.graph, record),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("limit")));
}

TEST(GraphRecordTest, EveryTruncationIsDataLoss) {
  const BondedWater bonded;
  const std::string record = Golden("graph_record_stored.hex");
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_THAT(RecordView::Parse(bonded.layout, AsBytes(record).first(size)),
                StatusIs(absl::StatusCode::kDataLoss))
        << size;
  }
}

TEST(GraphRecordTest, EveryFlippedBitOfTheHeaderIsDataLoss) {
  const BondedWater bonded;
  const std::string record = Golden("graph_record_stored.hex");
  constexpr std::size_t kBandwidth = 12 * 8;  // where one smaller than the true one goes unseen
  for (std::size_t bit = 0; bit < kRecordHeaderBytes * 8; ++bit) {
    if (bit >= kBandwidth && bit < kBandwidth + 32) continue;
    std::string flipped = record;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto view = RecordView::Parse(bonded.layout, AsBytes(flipped));
    EXPECT_THAT(view, StatusIs(absl::StatusCode::kDataLoss)) << bit;
  }
}

TEST(GraphRecordTest, ARecordOfOtherSizesIsDataLossThatNamesIt) {
  const BondedWater bonded;
  const std::string record = Golden("graph_record_stored.hex");
  const std::uint32_t n_node = bonded.graph.n_node, n_edge = bonded.graph.n_edge;
  const auto view = RecordView::Parse(bonded.layout, AsBytes(record), n_node, n_edge);
  ASSERT_THAT(view, IsOk());
  EXPECT_EQ(view->bytes().data(), AsBytes(record).data());
  EXPECT_EQ(view->bytes().size(), record.size());
  const std::string id(bonded.graph.source_id);
  EXPECT_THAT(RecordView::Parse(bonded.layout, AsBytes(record), n_node + 1, n_edge),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(id)));
  EXPECT_THAT(RecordView::Parse(bonded.layout, AsBytes(record), n_node, n_edge - 1),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(id)));
}

// Offsets of the header's fields: bandwidth 12, flags 3, encodings 24, endpoint bytes 2.
TEST(GraphRecordTest, ADamagedRecordIsNamedWhereItsSizesAddUp) {
  const BondedWater bonded;
  const std::string id = "'" + std::string(bonded.graph.source_id) + "': damaged graph record";
  for (const auto& [offset, what] : std::vector<std::pair<std::size_t, std::string>>{
           {12, "bandwidth"}, {3, "flags"}, {24, "encodings"}, {2, "endpoint width"}}) {
    std::string record = Golden("graph_record_stored.hex");
    record[offset] = static_cast<char>(0x7f);
    EXPECT_THAT(RecordView::Parse(bonded.layout, AsBytes(record)),
                StatusIs(absl::StatusCode::kDataLoss, AllOf(StartsWith(id), HasSubstr(what))));
  }
}

// Its format, counts, length and the length of its id: 0, 4, 8, 16 and 20.
TEST(GraphRecordTest, ADamagedRecordIsNotNamedWhereItsSizesDoNotAddUp) {
  const BondedWater bonded;
  for (const std::size_t offset : {0, 4, 8, 16, 20}) {
    std::string record = Golden("graph_record_stored.hex");
    record[offset] = static_cast<char>(record[offset] ^ 0x40);
    EXPECT_THAT(RecordView::Parse(bonded.layout, AsBytes(record)),
                StatusIs(absl::StatusCode::kDataLoss, StartsWith("damaged graph record")))
        << offset;
  }
}

TEST(GraphRecordTest, ADamagedSourceIdIsNamedInPlainText) {
  const BondedWater bonded;
  std::string record = Golden("graph_record_stored.hex");
  record.back() = '\xff';
  EXPECT_THAT(RecordView::Parse(bonded.layout, AsBytes(record), bonded.graph.n_node, 1),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("\\377' has")));
}

TEST(GraphRecordTest, ARecordOfAnotherSchemaIsDataLoss) {
  v1::Schema schema = MoleculeSchema();
  schema.mutable_fields(1)->set_data_type(v1::DATA_TYPE_F64);
  const RecordLayout layout = RecordLayout::Create(schema).value();
  const std::string record = RecordOf(SampleMolecules()[2]);
  EXPECT_THAT(RecordView::Parse(layout, AsBytes(record)), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace packtrain::records
