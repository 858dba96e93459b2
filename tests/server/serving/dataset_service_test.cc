#include <gmock/gmock.h>

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/serving/graph_sizes.h"
#include "server/storage/staged_imports.h"
#include "tests/server/serving/serving_client.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/sample_chains.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"

namespace packtrain::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DatasetServiceTest : public ::testing::Test {
 protected:
  void SetUp() override { Start({}); }

  void Start(node::ServerOptions options) {
    auto server = TestServer::Start(std::move(options));
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    client_ = std::make_unique<ServingClient>(server_->NewChannel());
  }

  std::unique_ptr<TestServer> server_;
  std::unique_ptr<ServingClient> client_;
};

TEST_F(DatasetServiceTest, AnImportIsSeenWhenItIsSealed) {
  const auto imported = client_->Import(MoleculeSchema(), BlockOf(ManyMolecules(40)));
  ASSERT_THAT(imported, IsOk());
  EXPECT_EQ(imported->received(), 40);
  EXPECT_EQ(imported->staged(), 40);
  EXPECT_THAT(client_->List()->datasets(), IsEmpty());
  EXPECT_THAT(client_->Get("molecules"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("molecules")));

  v1::SealDatasetRequest seal;
  seal.set_import_id(imported->import_id());
  seal.set_name("molecules");
  const auto sealed = client_->Seal(seal);
  ASSERT_THAT(sealed, IsOk());
  EXPECT_FALSE(sealed->unchanged());
  EXPECT_EQ(sealed->dataset().graphs(), 40);
  ASSERT_THAT(client_->List()->datasets(), SizeIs(1));
  const auto got = client_->Get("molecules");
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->version(), sealed->dataset().version());
  EXPECT_EQ(got->nodes().max(), 5);
}

TEST_F(DatasetServiceTest, PagesTogetherAreTheListByName) {
  const std::vector<std::string> names = {"a", "a.b", "b", "c", "d"};
  for (const std::string& name : names) {
    ASSERT_THAT(client_->Store(name, MoleculeSchema(), BlockOf(ManyMolecules(5))), IsOk());
  }
  v1::ListDatasetsRequest request;
  request.set_page_size(2);
  std::vector<std::string> listed;
  do {
    const auto page = client_->List(request);
    ASSERT_THAT(page, IsOk());
    EXPECT_LE(page->datasets_size(), 2);
    for (const v1::Dataset& dataset : page->datasets()) listed.push_back(dataset.name());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(listed, names);
}

// The sizes of the whole list, `page_size` graphs a page.
v1::ListGraphSizesResponse AllSizes(ServingClient& client, v1::ListGraphSizesRequest request) {
  v1::ListGraphSizesResponse all;
  do {
    const auto page = client.ListGraphSizes(request);
    EXPECT_THAT(page, IsOk());
    if (!page.ok()) break;
    all.MergeFrom(*page);
    EXPECT_EQ(page->n_node_size(), page->n_edge_size());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return all;
}

TEST_F(DatasetServiceTest, PagesOfSizesAreThoseOfTheSplitsGraphsInTheirOrder) {
  const std::string reference =
      client_->Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(40))).value();
  for (const std::uint32_t page_size : {0u, 1u, 7u, 40u}) {
    v1::ListGraphSizesRequest request;
    request.set_dataset("molecules");
    request.set_page_size(page_size);
    const v1::ListGraphSizesResponse all = AllSizes(*client_, request);
    EXPECT_EQ(all.dataset(), reference);
    EXPECT_EQ(all.split(), "all");
    EXPECT_EQ(all.graphs(), 40u);
    ASSERT_THAT(all.n_node(), SizeIs(40));
    for (int graph = 0; graph < 40; ++graph) {
      const Molecule molecule = ManyMolecules(40)[graph];
      EXPECT_EQ(all.n_node(graph), molecule.z.size());
    }
  }
}

TEST(ListGraphSizesTest, APageFitsIntoHalfAMessage) {
  FakeGraphStore store;
  std::unique_ptr<storage::DatasetWriter> writer = store.NewDataset(MoleculeSchema()).value();
  for (const Molecule& molecule : ManyMolecules(1000)) {
    const std::string record = RecordOf(molecule);
    ASSERT_THAT(writer->Append(std::as_bytes(std::span(record))), IsOk());
  }
  v1::SealDatasetRequest seal;
  seal.set_name("molecules");
  ASSERT_THAT(writer->Seal(seal), IsOk());
  v1::ListGraphSizesRequest request;
  request.set_dataset("molecules");
  EXPECT_THAT(serving::ListGraphSizes(store, request, 2000)->n_node(), SizeIs(100));
  EXPECT_THAT(serving::ListGraphSizes(store, request, 1)->n_node(), SizeIs(1));
  EXPECT_THAT(serving::ListGraphSizes(store, request, 64 << 20)->n_node(), SizeIs(1000));
}

TEST_F(DatasetServiceTest, PagesOfSizesHaveTheBandwidthsThatAreAskedFor) {
  const std::vector<Chain> chains = ManyChains(20);
  ASSERT_THAT(client_->Store("chains", ChainSchema(), ChainBlock(chains), v1::RENUMBERING_RCM), IsOk());
  v1::ListGraphSizesRequest request;
  request.set_dataset("chains");
  EXPECT_THAT(AllSizes(*client_, request).bandwidth(), SizeIs(0));
  request.set_bandwidths(true);
  for (const std::uint32_t page_size : {0u, 3u}) {
    request.set_page_size(page_size);
    const v1::ListGraphSizesResponse all = AllSizes(*client_, request);
    ASSERT_THAT(all.bandwidth(), SizeIs(20));
    ASSERT_THAT(all.bandwidth_as_read(), SizeIs(20));
    for (int graph = 0; graph < 20; ++graph) {
      EXPECT_EQ(all.bandwidth(graph), chains[graph].nodes > 1 ? 1u : 0u);
      EXPECT_EQ(all.bandwidth_as_read(graph), chains[graph].BandwidthAsRead());
    }
  }
  ASSERT_THAT(client_->Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(5))), IsOk());
  request.set_dataset("molecules");
  EXPECT_THAT(client_->ListGraphSizes(request),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--renumber rcm")));
}

TEST_F(DatasetServiceTest, SizesOfWhatIsNotThereAreRefused) {
  ASSERT_THAT(client_->Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(5))), IsOk());
  v1::ListGraphSizesRequest request;
  request.set_dataset("nothing");
  EXPECT_THAT(client_->ListGraphSizes(request), StatusIs(absl::StatusCode::kNotFound));
  request.set_dataset("molecules");
  request.set_split("val");
  EXPECT_THAT(client_->ListGraphSizes(request), StatusIs(absl::StatusCode::kNotFound, HasSubstr("val")));
  request.set_split("all");
  request.set_page_token("page 2");
  EXPECT_THAT(client_->ListGraphSizes(request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("page_token")));
}

TEST_F(DatasetServiceTest, ABadPageTokenIsAnInvalidArgument) {
  v1::ListDatasetsRequest request;
  request.set_page_token("page 2");
  EXPECT_THAT(client_->List(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("page_token")));
}

TEST_F(DatasetServiceTest, AnImportIsSealedOnce) {
  const auto imported = client_->Import(MoleculeSchema(), BlockOf(ManyMolecules(5)));
  ASSERT_THAT(imported, IsOk());
  v1::SealDatasetRequest seal;
  seal.set_import_id(imported->import_id());
  seal.set_name("molecules");
  EXPECT_THAT(client_->Seal(seal), IsOk());
  EXPECT_THAT(client_->Seal(seal), StatusIs(absl::StatusCode::kNotFound, HasSubstr("sealed already")));
}

TEST_F(DatasetServiceTest, ALineageThatNoClientCouldTakeIsRefusedAndTheImportStays) {
  const auto imported = client_->Import(MoleculeSchema(), BlockOf(ManyMolecules(5)));
  ASSERT_THAT(imported, IsOk());
  v1::SealDatasetRequest seal;
  seal.set_import_id(imported->import_id());
  seal.set_name("molecules");
  seal.mutable_lineage()->set_command(std::string(2 << 20, 'x'));
  EXPECT_THAT(client_->Seal(seal), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("lineage")));
  seal.clear_lineage();
  EXPECT_THAT(client_->Seal(seal), IsOk());
}

TEST_F(DatasetServiceTest, ARefusedSealKeepsTheImport) {
  const auto imported = client_->Import(MoleculeSchema(), BlockOf(ManyMolecules(5)));
  ASSERT_THAT(imported, IsOk());
  v1::SealDatasetRequest seal;
  seal.set_import_id(imported->import_id());
  seal.set_name("molecules");
  seal.mutable_by_ids()->add_train("nobody");
  EXPECT_THAT(client_->Seal(seal), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nobody")));
  seal.clear_by_ids();
  EXPECT_THAT(client_->Seal(seal), IsOk());
}

TEST_F(DatasetServiceTest, TheMemoryOfAnImportIsCountedUntilItsSeal) {
  const std::uint64_t before = client_->GetServerInfo()->memory().used_bytes();
  const auto imported = client_->Import(MoleculeSchema(), BlockOf(ManyMolecules(20'000)));
  ASSERT_THAT(imported, IsOk());
  const v1::MemoryUse staged = client_->GetServerInfo()->memory();
  EXPECT_GT(staged.used_bytes(), before + 20'000 * 20);  // three counts and where the id ends, of each graph
  EXPECT_LE(staged.used_bytes(), staged.cap_bytes());
  v1::SealDatasetRequest seal;
  seal.set_import_id(imported->import_id());
  seal.set_name("molecules");
  ASSERT_THAT(client_->Seal(seal), IsOk());
  EXPECT_LT(client_->GetServerInfo()->memory().used_bytes(), staged.used_bytes());
}

TEST_F(DatasetServiceTest, StagedImportsDoNotOutliveTheServer) {
  const auto imported = client_->Import(MoleculeSchema(), BlockOf(ManyMolecules(5)));
  ASSERT_THAT(imported, IsOk());
  ASSERT_THAT(server_->StartAgain(), IsOk());
  ServingClient client(server_->NewChannel());
  v1::SealDatasetRequest seal;
  seal.set_import_id(imported->import_id());
  seal.set_name("molecules");
  EXPECT_THAT(client.Seal(seal), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(DatasetServiceTest, ADataSetOutlivesTheServer) {
  const auto stored = client_->Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(5)));
  ASSERT_THAT(stored, IsOk());
  ASSERT_THAT(server_->StartAgain(), IsOk());
  EXPECT_THAT(ServingClient(server_->NewChannel()).Get(*stored), IsOk());
}

TEST_F(DatasetServiceTest, MessagesInAnotherOrderAreRefused) {
  EXPECT_THAT(client_->Import({}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("header")));
  std::vector<v1::ImportGraphsRequest> messages(2);
  *messages[0].mutable_block() = BlockOf(ManyMolecules(5));
  EXPECT_THAT(client_->Import(messages), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("header")));
  for (v1::ImportGraphsRequest& message : messages) {
    *message.mutable_header()->mutable_schema() = MoleculeSchema();
  }
  EXPECT_THAT(client_->Import(messages),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("end message")));
}

TEST_F(DatasetServiceTest, AnImportThatIsNotWholeIsDropped) {
  std::vector<v1::ImportGraphsRequest> messages(3);
  *messages[0].mutable_header()->mutable_schema() = MoleculeSchema();
  *messages[1].mutable_block() = BlockOf(ManyMolecules(5));
  messages[2].mutable_end()->set_graphs(6);
  EXPECT_THAT(client_->Import(messages),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("6 graphs, but 5")));
}

TEST_F(DatasetServiceTest, AMessageThatDoesNotParseDropsTheImport) {
  std::vector<v1::ImportGraphsRequest> messages(3);
  *messages[0].mutable_header()->mutable_schema() = MoleculeSchema();
  *messages[1].mutable_block() = BlockOf(ManyMolecules(5));
  *messages[2].mutable_block() = BlockOf(ManyMolecules(5));
  messages[2].mutable_block()->set_source_ids(0, "\xff");  // no UTF-8, as protobuf wants it
  EXPECT_THAT(client_->Import(messages), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("UTF-8")));
}

TEST_F(DatasetServiceTest, ABadGraphStopsTheImportOrIsListed) {
  std::vector<Molecule> molecules = ManyMolecules(5);
  molecules[2].pos[0][1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(client_->Import(MoleculeSchema(), BlockOf(molecules)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(molecules[2].id)));
  std::vector<v1::ImportGraphsRequest> messages(2);
  *messages[0].mutable_header()->mutable_schema() = MoleculeSchema();
  messages[0].mutable_header()->set_on_error(v1::ERROR_POLICY_SKIP);
  *messages[1].mutable_block() = BlockOf(molecules);
  const auto imported = client_->Import(messages);
  ASSERT_THAT(imported, IsOk());
  EXPECT_EQ(imported->staged(), 4);
  ASSERT_THAT(imported->refused(), SizeIs(1));
  EXPECT_EQ(imported->refused(0).reason(), "not_finite");
}

TEST_F(DatasetServiceTest, ABlockAboveTheMessageLimitIsRefused) {
  node::ServerOptions options;
  options.max_message_bytes = 64 << 10;
  Start(options);
  EXPECT_THAT(client_->Import(MoleculeSchema(), BlockOf(ManyMolecules(5000))),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(client_->Import(MoleculeSchema(), BlockOf(ManyMolecules(500))), IsOk());
}

TEST_F(DatasetServiceTest, AnEmptyImportCannotBeSealed) {
  std::vector<v1::ImportGraphsRequest> messages(1);
  *messages[0].mutable_header()->mutable_schema() = MoleculeSchema();
  const auto imported = client_->Import(messages);
  ASSERT_THAT(imported, IsOk());
  v1::SealDatasetRequest seal;
  seal.set_import_id(imported->import_id());
  seal.set_name("nothing");
  EXPECT_THAT(client_->Seal(seal), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace packtrain::testing
