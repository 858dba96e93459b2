#include "server/records/record_check.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/edges/working_memory.h"
#include "server/records/edge_order.h"
#include "server/records/record_graph.h"
#include "tests/testing/sample_chains.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::records {
namespace {

using ::packtrain::testing::ChainSchema;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::RenumberedChainSchema;
using ::packtrain::testing::RenumberedRecordOf;
using ::packtrain::testing::SampleChains;
using ::packtrain::testing::SampleMolecules;

std::span<const std::byte> AsBytes(const std::string& record) { return std::as_bytes(std::span(record)); }

// Records of one schema, checked in both ways.
class Checked {
 public:
  explicit Checked(const v1::Schema& schema,
                   v1::MissingTargetPolicy missing_target = v1::MISSING_TARGET_POLICY_REFUSE)
      : layout_(RecordLayout::Create(schema).value()),
        validator_(layout_, missing_target),
        check_(layout_, validator_),
        graphs_(layout_, layout_),
        order_(layout_, memory_) {}

  bool IsAsStored(const std::string& record) {
    const auto view = RecordView::Parse(layout_, AsBytes(record));
    return view.ok() && check_.IsAsStored(*view);
  }

  // Whether the graph of a record may be stored, and its record is the same again.
  bool IsMadeAgain(const std::string& record) {
    const auto view = RecordView::Parse(layout_, AsBytes(record));
    if (!view.ok()) return false;
    const GraphView graph = graphs_.Of(*view);
    std::string made;
    return !validator_.Check(graph).has_value() &&
           EncodeRecord(layout_, order_.Sorted(graph).value(), made).ok() && made == record;
  }

  // Of nodes 0 .. n_node - 1 without any element but 0, and these edges.
  std::string Record(std::uint32_t n_node, const std::vector<std::uint32_t>& senders,
                     const std::vector<std::uint32_t>& receivers) {
    const auto n_edge = static_cast<std::uint32_t>(senders.size());
    std::vector<std::string> rows;
    for (const RecordLayout::Field& field : layout_.fields())
      rows.emplace_back(RowsOf(field.scope, n_node, n_edge) * field.row_bytes, '\0');
    const std::vector<std::string_view> fields(rows.begin(), rows.end());
    std::string record;
    const GraphView graph{.n_node = n_node,
                          .n_edge = n_edge,
                          .senders = senders,
                          .receivers = receivers,
                          .fields = fields,
                          .source_id = "a"};
    EXPECT_THAT(EncodeRecord(layout_, graph, record), IsOk());
    return record;
  }

  // Changes each byte in some ways, every `stride`-th where there are many.
  void ExpectTheSameOfEachChangedByte(const std::string& record, std::size_t stride = 1) {
    EXPECT_TRUE(IsAsStored(record));
    EXPECT_TRUE(IsMadeAgain(record));
    for (std::size_t at = 0; at < record.size(); at += stride) {
      for (const int change : {0x01, 0x02, 0x80, 0xff}) {
        std::string changed = record;
        changed[at] = static_cast<char>(changed[at] ^ change);
        ASSERT_EQ(IsAsStored(changed), IsMadeAgain(changed)) << "byte " << at << " changed by " << change;
      }
    }
  }

 private:
  const RecordLayout layout_;
  const GraphValidator validator_;
  RecordCheck check_;
  RecordGraph graphs_;
  edges::WorkingMemory memory_;
  EdgeOrder order_;
};

TEST(RecordCheckTest, TakesWhatWouldBeMadeOfFullGraphs) {
  Checked checked(MoleculeSchema());
  for (const testing::Molecule& molecule : SampleMolecules())
    checked.ExpectTheSameOfEachChangedByte(RecordOf(molecule));
}

TEST(RecordCheckTest, TakesWhatWouldBeMadeOfRenumberedGraphs) {
  Checked checked(RenumberedChainSchema());
  for (const testing::Chain& chain : SampleChains())
    checked.ExpectTheSameOfEachChangedByte(RenumberedRecordOf(chain));
}

TEST(RecordCheckTest, TakesWhatWouldBeMadeWhereTargetsMayBeMissing) {
  Checked checked(RenumberedChainSchema(), v1::MISSING_TARGET_POLICY_NAN);
  checked.ExpectTheSameOfEachChangedByte(RenumberedRecordOf(SampleChains().back()));
}

TEST(RecordCheckTest, TakesWhatWouldBeMadeOfPeriodicGraphs) {
  v1::Schema schema = ChainSchema();
  const auto add = [&schema](const char* name, v1::DataType type, std::initializer_list<std::uint32_t> dims) {
    v1::Field& field = *schema.add_fields();
    field.set_name(name);
    field.set_scope(v1::FIELD_SCOPE_GRAPH);
    field.set_data_type(type);
    for (const std::uint32_t dim : dims) field.add_dims(dim);
  };
  add("cell", v1::DATA_TYPE_F32, {3, 3});
  add("pbc", v1::DATA_TYPE_U8, {3});
  Checked checked(schema);
  const std::string open = checked.Record(3, {1, 0, 2, 1}, {0, 1, 1, 2});
  checked.ExpectTheSameOfEachChangedByte(open);
}

class EndpointWidths : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(EndpointWidths, TakesEdgesInOrderWithinTheGraphAlone) {
  const std::uint32_t n_node = GetParam(), last = n_node - 1;
  Checked checked(ChainSchema());
  const std::string ordered = checked.Record(n_node, {last, 0, 1, 1, last}, {0, 1, 1, last, last});
  checked.ExpectTheSameOfEachChangedByte(ordered, 1 + n_node / 100);
  EXPECT_FALSE(checked.IsAsStored(checked.Record(n_node, {0, last}, {last, 0})));
  EXPECT_FALSE(checked.IsAsStored(checked.Record(n_node, {1, 0}, {0, 0})));
  EXPECT_FALSE(checked.IsAsStored(checked.Record(n_node, {0, n_node}, {0, 0})));
  EXPECT_FALSE(checked.IsAsStored(checked.Record(n_node, {0, 0}, {0, n_node})));
  EXPECT_TRUE(checked.IsAsStored(checked.Record(n_node, {}, {})));
  EXPECT_TRUE(checked.IsAsStored(checked.Record(n_node, {1, 1}, {0, 0}))) << "the same edge twice";
}

INSTANTIATE_TEST_SUITE_P(All, EndpointWidths, ::testing::Values(200, 257, 65'537));

TEST(RecordCheckTest, TakesNoRecordWithoutAnIdOrOfTooLongOne) {
  Checked checked(MoleculeSchema());
  testing::Molecule molecule = SampleMolecules()[2];
  for (const std::size_t bytes : {std::size_t{0}, kMaxSourceIdBytes + 1}) {
    molecule.id = std::string(bytes, 'a');
    EXPECT_FALSE(checked.IsAsStored(RecordOf(molecule))) << bytes;
  }
  molecule.id = std::string(kMaxSourceIdBytes, 'a');
  EXPECT_TRUE(checked.IsAsStored(RecordOf(molecule)));
}

}  // namespace
}  // namespace packtrain::records
