#include "server/storage/derive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "server/storage/import_session.h"
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
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::SampleMolecules;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

v1::DeriveDatasetRequest Request(const std::string& edges) {
  v1::DeriveDatasetRequest request;
  request.set_dataset("molecules");
  request.set_name("derived");
  request.set_edges(edges);
  return request;
}

class DeriveTest : public ::testing::Test {
 protected:
  // Imports fifty molecules with edges that are built, in one block.
  v1::Dataset ImportWith(const std::string& edges, const v1::SealDatasetRequest& seal,
                         v1::Renumbering renumber = v1::RENUMBERING_UNSPECIFIED) {
    v1::ImportHeader header;
    header.set_renumber(renumber);
    *header.mutable_schema() = MoleculeSchema();
    header.mutable_schema()->set_edges(edges);
    header.mutable_schema()->set_edge_rule(edges == "full" ? v1::EDGE_RULE_FULL : v1::EDGE_RULE_STORED);
    header.set_build_edges(true);
    auto session = ImportSession::Begin(store_, header).value();
    EXPECT_THAT(session->Add(BlockOf(ManyMolecules(50))), IsOk());
    return session->TakeWriter()->Seal(seal).value().dataset;
  }

  // The same of molecules each in a cell that repeats along two vectors.
  v1::Dataset ImportPeriodic(const std::string& edges, const std::string& name,
                             v1::Renumbering renumber = v1::RENUMBERING_UNSPECIFIED) {
    v1::ImportHeader header;
    header.set_renumber(renumber);
    v1::Schema& schema = *header.mutable_schema();
    schema = MoleculeSchema();
    schema.set_edges(edges);
    schema.set_edge_rule(edges == "full" ? v1::EDGE_RULE_FULL : v1::EDGE_RULE_STORED);
    header.set_build_edges(true);
    const std::vector<Molecule> molecules = ManyMolecules(50);
    v1::GraphBlock block = BlockOf(molecules);
    AddGraphField("cell", v1::DATA_TYPE_F64, {3, 3}, schema);
    AddGraphField("pbc", v1::DATA_TYPE_U8, {3}, schema);
    std::string cells, pbc;
    for (std::size_t k = 0; k < molecules.size(); ++k) {
      const double cell[] = {4, 0, 0, 1, 5, 0, 0, 0, 3};
      cells.append(reinterpret_cast<const char*>(cell), sizeof(cell));
      pbc.append({1, 0, 1});
    }
    for (const auto& [field, data] : {std::pair{"cell", cells}, {"pbc", pbc}}) {
      v1::Column& column = *block.add_columns();
      column.set_field(field);
      column.set_data(data);
    }
    auto session = ImportSession::Begin(store_, header).value();
    EXPECT_THAT(session->Add(block), IsOk());
    return session->TakeWriter()->Seal(SealAs(name)).value().dataset;
  }
  static void AddGraphField(const char* name, v1::DataType type, std::initializer_list<std::uint32_t> dims,
                            v1::Schema& schema) {
    v1::Field& field = *schema.add_fields();
    field.set_name(name);
    field.set_scope(v1::FIELD_SCOPE_GRAPH);
    field.set_data_type(type);
    for (const std::uint32_t dim : dims) field.add_dims(dim);
  }

  absl::StatusOr<v1::Dataset> Derive(const std::string& from, const v1::DeriveDatasetRequest& request) {
    const auto source = store_.Open(from).value();
    auto writer = StageDerived(store_, *source, request, [](std::uint64_t) { return absl::OkStatus(); });
    if (!writer.ok()) return writer.status();
    auto sealed = (*writer)->Seal(SealOfDerived(*source, request));
    if (!sealed.ok()) return sealed.status();
    return sealed->dataset;
  }

  FakeGraphStore store_;
};

TEST_F(DeriveTest, IsTheVersionOfAnImportWithTheseEdges) {
  for (const char* from : {"full", "knn:1"}) {
    ImportWith(from, SealWithFractions("molecules", 800, 100, 100, 7));
    for (const char* edges : {"radius:1.2", "knn:2", "radius:5:3", "full"}) {
      const v1::Dataset imported = ImportWith(edges, SealWithFractions("imported", 800, 100, 100, 7));
      const auto derived = Derive("molecules", Request(edges));
      ASSERT_THAT(derived, IsOk());
      EXPECT_EQ(derived->version(), imported.version()) << from << " -> " << edges;
      EXPECT_EQ(derived->splits_size(), 4);
      EXPECT_THAT(derived->lineage().derived_from(), ::testing::StartsWith("molecules@"));
      EXPECT_EQ(derived->lineage().edges(), edges);
    }
  }
}

TEST_F(DeriveTest, OfPeriodicGraphsIsTheVersionOfAnImportWithTheseEdges) {
  for (const char* from : {"full", "knn:3", "radius:4"}) {
    ImportPeriodic(from, "molecules");
    for (const char* edges : {"radius:3.2", "knn:12", "full"}) {
      const auto derived = Derive("molecules", Request(edges));
      ASSERT_THAT(derived, IsOk());
      EXPECT_EQ(derived->version(), ImportPeriodic(edges, "imported").version()) << from << " -> " << edges;
    }
  }
}

TEST_F(DeriveTest, OfRenumberedPeriodicGraphsIsTheVersionOfAnImportWithTheseEdges) {
  ImportPeriodic("knn:3", "molecules", v1::RENUMBERING_RCM);
  for (const char* edges : {"radius:3.2", "knn:12", "full"}) {
    const auto derived = Derive("molecules", Request(edges));
    ASSERT_THAT(derived, IsOk());
    EXPECT_EQ(derived->version(), ImportPeriodic(edges, "imported").version()) << edges;
  }
}

// Within 1.05 angstrom lie the atoms of hydrogen's molecule, and those of water and ammonia to their heavy one.
TEST_F(DeriveTest, DegreesAreThoseOfTheNewEdges) {
  ImportWith("full", SealAs("molecules"));
  const auto derived = Derive("molecules", Request("radius:1.05"));
  ASSERT_THAT(derived, IsOk());
  const double expected = ((2 + 2 + 3 + 2) * std::log(2) + std::log(3)) / 15;
  EXPECT_NEAR(derived->splits(0).mean_log_degree(), expected, 1e-14 * expected);
}

TEST_F(DeriveTest, OfADataSetWithoutSplitsHasNone) {
  ImportWith("full", SealAs("molecules"));
  EXPECT_EQ(Derive("molecules", Request("knn:2"))->version(),
            ImportWith("knn:2", SealAs("imported")).version());
}

TEST_F(DeriveTest, AnotherSplitIsTheVersionOfAnImportWithIt) {
  ImportWith("knn:2", SealWithFractions("molecules", 800, 100, 100, 7));
  v1::DeriveDatasetRequest request = Request("");
  request.mutable_fractions()->set_train_permille(500);
  request.mutable_fractions()->set_test_permille(500);
  request.mutable_fractions()->set_seed(3);
  EXPECT_EQ(Derive("molecules", request)->version(),
            ImportWith("knn:2", SealWithFractions("imported", 500, 0, 500, 3)).version());
}

// A numbering by edges means nothing for others.
TEST_F(DeriveTest, OtherEdgesPutRenumberedNodesBackIntoTheOrderOfTheirSource) {
  ImportWith("knn:2", SealWithFractions("molecules", 800, 100, 100, 7), v1::RENUMBERING_RCM);
  for (const char* edges : {"radius:1.2", "knn:2", "full"}) {
    const v1::Dataset imported = ImportWith(edges, SealWithFractions("imported", 800, 100, 100, 7));
    const auto derived = Derive("molecules", Request(edges));
    ASSERT_THAT(derived, IsOk());
    EXPECT_EQ(derived->version(), imported.version()) << edges;
    EXPECT_EQ(derived->schema().renumbered(), v1::RENUMBERING_UNSPECIFIED);
  }
}

TEST_F(DeriveTest, OtherEdgesNumberTheNodesWhereThatIsAskedFor) {
  for (const v1::Renumbering before : {v1::RENUMBERING_UNSPECIFIED, v1::RENUMBERING_RCM}) {
    ImportWith("knn:2", SealAs("molecules"), before);
    v1::DeriveDatasetRequest request = Request("radius:1.7");
    request.set_renumber(v1::RENUMBERING_RCM);
    const auto derived = Derive("molecules", request);
    ASSERT_THAT(derived, IsOk());
    EXPECT_EQ(derived->version(), ImportWith("radius:1.7", SealAs("imported"), v1::RENUMBERING_RCM).version());
    EXPECT_EQ(derived->lineage().renumbered(), v1::RENUMBERING_RCM);
  }
}

TEST_F(DeriveTest, ANumberingAloneIsTheVersionOfAnImportWithIt) {
  ImportWith("knn:2", SealWithFractions("molecules", 800, 100, 100, 7));
  v1::DeriveDatasetRequest request = Request("");
  request.set_renumber(v1::RENUMBERING_RCM);
  const auto derived = Derive("molecules", request);
  ASSERT_THAT(derived, IsOk());
  EXPECT_EQ(
      derived->version(),
      ImportWith("knn:2", SealWithFractions("imported", 800, 100, 100, 7), v1::RENUMBERING_RCM).version());
}

TEST_F(DeriveTest, AnotherSplitKeepsTheNumbering) {
  ImportWith("knn:2", SealAs("molecules"), v1::RENUMBERING_RCM);
  v1::DeriveDatasetRequest request = Request("");
  request.mutable_fractions()->set_train_permille(500);
  request.mutable_fractions()->set_test_permille(500);
  const auto derived = Derive("molecules", request);
  ASSERT_THAT(derived, IsOk());
  EXPECT_EQ(derived->version(),
            ImportWith("knn:2", SealWithFractions("imported", 500, 0, 500, 0), v1::RENUMBERING_RCM).version());
}

TEST_F(DeriveTest, RefusesToRenumberTwiceOrByEdgesThatAreNotStored) {
  ImportWith("knn:2", SealAs("molecules"), v1::RENUMBERING_RCM);
  v1::DeriveDatasetRequest request = Request("");
  request.set_renumber(v1::RENUMBERING_RCM);
  EXPECT_THAT(Derive("molecules", request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("renumbered already, by rcm")));
  request.set_edges("full");
  EXPECT_THAT(Derive("molecules", request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--renumber rcm: edges 'full'")));
}

TEST_F(DeriveTest, NeedsPositions) {
  v1::Schema schema = MoleculeSchema();
  schema.mutable_fields(1)->set_name("place");
  v1::ImportHeader header;
  *header.mutable_schema() = schema;
  auto session = ImportSession::Begin(store_, header).value();
  v1::GraphBlock block = BlockOf(SampleMolecules());
  block.mutable_columns(1)->set_field("place");
  ASSERT_THAT(session->Add(block), IsOk());
  ASSERT_THAT(session->TakeWriter()->Seal(SealAs("molecules")), IsOk());
  EXPECT_THAT(Derive("molecules", Request("knn:2")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--edges knn:2"), HasSubstr("node field 'pos'"))));
}

TEST_F(DeriveTest, RefusesToChangeNothing) {
  ImportWith("full", SealAs("molecules"));
  EXPECT_THAT(Derive("molecules", Request("")), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(DeriveTest, EndsWithWhatProgressSays) {
  ImportWith("full", SealAs("molecules"));
  const auto source = store_.Open("molecules").value();
  int graphs = 0;
  const auto staged = StageDerived(store_, *source, Request("knn:2"), [&](std::uint64_t memory_bytes) {
    EXPECT_GT(memory_bytes, 0u);
    return ++graphs < 7 ? absl::OkStatus() : absl::CancelledError("enough");
  });
  EXPECT_THAT(staged, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(graphs, 7);
}

TEST_F(DeriveTest, EndsWhereTheSourceCannotBeRead) {
  ImportWith("full", SealAs("molecules"));
  store_.FailScans(absl::DataLossError("damaged"));
  EXPECT_THAT(Derive("molecules", Request("knn:2")), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace packtrain::storage
