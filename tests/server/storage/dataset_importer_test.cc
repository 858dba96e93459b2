#include "server/storage/dataset_importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/error_details.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::BlockOf;
using ::packtrain::testing::FakeGraphStore;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Messages = std::vector<v1::ImportGraphsRequest>;

v1::ImportGraphsRequest Header() {
  v1::ImportGraphsRequest message;
  *message.mutable_header()->mutable_schema() = MoleculeSchema();
  message.mutable_header()->set_on_error(v1::ERROR_POLICY_SKIP);
  return message;
}

v1::ImportGraphsRequest Block(std::uint32_t graphs) {
  v1::ImportGraphsRequest message;
  *message.mutable_block() = BlockOf(ManyMolecules(graphs));
  return message;
}

v1::ImportGraphsRequest End(std::uint64_t graphs) {
  v1::ImportGraphsRequest message;
  message.mutable_end()->set_graphs(graphs);
  return message;
}

class DatasetImporterTest : public ::testing::Test {
 protected:
  DatasetImporterTest() { UseMemory(std::uint64_t{1} << 40); }

  // `before(k)` is called before message k is handed out.
  absl::StatusOr<v1::ImportGraphsResponse> Import(
      const Messages& messages, const std::function<void(std::size_t)>& before = [](std::size_t) {}) {
    absl::StatusOr<limits::Slots::Slot> slot = importer_->Admit();
    if (!slot.ok()) return slot.status();
    std::size_t next = 0;
    return importer_->Import(*std::move(slot), [&](std::uint64_t held) -> absl::StatusOr<ImportMessage> {
      EXPECT_EQ(held == 0, next == 0);
      EXPECT_LE(held, memory_->used_bytes());
      before(next);
      return next == messages.size() ? nullptr : &messages[next++];
    });
  }

  v1::SealDatasetRequest SealOf(const absl::StatusOr<v1::ImportGraphsResponse>& staged) {
    v1::SealDatasetRequest seal;
    seal.set_import_id(staged->import_id());
    seal.set_name("molecules");
    return seal;
  }

  void StoreMolecules() {
    ASSERT_THAT(importer_->Seal(SealOf(Import({Header(), Block(50), End(50)}))), IsOk());
  }

  static v1::DeriveDatasetRequest Derivation() {
    v1::DeriveDatasetRequest request;
    request.set_dataset("molecules");
    request.set_name("derived");
    request.set_edges("radius:5");
    request.set_command("packtrain dataset derive");
    return request;
  }

  void UseMemory(std::uint64_t bytes) {
    memory_ = limits::MemoryBudget::Undivided(bytes);
    importer_ = std::make_unique<DatasetImporter>(
        store_, memory_, DatasetImporterOptions{.program_version = "1.2.3", .imports = {.max_imports = 2}});
  }

  FakeGraphStore store_;
  std::shared_ptr<limits::MemoryBudget> memory_;
  std::unique_ptr<DatasetImporter> importer_;
};

TEST_F(DatasetImporterTest, AnImportThatBrokeOffWaitsForNoMemoryAndKeepsNoPlace) {
  const auto held = memory_->TryReserve(limits::MemoryPart::kImports, memory_->cap_bytes());
  for (int k = 0; k < 3; ++k) {  // more than there are places
    auto slot = importer_->Admit();
    ASSERT_THAT(slot, IsOk());
    const v1::ImportGraphsRequest header = Header();
    EXPECT_THAT(importer_->Import(
                    *std::move(slot), [&header](std::uint64_t) { return &header; }, [] { return false; }),
                StatusIs(absl::StatusCode::kCancelled));
  }
}

TEST_F(DatasetImporterTest, AnImportIsADataSetOnceItIsSealed) {
  const auto staged = Import({Header(), Block(3), Block(2), End(5)});
  ASSERT_THAT(staged, IsOk());
  EXPECT_EQ(staged->received(), 5);
  EXPECT_EQ(staged->staged(), 3);  // ids of the second block came before
  EXPECT_THAT(*store_.List(), IsEmpty());
  const auto sealed = importer_->Seal(SealOf(staged));
  ASSERT_THAT(sealed, IsOk());
  EXPECT_EQ(sealed->dataset().name(), "molecules");
  EXPECT_FALSE(sealed->unchanged());
  EXPECT_THAT(*store_.List(), SizeIs(1));
  EXPECT_THAT(importer_->Seal(SealOf(staged)), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(DatasetImporterTest, MessagesInAnotherOrderAreRefused) {
  for (const auto& [messages, said] :
       std::vector<std::pair<Messages, std::string>>{{{}, "must be its header"},
                                                     {{Block(1), End(1)}, "must be its header"},
                                                     {{Header(), Block(1)}, "without its end message"},
                                                     {{Header(), Header(), End(0)}, "without its end message"},
                                                     {{Header(), Block(1), End(2)}, "speaks of 2 graphs"}}) {
    EXPECT_THAT(Import(messages), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(said)));
  }
  EXPECT_EQ(memory_->used_bytes(), 0);
  EXPECT_THAT(Import({Header(), Block(1), End(1)}), IsOk());  // none of them kept its place
}

TEST_F(DatasetImporterTest, AnImportHasAPlaceUntilItIsSealed) {
  const auto first = Import({Header(), Block(1), End(1)}), second = Import({Header(), Block(2), End(2)});
  ASSERT_THAT(second, IsOk());
  EXPECT_THAT(importer_->Admit(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(importer_->Seal(SealOf(first)), IsOk());
  EXPECT_THAT(importer_->Admit(), IsOk());
}

TEST_F(DatasetImporterTest, ItsMemoryIsCountedUntilItIsSealed) {
  const auto staged = Import({Header(), Block(50), End(50)}, [&](std::size_t message) {
    EXPECT_EQ(memory_->used_bytes() > 0, message > 0) << message;
  });
  EXPECT_GT(memory_->used_bytes(), 0);
  EXPECT_THAT(importer_->Seal(SealOf(staged)), IsOk());
  EXPECT_EQ(memory_->used_bytes(), 0);
}

TEST_F(DatasetImporterTest, ASealWithoutMemoryForItIsRefusedAndKeepsTheImport) {
  const auto budget = limits::MemoryBudget::Undivided(6 << 20);
  DatasetImporter importer(store_, budget, {.program_version = "1.2.3"});
  const Messages messages = {Header(), Block(50), End(50)};
  std::size_t next = 0;
  const auto staged = importer.Import(
      *importer.Admit(), [&](std::uint64_t) -> absl::StatusOr<ImportMessage> { return &messages[next++]; });
  ASSERT_THAT(staged, IsOk());
  const std::uint64_t held = budget->used_bytes();
  v1::SealDatasetRequest seal = SealOf(staged);
  seal.mutable_lineage()->set_command(std::string(500'000, 'x'));
  EXPECT_THAT(importer.Seal(seal), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--memory")));
  EXPECT_EQ(budget->used_bytes(), held);
  EXPECT_THAT(*store_.List(), IsEmpty());
}

TEST_F(DatasetImporterTest, ARefusedSealKeepsTheImport) {
  const auto staged = Import({Header(), Block(3), End(3)});
  v1::SealDatasetRequest seal = SealOf(staged);
  seal.set_name("not a name");
  EXPECT_THAT(importer_->Seal(seal), StatusIs(absl::StatusCode::kInvalidArgument));
  seal = SealOf(staged);
  seal.mutable_lineage()->add_sources()->set_name(std::string(2 << 20, 'x'));
  EXPECT_THAT(importer_->Seal(seal), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("lineage has ")));
  EXPECT_THAT(importer_->Seal(SealOf(staged)), IsOk());
}

TEST_F(DatasetImporterTest, DrainingItBeginsStagesAndSealsNothing) {
  const auto staged = Import({Header(), Block(3), End(3)});
  EXPECT_THAT(Import({Header(), Block(3), End(3)},
                     [&](std::size_t message) {
                       if (message == 1) importer_->Drain();
                     }),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("shutting down")));
  EXPECT_THAT(importer_->Admit(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(importer_->Seal(SealOf(staged)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(importer_->Derive(Derivation()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(*store_.List(), IsEmpty());
}

TEST_F(DatasetImporterTest, ADerivedDataSetSaysWhatItCameFrom) {
  StoreMolecules();
  const auto derived = importer_->Derive(Derivation());
  ASSERT_THAT(derived, IsOk());
  const v1::Lineage& lineage = derived->dataset().lineage();
  EXPECT_THAT(lineage.derived_from(), HasSubstr("molecules@"));
  EXPECT_EQ(lineage.program_version(), "1.2.3");
  EXPECT_EQ(lineage.command(), "packtrain dataset derive");
  EXPECT_GT(lineage.imported_at_ms(), 0);
  EXPECT_EQ(derived->dataset().graphs(), 50);
  EXPECT_EQ(memory_->used_bytes(), 0);
}

TEST_F(DatasetImporterTest, AnAllocationThatFailsEndsTheImportAloneAndGivesItsMemoryBack) {
  const Messages messages = {Header(), Block(3), End(3)};
  for (std::size_t failing = 0; failing < messages.size(); ++failing) {
    const auto refused = Import(messages, [failing](std::size_t message) {
      if (message == failing) throw std::bad_alloc();
    });
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--memory"))) << failing;
    EXPECT_EQ(base::ReasonOf(refused.status()), base::kMemoryLimit);
    EXPECT_EQ(memory_->used_bytes(), 0u);
  }
  EXPECT_THAT(Import(messages, [](std::size_t) { throw std::runtime_error("unforeseen"); }),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("unforeseen")));
  EXPECT_THAT(importer_->Seal(SealOf(Import(messages))), IsOk());
}

TEST_F(DatasetImporterTest, AnAllocationThatFailsEndsTheDerivationAlone) {
  StoreMolecules();
  EXPECT_THAT(importer_->Derive(Derivation(), []() -> bool { throw std::bad_alloc(); }),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--memory")));
  EXPECT_EQ(memory_->used_bytes(), 0u);
  EXPECT_THAT(importer_->Derive(Derivation()), IsOk());
}

// Graphs of `pos` alone.
v1::ImportGraphsRequest PointsHeader(const std::string& edges) {
  v1::ImportGraphsRequest message;
  v1::ImportHeader& header = *message.mutable_header();
  header.set_build_edges(true);
  header.mutable_schema()->set_edges(edges);
  header.mutable_schema()->set_edge_rule(edges == "full" ? v1::EDGE_RULE_FULL : v1::EDGE_RULE_STORED);
  v1::Field& pos = *header.mutable_schema()->add_fields();
  pos.set_name("pos");
  pos.set_scope(v1::FIELD_SCOPE_NODE);
  pos.set_data_type(v1::DATA_TYPE_F32);
  pos.add_dims(3);
  return message;
}

// A graph whose nodes are all in one place.
v1::ImportGraphsRequest Points(const std::string& id, std::uint32_t nodes) {
  v1::ImportGraphsRequest message;
  v1::GraphBlock& block = *message.mutable_block();
  block.add_source_ids(id);
  block.add_n_node(nodes);
  v1::Column& pos = *block.add_columns();
  pos.set_field("pos");
  pos.set_data(std::string(std::size_t{nodes} * 3 * sizeof(float), '\0'));
  return message;
}

// A graph of one edge that has as many nodes as it says, and no bytes for them.
Messages Nodes(std::uint32_t nodes, v1::Renumbering renumber) {
  v1::ImportGraphsRequest header, block;
  header.mutable_header()->set_renumber(renumber);
  v1::Schema& schema = *header.mutable_header()->mutable_schema();
  schema.set_edges("given");
  schema.set_edge_rule(v1::EDGE_RULE_STORED);
  v1::Field& field = *schema.add_fields();
  field.set_name("q");
  field.set_scope(v1::FIELD_SCOPE_GRAPH);
  field.set_data_type(v1::DATA_TYPE_U8);
  block.mutable_block()->add_source_ids("nodes");
  block.mutable_block()->add_n_node(nodes);
  block.mutable_block()->add_n_edge(1);
  block.mutable_block()->add_senders(0);
  block.mutable_block()->add_receivers(nodes - 1);
  v1::Column& column = *block.mutable_block()->add_columns();
  column.set_field("q");
  column.set_data("1");
  return {header, block, End(1)};
}

// An importer that has 16 MiB.
class SmallImporterTest : public DatasetImporterTest {
 protected:
  static constexpr std::uint64_t kMemory = 16 << 20;

  SmallImporterTest() { UseMemory(kMemory); }

  void ExpectAboveMemory(const absl::Status& status, const std::string& said) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                                 AllOf(HasSubstr(said), HasSubstr("--memory"), HasSubstr("16777216"))));
    EXPECT_EQ(base::ReasonOf(status), base::kAboveMemory);
    EXPECT_EQ(memory_->used_bytes(), 0u);
  }
};

TEST_F(SmallImporterTest, EdgesThatDoNotFitAreRefusedByGraphLimitAndFlag) {
  for (const char* const edges : {"radius:5", "knn:5000"}) {
    ExpectAboveMemory(Import({PointsHeader(edges), Points("few", 300), Points("many", 8000), End(2)}).status(),
                      "graph 2 'many': building its edges: ");
  }
  EXPECT_THAT(Import({PointsHeader("radius:5"), Points("few", 300), Points("more", 500), End(2)}), IsOk());
}

TEST_F(SmallImporterTest, ANumberingThatDoesNotFitIsRefusedByGraphLimitAndFlag) {
  ExpectAboveMemory(Import(Nodes(10'000'000, v1::RENUMBERING_RCM)).status(),
                    "graph 1 'nodes': renumbering its nodes: ");
  EXPECT_THAT(Import(Nodes(std::numeric_limits<std::uint32_t>::max(), v1::RENUMBERING_RCM)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("too_large")));
  EXPECT_EQ(memory_->used_bytes(), 0u);
  EXPECT_THAT(Import(Nodes(10'000, v1::RENUMBERING_RCM)), IsOk());
}

TEST_F(SmallImporterTest, AGraphTooLargeToStoreIsRefusedByGraphLimitAndFlag) {
  v1::ImportGraphsRequest header = PointsHeader("given"), few = Points("few", 10),
                          large = Points("large", 500'000);
  header.mutable_header()->set_build_edges(false);
  few.mutable_block()->add_n_edge(0);
  large.mutable_block()->add_n_edge(0);
  ExpectAboveMemory(Import({header, few, large, End(2)}).status(), "graph 2 'large': ");
}

TEST_F(SmallImporterTest, DerivationsAreRefusedInTheSameWay) {
  const auto seal = [&](const Messages& messages, const std::string& name) {
    v1::SealDatasetRequest request = SealOf(Import(messages));
    request.set_name(name);
    ASSERT_THAT(importer_->Seal(request), IsOk());
  };
  seal({PointsHeader("full"), Points("many", 8000), End(1)}, "points");
  seal(Nodes(10'000'000, v1::RENUMBERING_UNSPECIFIED), "nodes");
  v1::DeriveDatasetRequest request = Derivation();
  request.set_dataset("points");
  ExpectAboveMemory(importer_->Derive(request).status(), "graph 1 'many': building its edges: ");
  request.set_edges("knn:3");
  EXPECT_THAT(importer_->Derive(request), IsOk());
  request.set_dataset("nodes");
  request.clear_edges();
  request.set_renumber(v1::RENUMBERING_RCM);
  ExpectAboveMemory(importer_->Derive(request).status(), "graph 1 'nodes': renumbering its nodes: ");
}

TEST_F(DatasetImporterTest, ADerivationEndsWithItsClient) {
  StoreMolecules();
  int graphs = 0;
  EXPECT_THAT(importer_->Derive(Derivation(), [&] { return ++graphs <= 10; }),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("the client went away")));
  EXPECT_EQ(graphs, 11);
  EXPECT_THAT(*store_.List(), SizeIs(1));
}

TEST_F(DatasetImporterTest, ADerivationNeedsAPlaceAndAName) {
  StoreMolecules();
  v1::DeriveDatasetRequest request = Derivation();
  request.set_name("not a name");
  EXPECT_THAT(importer_->Derive(request), StatusIs(absl::StatusCode::kInvalidArgument));
  request = Derivation();
  request.set_dataset("nothing");
  EXPECT_THAT(importer_->Derive(request), StatusIs(absl::StatusCode::kNotFound));
  request = Derivation();
  request.set_command(std::string(2 << 20, 'x'));
  EXPECT_THAT(importer_->Derive(request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("lineage has ")));
  const auto one = importer_->Admit(), other = importer_->Admit();
  EXPECT_THAT(importer_->Derive(Derivation()), StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace packtrain::storage
