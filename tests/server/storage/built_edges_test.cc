// Import sessions that build the edges of their graphs, and cells.
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "server/storage/import_session.h"
#include "tests/server/storage/import_session_testing.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::BlockOf;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::SampleMolecules;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

using BuiltEdgesTest = ImportSessionTest;

void AddGraphField(v1::DataType type, const char* name, std::uint32_t elements, std::string_view data,
                   v1::ImportHeader& header, v1::GraphBlock& block) {
  v1::Field& field = *header.mutable_schema()->add_fields();
  field.set_name(name);
  field.set_scope(v1::FIELD_SCOPE_GRAPH);
  field.set_data_type(type);
  field.add_dims(elements);
  v1::Column& column = *block.add_columns();
  column.set_field(name);
  column.set_data(std::string(data));
}

// Of water, oxygen first, both hydrogens 0.96 angstrom from it and 1.51 from each other.
TEST_F(BuiltEdgesTest, BuildsTheEdgesThatTheHeaderNames) {
  const Molecule water = SampleMolecules()[2];
  for (const auto& [edges, senders, receivers] :
       {std::tuple{"radius:1.2", std::string({1, 2, 0, 0}), std::string({0, 0, 1, 2})},
        {"radius:1.2:1", std::string({1, 0, 0}), std::string({0, 1, 2})},
        {"radius:2", std::string({1, 2, 0, 2, 0, 1}), std::string({0, 0, 1, 1, 2, 2})},
        {"knn:1", std::string({1, 0, 0}), std::string({0, 1, 2})},
        {"radius:0.1", std::string(), std::string()}}) {
    const auto session = Begin(BuiltHeader(edges));
    ASSERT_THAT(session->Add(BlockOf({&water, 1})), IsOk());
    const auto dataset = SealAndOpen(*session);
    EXPECT_EQ(dataset->description().lineage().edges(), edges);
    const std::string record = (*Read(*dataset, {0}))[0];
    const records::RecordLayout layout = records::RecordLayout::Create(dataset->description().schema()).value();
    const auto view = records::RecordView::Parse(layout, std::as_bytes(std::span(record)));
    ASSERT_THAT(view, IsOk());
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(view->senders().data()), view->senders().size()),
              senders)
        << edges;
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(view->receivers().data()), view->receivers().size()),
              receivers)
        << edges;
  }
}

TEST_F(BuiltEdgesTest, TheSpellingOfEdgesLeavesNoTrace) {
  const auto one = Begin(BuiltHeader("radius:5"));
  const auto other = Begin(BuiltHeader("radius:5.000"));
  ASSERT_THAT(one->Add(BlockOf(SampleMolecules())), IsOk());
  ASSERT_THAT(other->Add(BlockOf(SampleMolecules())), IsOk());
  EXPECT_EQ(SealAndOpen(*one)->description().version(), SealAndOpen(*other)->description().version());
}

TEST_F(BuiltEdgesTest, BuildsFullEdgesByNotStoringThem) {
  v1::ImportHeader header = Header();
  header.set_build_edges(true);
  const auto built = Begin(header);
  const auto plain = Begin(Header());
  ASSERT_THAT(built->Add(BlockOf(SampleMolecules())), IsOk());
  ASSERT_THAT(plain->Add(BlockOf(SampleMolecules())), IsOk());
  EXPECT_EQ(SealAndOpen(*built)->description().version(), SealAndOpen(*plain)->description().version());
}

TEST_F(BuiltEdgesTest, RefusesToBuildEdgesWithoutPositionsByName) {
  v1::ImportHeader header = BuiltHeader("knn:3");
  header.mutable_schema()->mutable_fields(1)->set_name("position");
  EXPECT_THAT(ImportSession::Begin(store_, header),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--edges knn:3"), HasSubstr("node field 'pos'"))));
  header = BuiltHeader("knn:3");
  header.mutable_schema()->mutable_fields(1)->set_data_type(v1::DATA_TYPE_I32);
  EXPECT_THAT(ImportSession::Begin(store_, header),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("node field 'pos'")));
}

TEST_F(BuiltEdgesTest, RefusesToBuildEdgesItDoesNotKnow) {
  EXPECT_THAT(ImportSession::Begin(store_, BuiltHeader("radius:nan")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--edges 'radius:nan'")));
  EXPECT_THAT(ImportSession::Begin(store_, BuiltHeader("full")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("EDGE_RULE_FULL")));
  v1::ImportHeader header = BondHeader();
  header.mutable_schema()->set_edges("knn:3");
  header.set_build_edges(true);
  EXPECT_THAT(ImportSession::Begin(store_, header),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("edge field 'edge_type'")));
}

TEST_F(BuiltEdgesTest, RefusesABlockThatBringsEdgesWhereTheyAreBuilt) {
  const auto session = Begin(BuiltHeader("knn:3"));
  v1::GraphBlock block = BlockOf(SampleMolecules());
  for (std::size_t k = 0; k < SampleMolecules().size(); ++k) block.add_n_edge(0);
  EXPECT_THAT(session->Add(block), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("edge counts")));
}

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string CubeOf(float side) { return BytesOf<float>({side, 0, 0, 0, side, 0, 0, 0, side}); }

// Of one atom.
struct AtomCell {
  std::string vectors;
  std::string pbc;
};

v1::GraphBlock InCell(const AtomCell& cell, v1::ImportHeader& header) {
  const Molecule atom = SampleMolecules()[0];
  v1::GraphBlock block = BlockOf({&atom, 1});
  AddGraphField(v1::DATA_TYPE_F32, "cell", 9, cell.vectors, header, block);
  if (!cell.pbc.empty()) AddGraphField(v1::DATA_TYPE_U8, "pbc", 3, cell.pbc, header, block);
  return block;
}

// An atom alone in a cube is nearest to an image of itself, along the first axis that repeats.
TEST_F(BuiltEdgesTest, StoresTheCellsThatPeriodicEdgesSpan) {
  for (const auto& [pbc, shift] : {std::pair{std::string({1, 1, 1}), std::vector<std::int32_t>{-1, 0, 0}},
                                   {std::string(), {-1, 0, 0}},
                                   {std::string({0, 1, 1}), {0, -1, 0}},
                                   {std::string({0, 0, 1}), {0, 0, -1}},
                                   {std::string({0, 0, 0}), {}}}) {
    v1::ImportHeader header = BuiltHeader("knn:1");
    const v1::GraphBlock block = InCell({CubeOf(0.5f), pbc}, header);
    const auto session = Begin(header);
    ASSERT_THAT(session->Add(block), IsOk());
    const auto dataset = SealAndOpen(*session);
    const v1::Field& last = *dataset->description().schema().fields().rbegin();
    EXPECT_EQ(last.name(), "shift");
    EXPECT_EQ(last.scope(), v1::FIELD_SCOPE_EDGE);
    EXPECT_EQ(last.data_type(), v1::DATA_TYPE_I32);
    const std::string record = (*Read(*dataset, {0}))[0];
    const records::RecordLayout layout = records::RecordLayout::Create(dataset->description().schema()).value();
    const auto view = records::RecordView::Parse(layout, std::as_bytes(std::span(record)));
    ASSERT_THAT(view, IsOk());
    ASSERT_EQ(view->n_edge(), shift.size() / 3);
    const std::span<const std::byte> shifts = view->field(layout.FindField("shift").value());
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(shifts.data()), shifts.size()), BytesOf(shift))
        << pbc.size();
  }
}

TEST_F(BuiltEdgesTest, RefusesACellThatCannotBeWhatItSays) {
  const std::string line = BytesOf<float>({4, 0, 0, 8, 0, 0, 0, 0, 4}), all({1, 1, 1});
  const float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [cell, reason] : {std::pair{AtomCell{std::string(36, 0), all}, "bad_cell"},
                                     {{std::string(36, 0), ""}, "bad_cell"},
                                     {{line, all}, "bad_cell"},
                                     {{line, std::string({1, 1, 0})}, "bad_cell"},
                                     {{CubeOf(1e30f), all}, "bad_cell"},
                                     {{CubeOf(1e-9f), all}, "bad_cell"},
                                     {{CubeOf(infinity), all}, "not_finite"}}) {
    for (const bool build_edges : {true, false}) {
      v1::ImportHeader header =
          build_edges ? BuiltHeader("knn:3", v1::ERROR_POLICY_SKIP) : Header(v1::ERROR_POLICY_SKIP);
      const v1::GraphBlock block = InCell(cell, header);
      EXPECT_EQ(ReasonFor(header, block), reason);
    }
  }
}

TEST_F(BuiltEdgesTest, TakesACellThatIsOnlyUnusual) {
  const std::string line = BytesOf<float>({4, 0, 0, 8, 0, 0, 0, 0, 4});
  for (const AtomCell& cell : {AtomCell{std::string(36, 0), std::string(3, 0)},
                               {line, std::string({1, 0, 1})},
                               {CubeOf(0.1f), std::string({1, 1, 1})},
                               {CubeOf(-3), std::string({1, 1, 1})},
                               {CubeOf(1e8f), std::string({1, 1, 1})}}) {
    v1::ImportHeader header = BuiltHeader("knn:3");
    const v1::GraphBlock block = InCell(cell, header);
    EXPECT_THAT(Begin(header)->Add(block), IsOk());
  }
}

TEST_F(BuiltEdgesTest, RefusesACellOfAnotherShapeWhereEdgesNeedIt) {
  v1::ImportHeader header = BuiltHeader("knn:3");
  v1::GraphBlock block;
  AddGraphField(v1::DATA_TYPE_F32, "cell", 6, "", header, block);
  EXPECT_THAT(ImportSession::Begin(store_, header),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("field 'cell'")));
}

}  // namespace
}  // namespace packtrain::storage
