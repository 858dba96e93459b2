// Import sessions that renumber nodes, and that take graphs that are renumbered.
#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/storage/import_session.h"
#include "tests/server/storage/import_session_testing.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/sample_chains.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::BlockOf;
using ::packtrain::testing::Chain;
using ::packtrain::testing::ChainBlock;
using ::packtrain::testing::ChainSchema;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::RenumberedChainSchema;
using ::packtrain::testing::RenumberedRecordOf;
using ::packtrain::testing::SampleChains;
using ::packtrain::testing::SampleMolecules;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

using RenumberedImportsTest = ImportSessionTest;

v1::ImportHeader ChainHeader(v1::ErrorPolicy on_error = v1::ERROR_POLICY_STOP) {
  v1::ImportHeader header;
  *header.mutable_schema() = ChainSchema();
  header.set_renumber(v1::RENUMBERING_RCM);
  header.set_on_error(on_error);
  return header;
}

std::vector<std::string> RenumberedRecords() {
  std::vector<std::string> records;
  for (const Chain& chain : SampleChains()) records.push_back(RenumberedRecordOf(chain));
  return records;
}

TEST_F(RenumberedImportsTest, RenumbersNodesByTheEdgesThatComeAndSortsEdgesAnew) {
  const auto session = Begin(ChainHeader());
  ASSERT_THAT(session->Add(ChainBlock(SampleChains())), IsOk());
  EXPECT_GT(session->memory_bytes(), 0u);
  const auto dataset = SealAndOpen(*session);
  EXPECT_EQ(dataset->description().schema().SerializeAsString(), RenumberedChainSchema().SerializeAsString());
  EXPECT_EQ(*Read(*dataset, {0, 1, 2, 3, 4, 5, 6}), RenumberedRecords());
  const absl::Status scanned = dataset->ScanRecords([](std::size_t, const records::RecordView& record) {
    for (std::size_t e = 1; e < record.n_edge(); ++e) {  // endpoints of one byte
      EXPECT_LT(std::pair(record.receivers()[e - 1], record.senders()[e - 1]),
                std::pair(record.receivers()[e], record.senders()[e]))
          << record.source_id();
    }
    return absl::OkStatus();
  });
  EXPECT_THAT(scanned, IsOk());
}

TEST_F(RenumberedImportsTest, RenumbersNodesByTheEdgesThatItBuilds) {
  v1::ImportHeader header = BuiltHeader("knn:1");
  header.set_renumber(v1::RENUMBERING_RCM);
  const auto session = Begin(header);
  ASSERT_THAT(session->Add(BlockOf(SampleMolecules())), IsOk());
  const auto dataset = SealAndOpen(*session);
  const v1::Schema& schema = dataset->description().schema();
  EXPECT_EQ(schema.edges(), "knn:1");
  EXPECT_EQ(schema.fields(schema.fields_size() - 1).name(), "source_node");
  const auto plain = Begin(BuiltHeader("knn:1"));
  ASSERT_THAT(plain->Add(BlockOf(SampleMolecules())), IsOk());
  EXPECT_NE(SealAndOpen(*plain)->description().version(), dataset->description().version());
}

TEST_F(RenumberedImportsTest, RecordsOfRenumberedGraphsAreTakenAsTheyAre) {
  v1::ImportHeader header = ChainHeader();
  const auto renumbered = Begin(header);
  ASSERT_THAT(renumbered->Add(ChainBlock(SampleChains())), IsOk());
  const v1::Dataset expected = SealAndOpen(*renumbered)->description();
  header.clear_renumber();
  *header.mutable_schema() = RenumberedChainSchema();
  const auto copied = Begin(header);
  v1::RecordBlock block;
  for (const std::string& record : RenumberedRecords()) block.add_records(record);
  ASSERT_THAT(copied->Add(block), IsOk());
  const v1::Dataset copy = SealAndOpen(*copied)->description();
  EXPECT_EQ(copy.version(), expected.version());
  EXPECT_EQ(copy.bandwidth_as_read().SerializeAsString(), expected.bandwidth_as_read().SerializeAsString());
}

TEST_F(RenumberedImportsTest, RefusesToRenumberRecords) {
  const auto session = Begin(ChainHeader());
  v1::RecordBlock block;
  block.add_records(RenumberedRecords().front());
  EXPECT_THAT(session->Add(block), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("sets renumber")));
}

TEST_F(RenumberedImportsTest, RefusesToRenumberByEdgesThatAreNotStored) {
  v1::ImportHeader header = Header();
  header.set_renumber(v1::RENUMBERING_RCM);
  EXPECT_THAT(ImportSession::Begin(store_, header),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--renumber rcm"), HasSubstr("'full'"), HasSubstr("radius:R"))));
}

TEST_F(RenumberedImportsTest, RefusesANumberingThatItDoesNotKnow) {
  v1::ImportHeader header = ChainHeader();
  header.set_renumber(v1::Renumbering(77));
  EXPECT_THAT(ImportSession::Begin(store_, header),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("header.renumber = 77")));
}

TEST_F(RenumberedImportsTest, RefusesGraphsWhoseSourceNodesAreNotEachNodeOnce) {
  v1::ImportHeader header = ChainHeader(v1::ERROR_POLICY_SKIP);
  header.clear_renumber();
  *header.mutable_schema() = RenumberedChainSchema();
  const Chain chain = {"c", 5, 2};
  for (const std::vector<std::int32_t>& nodes :
       std::vector<std::vector<std::int32_t>>{{0, 1, 2, 3, 3}, {0, 1, 2, 3, 5}, {0, -1, 2, 3, 4}}) {
    v1::GraphBlock block = ChainBlock({&chain, 1});
    v1::Column& column = *block.add_columns();
    column.set_field("source_node");
    column.set_data(std::string(reinterpret_cast<const char*>(nodes.data()), 4 * nodes.size()));
    EXPECT_EQ(ReasonFor(header, block), "bad_source_node");
  }
}

}  // namespace
}  // namespace packtrain::storage
