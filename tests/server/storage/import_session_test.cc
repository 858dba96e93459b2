#include "server/storage/import_session.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "proto/base/error_details.h"
#include "tests/server/storage/import_session_testing.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::BlockOf;
using ::packtrain::testing::FakeGraphStore;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::SampleMolecules;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_F(ImportSessionTest, StagesGraphsInOrder) {
  const auto session = Begin(Header());
  ASSERT_THAT(session->Add(BlockOf(SampleMolecules())), IsOk());
  EXPECT_EQ(session->response().received(), 5u);
  EXPECT_EQ(session->response().staged(), 5u);
  const auto dataset = SealAndOpen(*session);
  for (std::uint32_t k = 0; k < 5; ++k) EXPECT_EQ((*Read(*dataset, {k}))[0], RecordOf(SampleMolecules()[k]));
}

TEST_F(ImportSessionTest, HowTheStreamIsCutIntoBlocksLeavesNoTrace) {
  const std::vector<Molecule> molecules = ManyMolecules(20);
  const auto whole = Begin(Header());
  ASSERT_THAT(whole->Add(BlockOf(molecules)), IsOk());
  const std::string version = SealAndOpen(*whole)->description().version();
  const auto cut = Begin(Header());
  ASSERT_THAT(cut->Add(BlockOf({})), IsOk());
  for (const std::size_t begin : {0, 7, 14}) {
    ASSERT_THAT(cut->Add(BlockOf(std::span(molecules).subspan(begin, std::min<std::size_t>(7, 20 - begin)))),
                IsOk());
  }
  EXPECT_EQ(SealAndOpen(*cut)->description().version(), version);
}

TEST_F(ImportSessionTest, StoresEdgesByReceiverThenSenderWithTheirFields) {
  const auto session = Begin(BondHeader());
  ASSERT_THAT(session->Add(BondBlock()), IsOk());
  const auto dataset = SealAndOpen(*session);
  const std::string record = (*Read(*dataset, {0}))[0];
  const records::RecordLayout layout = records::RecordLayout::Create(dataset->description().schema()).value();
  const auto view = records::RecordView::Parse(layout, std::as_bytes(std::span(record)));
  ASSERT_THAT(view, IsOk());
  const auto bytes = [](std::span<const std::byte> s) {
    return std::string(reinterpret_cast<const char*>(s.data()), s.size());
  };
  EXPECT_EQ(bytes(view->senders()), std::string({1, 2, 0, 0}));
  EXPECT_EQ(bytes(view->receivers()), std::string({0, 0, 1, 2}));
  EXPECT_EQ(bytes(view->field(3)), std::string({0, 1, 2, 3}));
}

TEST_F(ImportSessionTest, TheOrderOfEdgesLeavesNoTrace) {
  const auto one = Begin(BondHeader());
  ASSERT_THAT(one->Add(BondBlock()), IsOk());
  v1::GraphBlock reversed = BondBlock();
  std::reverse(reversed.mutable_senders()->begin(), reversed.mutable_senders()->end());
  std::reverse(reversed.mutable_receivers()->begin(), reversed.mutable_receivers()->end());
  std::string& types = *reversed.mutable_columns(3)->mutable_data();
  std::reverse(types.begin(), types.end());
  const auto other = Begin(BondHeader());
  ASSERT_THAT(other->Add(reversed), IsOk());
  EXPECT_EQ(SealAndOpen(*one)->description().version(), SealAndOpen(*other)->description().version());
}

TEST_F(ImportSessionTest, StopEndsAtTheFirstBadGraphAndSaysWhich) {
  std::vector<Molecule> molecules = SampleMolecules();
  molecules[3].pos[1][2] = std::numeric_limits<float>::quiet_NaN();
  v1::GraphBlock block = BlockOf(molecules);
  for (int frame = 0; frame < 5; ++frame) block.add_origins("molecules.xyz:frame " + std::to_string(frame));
  const absl::Status refused = Begin(Header())->Add(block);
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("molecules.xyz:frame 3 (ammonia): "),
                                                                 HasSubstr("'pos'"), HasSubstr("not_finite"))));
  EXPECT_EQ(base::ReasonOf(refused), "GRAPH_REFUSED");
  EXPECT_EQ(base::MetadataOf(refused, "position"), "3");
  EXPECT_EQ(base::MetadataOf(refused, "reason"), "not_finite");
  block.clear_origins();
  EXPECT_THAT(Begin(Header())->Add(block),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("graph 4 (ammonia): ")));
}

TEST_F(ImportSessionTest, SkipListsBadGraphsAndStagesTheOthers) {
  std::vector<Molecule> molecules = SampleMolecules();
  molecules[1].energy = kInfinity;
  v1::GraphBlock block = BlockOf(molecules);
  for (int frame = 0; frame < 5; ++frame) block.add_origins("frame " + std::to_string(frame));
  const auto session = Begin(Header(v1::ERROR_POLICY_SKIP));
  ASSERT_THAT(session->Add(block), IsOk());
  const v1::ImportGraphsResponse& response = session->response();
  EXPECT_EQ(response.received(), 5u);
  EXPECT_EQ(response.staged(), 4u);
  ASSERT_EQ(response.refused_size(), 1);
  EXPECT_EQ(response.refused(0).position(), 1u);
  EXPECT_EQ(response.refused(0).source_id(), "dihydrogen");
  EXPECT_EQ(response.refused(0).origin(), "frame 1");
  EXPECT_EQ(response.refused(0).reason(), "not_finite");
  EXPECT_THAT(response.refused(0).message(), HasSubstr("infinite"));
  EXPECT_EQ((*Read(*SealAndOpen(*session), {1}))[0], RecordOf(molecules[2]));
}

TEST_F(ImportSessionTest, GraphsThatTheListCannotHoldAreCounted) {
  std::vector<Molecule> molecules(101, SampleMolecules()[2]);
  molecules[50].pos[0][0] = std::numeric_limits<float>::infinity();
  const auto session = ImportSession::Begin(store_, Header(v1::ERROR_POLICY_SKIP), 1000);
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT((*session)->Add(BlockOf(molecules)), IsOk());
  const v1::ImportGraphsResponse& response = (*session)->response();
  EXPECT_EQ(response.staged(), 1u);
  EXPECT_TRUE(response.refused_truncated());
  EXPECT_THAT(response.refused_by_reason(),
              UnorderedElementsAre(Pair("duplicate_id", 99u), Pair("not_finite", 1u)));
  EXPECT_GT(response.refused_size(), 1);
  EXPECT_LT(response.ByteSizeLong(), 1100u);
  EXPECT_EQ(response.refused(0).position(), 1u);
}

TEST_F(ImportSessionTest, WhatTheListSaysOfAGraphIsCutBetweenCharacters) {
  Molecule molecule = SampleMolecules()[2];
  molecule.id = "x";
  for (int k = 0; k < 1000; ++k) molecule.id += "\u00e9";
  v1::GraphBlock block = BlockOf({&molecule, 1});
  block.add_origins(std::string(5000, 'o'));
  const auto session = Begin(Header(v1::ERROR_POLICY_SKIP));
  ASSERT_THAT(session->Add(block), IsOk());
  const v1::RefusedGraph& refused = session->response().refused(0);
  EXPECT_EQ(refused.reason(), "id_too_long");
  EXPECT_EQ(refused.source_id(), molecule.id.substr(0, 1023));
  EXPECT_EQ(refused.origin(), std::string(1024, 'o'));
  EXPECT_LE(refused.message().size(), 1024u);
}

TEST_F(ImportSessionTest, RefusesAGraphWithoutNodes) {
  EXPECT_EQ(ReasonFor(Molecule{"nothing", {}, {}, 0}), "no_nodes");
}

TEST_F(ImportSessionTest, RefusesAGraphWithMoreNodesThanFullEdgesCanCount) {
  const std::uint32_t n_node = 65537;
  EXPECT_EQ(ReasonFor(Molecule{"dust", std::vector<std::uint8_t>(n_node, 1),
                               std::vector<std::array<float, 3>>(n_node), 0}),
            "too_many_nodes");
}

TEST_F(ImportSessionTest, RefusesNumbersThatAreNotFinite) {
  Molecule molecule = SampleMolecules()[2];
  molecule.pos[2][0] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(ReasonFor(molecule), "not_finite");
}

TEST_F(ImportSessionTest, RefusesAMissingTargetUnlessItIsAllowed) {
  Molecule molecule = SampleMolecules()[2];
  molecule.energy = kNan;
  EXPECT_EQ(ReasonFor(molecule), "missing_target");
  v1::ImportHeader header = Header();
  header.set_missing_target(v1::MISSING_TARGET_POLICY_NAN);
  EXPECT_THAT(Begin(header)->Add(BlockOf({&molecule, 1})), IsOk());
}

TEST_F(ImportSessionTest, RefusesAnInfiniteTargetEvenWhereOneMayBeMissing) {
  Molecule molecule = SampleMolecules()[2];
  molecule.energy = -kInfinity;
  v1::ImportHeader header = Header(v1::ERROR_POLICY_SKIP);
  header.set_missing_target(v1::MISSING_TARGET_POLICY_NAN);
  EXPECT_EQ(ReasonFor(header, BlockOf({&molecule, 1})), "not_finite");
}

TEST_F(ImportSessionTest, RefusesIdsThatAreEmptyOrTooLong) {
  Molecule molecule = SampleMolecules()[2];
  molecule.id = "";
  EXPECT_EQ(ReasonFor(molecule), "no_id");
  molecule.id.assign(records::kMaxSourceIdBytes + 1, 'x');
  EXPECT_EQ(ReasonFor(molecule), "id_too_long");
}

// Of records, whose ids come as bytes.
TEST_F(ImportSessionTest, RefusesIdsThatAreNotUtf8AndTakesAllOthers) {
  const auto block_of = [](const std::string& id) {
    Molecule molecule = SampleMolecules()[0];
    molecule.id = id;
    v1::RecordBlock block;
    block.add_records(RecordOf(molecule));
    return block;
  };
  using std::string_literals::operator""s;
  for (const std::string& id :
       {"\xff\xfe"s, "a\x80"s, "\xc3"s, "\xc0\xaf"s, "\xc1\xbf"s, "\xe0\x80\xaf"s, "\xed\xa0\x80"s, "\xe2\x82"s,
        "\xf0\x80\x80\xaf"s, "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "abcdefgh\xe2\x28\xa1"s}) {
    const auto skipping = Begin(Header(v1::ERROR_POLICY_SKIP));
    ASSERT_THAT(skipping->Add(block_of(id)), IsOk());
    ASSERT_EQ(skipping->response().refused_size(), 1) << absl::CEscape(id);
    const v1::RefusedGraph& refused = skipping->response().refused(0);
    EXPECT_EQ(refused.reason(), "not_utf8");
    EXPECT_EQ(refused.source_id(), absl::CEscape(id));
    EXPECT_TRUE(v1::ImportGraphsResponse().ParseFromString(skipping->response().SerializeAsString()));
    EXPECT_THAT(Begin(Header())->Add(block_of(id)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(absl::CEscape(id)), HasSubstr("not_utf8"))));
  }
  for (const std::string& id : {"a\0b"s, "\x7f"s, "\xc2\x80"s, "\xdf\xbf"s, "\xe0\xa0\x80"s, "\xed\x9f\xbf"s,
                                "\xef\xbf\xbf"s, "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s, "benzène"s, "水"s}) {
    EXPECT_THAT(Begin(Header())->Add(block_of(id)), IsOk()) << absl::CEscape(id);
  }
}

TEST_F(ImportSessionTest, RefusesAnIdThatCameBefore) {
  const std::vector<Molecule> twice(2, SampleMolecules()[2]);
  EXPECT_EQ(ReasonFor(Header(v1::ERROR_POLICY_SKIP), BlockOf(twice)), "duplicate_id");
}

TEST_F(ImportSessionTest, ARefusedGraphLeavesItsIdFree) {
  std::vector<Molecule> molecules(2, SampleMolecules()[2]);
  molecules[0].energy = kNan;
  EXPECT_EQ(ReasonFor(Header(v1::ERROR_POLICY_SKIP), BlockOf(molecules)), "missing_target");
}

TEST_F(ImportSessionTest, RefusesAnEdgeToANodeThatIsNotThere) {
  v1::GraphBlock block = BondBlock();
  block.set_senders(1, 3);
  EXPECT_EQ(ReasonFor(BondHeader(v1::ERROR_POLICY_SKIP), block), "edge_out_of_range");
}

TEST_F(ImportSessionTest, RefusesASchemaThatBreaksARule) {
  v1::ImportHeader header = Header();
  header.mutable_schema()->clear_edge_rule();
  EXPECT_THAT(ImportSession::Begin(store_, header), StatusIs(absl::StatusCode::kInvalidArgument));
}

struct UnknownEnum {
  const char* field;
  std::function<void(v1::ImportHeader&)> set;
};

void PrintTo(const UnknownEnum& row, std::ostream* out) { *out << row.field; }

class UnknownEnumTest : public ::testing::TestWithParam<UnknownEnum> {};

TEST_P(UnknownEnumTest, IsRefusedByFieldAndValue) {
  FakeGraphStore store;
  v1::ImportHeader header = Header();
  GetParam().set(header);
  EXPECT_THAT(ImportSession::Begin(store, header),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(std::string("header.") + GetParam().field + " = 99 is not known")));
}

INSTANTIATE_TEST_SUITE_P(
    ImportHeader, UnknownEnumTest,
    ::testing::Values(
        UnknownEnum{"on_error", [](auto& h) { h.set_on_error(static_cast<v1::ErrorPolicy>(99)); }},
        UnknownEnum{"duplicate_ids",
                    [](auto& h) { h.set_duplicate_ids(static_cast<v1::DuplicatePolicy>(99)); }},
        UnknownEnum{"missing_target",
                    [](auto& h) { h.set_missing_target(static_cast<v1::MissingTargetPolicy>(99)); }},
        UnknownEnum{"schema.edge_rule",
                    [](auto& h) { h.mutable_schema()->set_edge_rule(static_cast<v1::EdgeRule>(99)); }},
        UnknownEnum{
            "schema.fields.scope",
            [](auto& h) { h.mutable_schema()->mutable_fields(0)->set_scope(static_cast<v1::FieldScope>(99)); }},
        UnknownEnum{"schema.fields.data_type", [](auto& h) {
                      h.mutable_schema()->mutable_fields(0)->set_data_type(static_cast<v1::DataType>(99));
                    }}));

struct BadBlock {
  const char* name;
  std::function<void(v1::GraphBlock&)> spoil;
  const char* message;
};

void PrintTo(const BadBlock& row, std::ostream* out) { *out << row.name; }

class BadBlockTest : public ::testing::TestWithParam<BadBlock> {};

// Whatever the policy: no graph of such a block can be told from the next.
TEST_P(BadBlockTest, IsRefusedAsAWhole) {
  FakeGraphStore store;
  v1::GraphBlock block = BondBlock();
  GetParam().spoil(block);
  const auto session = ImportSession::Begin(store, BondHeader(v1::ERROR_POLICY_SKIP));
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->Add(block),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadBlockTest,
    ::testing::Values(
        BadBlock{"NoId", [](v1::GraphBlock& b) { b.clear_source_ids(); }, "0 source ids for 1 graphs"},
        BadBlock{"TooManyOrigins", [](v1::GraphBlock& b) { b.add_origins("a"), b.add_origins("b"); },
                 "2 origins"},
        BadBlock{"NoEdgeCount", [](v1::GraphBlock& b) { b.clear_n_edge(); }, "0 edge counts"},
        BadBlock{"LostSender", [](v1::GraphBlock& b) { b.mutable_senders()->RemoveLast(); }, "3 senders"},
        BadBlock{"LostReceiver", [](v1::GraphBlock& b) { b.mutable_receivers()->RemoveLast(); }, "3 receivers"},
        BadBlock{"HugeNodeCount", [](v1::GraphBlock& b) { b.set_n_node(0, 0xffffffff); }, "4294967295 rows"},
        BadBlock{"HugeEdgeCount", [](v1::GraphBlock& b) { b.set_n_edge(0, 0xffffffff); }, "4294967295 of each"},
        BadBlock{"UnknownColumn", [](v1::GraphBlock& b) { b.mutable_columns(0)->set_field("charge"); },
                 "charge"},
        BadBlock{"RepeatedColumn", [](v1::GraphBlock& b) { b.mutable_columns(0)->set_field("pos"); }, "twice"},
        BadBlock{"MissingColumn", [](v1::GraphBlock& b) { b.mutable_columns()->RemoveLast(); }, "edge_type"},
        BadBlock{"ShortColumn", [](v1::GraphBlock& b) { b.mutable_columns(1)->mutable_data()->pop_back(); },
                 "35 bytes"},
        BadBlock{"LongColumn", [](v1::GraphBlock& b) { b.mutable_columns(0)->mutable_data()->push_back('x'); },
                 "4 bytes"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(ImportSessionTest, RefusesEdgesWhereTheyAreNotStored) {
  v1::GraphBlock block = BlockOf(SampleMolecules());
  block.add_senders(0);
  block.add_receivers(0);
  EXPECT_THAT(Begin(Header())->Add(block),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1 senders")));
}

}  // namespace
}  // namespace packtrain::storage
