#include "client/internal/service_client.h"

#include <gmock/gmock.h>

#include "client/dataset_info.h"
#include "client/failure.h"
#include "proto/base/status_convert.h"
#include "tests/client/scripted_services.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::InProcessServer;
using testing::IsOk;
using testing::OptionsFor;
using testing::ScriptedDatasets;
using testing::ScriptedInfo;
using testing::ScriptedPlans;
using testing::ScriptedRuns;
using testing::StatusIs;

class Served {
 public:
  explicit Served(std::chrono::milliseconds give_up = std::chrono::milliseconds(60'000),
                  std::size_t refused_block = 1'000'000)
      : datasets(refused_block),
        server({&info, &datasets, &plans, &runs}),
        connection(Connection::Open(OptionsFor(server.address(), give_up)).value()),
        client(connection) {}

  ScriptedInfo info;
  ScriptedDatasets datasets;
  ScriptedPlans plans;
  ScriptedRuns runs;
  InProcessServer server;
  std::shared_ptr<Connection> connection;
  ServiceClient client;
};

v1::GraphBlock Block(int graphs) {
  v1::GraphBlock block;
  for (int k = 0; k < graphs; ++k) block.add_n_node(3);
  return block;
}

TEST(ServiceClient, ReturnsTheAnswer) {
  Served served;
  const auto info = served.client.Read<v1::GetServerInfoResponse>(v1::GetServerInfoRequest());
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->version(), "9.9.9");
}

TEST(ServiceClient, ReturnsTheServersRefusal) {
  Served served;
  v1::GetDatasetRequest request;
  request.set_dataset("nope");
  EXPECT_THAT(served.client.Read<v1::GetDatasetResponse>(request),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nope")));
}

// The request and the answer name the method: no other may be called.
TEST(ServiceClient, RefusesAnAnswerThatNoMethodGivesToTheRequest) {
  Served served;
  EXPECT_THAT(served.client.Read<v1::GetDatasetResponse>(v1::GetServerInfoRequest()),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("GetServerInfoRequest")));
  EXPECT_THAT(served.client.Read<v1::ListStepsResponse>(v1::ListStepsRequest()),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("ListStepsRequest")));
}

TEST(ServiceClient, WalksAllPagesOfAList) {
  Served served;
  const auto runs = served.client.ListRuns("");
  ASSERT_THAT(runs, IsOk());
  std::vector<std::string> names;
  for (const v1::Run& run : *runs) names.push_back(run.run());
  EXPECT_THAT(names, ElementsAre("run", "run'", "run''"));
}

TEST(ServiceClient, WalksNoListWithoutEnd) {
  Served served;
  EXPECT_THAT(served.client.ListRuns("endless"),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("the same page")));
}

TEST(ServiceClient, IsUnavailableWhenTheServerHasGone) {
  Served served(std::chrono::milliseconds(100));
  served.server.Shutdown();
  EXPECT_THAT(served.client.ListRuns(""),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(served.server.address())));
  EXPECT_THAT(served.client.SealDataset({}), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(served.client.ListSteps({}, [](const v1::ListStepsResponse&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kUnavailable));
}

void ReportBlocks(Served& served, std::uint64_t blocks) {
  for (std::uint64_t step = 0; step < blocks; ++step) {
    v1::ReportStepsRequest request;
    request.mutable_steps()->add_step(step);
    v1::ReportStepsResponse response;
    ASSERT_TRUE(served.runs.ReportSteps(nullptr, &request, &response).ok());
  }
}

std::vector<std::uint64_t> ListedSteps(ServiceClient& client, absl::Status* status) {
  std::vector<std::uint64_t> steps;
  *status = client.ListSteps({}, [&](const v1::ListStepsResponse& response) {
    steps.push_back(response.steps().step(0));
    return absl::OkStatus();
  });
  return steps;
}

TEST(ServiceClient, SaysThatASealWithoutAnAnswerMayBeRepeated) {
  Served served;
  served.server.Shutdown();
  EXPECT_THAT(served.client.SealDataset(v1::SealDatasetRequest()),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr(served.server.address()), HasSubstr("not stored; it may be repeated"))));
}

TEST(ServiceClient, ComesAgainWithAChangeThatTheServerRefusesForWantOfMemory) {
  Served served;
  served.datasets.AnswerWith(
      {testing::NoMemoryYet(), testing::NoMemoryYet(), grpc::Status::OK, testing::NoMemoryYet()});
  EXPECT_THAT(served.client.SealDataset({}), IsOk());
  EXPECT_THAT(served.client.DeleteDataset({}), IsOk());
  EXPECT_EQ(served.datasets.calls(), 5);
}

TEST(ServiceClient, MakesNoChangeTwiceThatAResetMayHaveLetThrough) {
  Served served;
  served.datasets.AnswerWith(
      {grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "Received RST_STREAM with error code 11")});
  EXPECT_THAT(served.client.DeleteDataset({}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("reset the call and did not say whether it deleted anything"),
                             HasSubstr("--memory"))));
  EXPECT_EQ(served.datasets.calls(), 1);
}

TEST(ServiceClient, AServerThatIsFailingIsNotLost) {
  Served served(std::chrono::milliseconds(1));
  const absl::Status failing = absl::UnavailableError("reading the store: IO error");
  served.datasets.AnswerWith({base::ToGrpcStatus(failing)});
  const absl::Status status = served.client.SealDataset({}).status();
  EXPECT_EQ(status.message(), failing.message());
  EXPECT_TRUE(IsFailingServer(status));
  EXPECT_FALSE(IsFailingServer(absl::UnavailableError("connection refused")));
}

TEST(ServiceClient, HandsOverStepsInOrder) {
  Served served;
  ReportBlocks(served, 3);
  absl::Status status;
  EXPECT_THAT(ListedSteps(served.client, &status), ElementsAre(0, 1, 2));
  EXPECT_THAT(status, IsOk());
}

TEST(ServiceClient, ListsStepsAgainWhileNoneHasCome) {
  Served served;
  ReportBlocks(served, 3);
  served.runs.CutListings({0, 0});
  absl::Status status;
  EXPECT_THAT(ListedSteps(served.client, &status), ElementsAre(0, 1, 2));
  EXPECT_THAT(status, IsOk());
}

TEST(ServiceClient, HandsOverNoStepTwiceWhereTheListingIsCut) {
  Served served;
  ReportBlocks(served, 3);
  served.runs.CutListings({2});
  absl::Status status;
  EXPECT_THAT(ListedSteps(served.client, &status), ElementsAre(0, 1));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("draining")));
}

TEST(ServiceClient, StopsListingStepsWhenTheTakerFails) {
  Served served;
  ReportBlocks(served, 100);
  int taken = 0;
  const auto take = [&](const v1::ListStepsResponse&) {
    return ++taken == 2 ? absl::ResourceExhaustedError("disk full") : absl::OkStatus();
  };
  EXPECT_THAT(served.client.ListSteps({}, take), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(taken, 2);
}

TEST(ServiceClient, EndsAStreamWithAMessageThatItCannotDecode) {
  Served served;
  int taken = 0;
  const auto take = [&](v1::ExportDatasetResponse&) {
    ++taken;
    return absl::OkStatus();
  };
  EXPECT_THAT(served.client.ExportDataset({}, take),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("packtrain.v1.ExportDatasetResponse"), HasSubstr("not UTF-8"))));
  EXPECT_EQ(taken, 0);
}

TEST(ImportStream, SendsBlocksAndReturnsTheAnswer) {
  Served served;
  const auto stream = ImportStream::Open(served.connection, v1::ImportHeader());
  ASSERT_THAT(stream, IsOk());
  EXPECT_THAT((*stream)->Write(Block(2)), IsOk());
  EXPECT_THAT((*stream)->Write(Block(3)), IsOk());
  const auto response = (*stream)->Finish();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->import_id(), "import-1");
  EXPECT_EQ(response->staged(), 5u);
  EXPECT_THAT((*stream)->Write(Block(1)), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT((*stream)->Finish(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ImportStream, SurfacesARefusalInMidStream) {
  Served served(std::chrono::milliseconds(60'000), 1);
  const auto stream = ImportStream::Open(served.connection, v1::ImportHeader());
  ASSERT_THAT(stream, IsOk());
  absl::Status status;
  EXPECT_TRUE(testing::Eventually([&] {
    status = (*stream)->Write(Block(2));
    return !status.ok();
  }));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("graph 17")));
  EXPECT_THAT((*stream)->Finish(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ImportStream, SurfacesARefusalOfTheLastBlock) {
  Served served(std::chrono::milliseconds(60'000), 0);
  const auto stream = ImportStream::Open(served.connection, v1::ImportHeader());
  ASSERT_THAT(stream, IsOk());
  const absl::Status written = (*stream)->Write(Block(2));
  if (written.ok()) {
    EXPECT_THAT((*stream)->Finish(), StatusIs(absl::StatusCode::kInvalidArgument));
  } else {
    EXPECT_THAT(written, StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(ImportStream, NamesTheServerThatWasLostAndSaysThatTheImportIs) {
  Served served;
  const auto stream = ImportStream::Open(served.connection, v1::ImportHeader());
  ASSERT_THAT(stream, IsOk());
  served.server.Shutdown();
  absl::Status status;
  EXPECT_TRUE(testing::Eventually([&] {
    status = (*stream)->Write(Block(2));
    return !status.ok();
  }));
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr(served.server.address()),
                                                             HasSubstr("was not stored; it may be repeated"))));
}

TEST(ImportStream, CancelsWhenDestroyedEarly) {
  Served served;
  const auto stream = ImportStream::Open(served.connection, v1::ImportHeader());
  ASSERT_THAT(stream, IsOk());
  EXPECT_THAT((*stream)->Write(Block(2)), IsOk());
}

TEST(DatasetInfo, HasReferenceSplitsTargetsClassesAndWords) {
  Served served;
  const auto info = GetDatasetInfo(*served.connection, "qm9");
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->reference, "qm9@abc");
  EXPECT_EQ(info->graphs, 10u);
  EXPECT_THAT(info->classes, ElementsAre(1, 6));
  const SplitInfo* all = info->FindSplit("all");
  ASSERT_NE(all, nullptr);
  ASSERT_EQ(all->targets.size(), 1u);
  EXPECT_EQ(all->targets[0].target, "energy");
  EXPECT_EQ(all->targets[0].unit, "eV");
  EXPECT_EQ(all->targets[0].count, 9u);
  EXPECT_EQ(all->targets[0].mean, -3.5);
  EXPECT_EQ(all->targets[0].stddev, 0.25);
  EXPECT_EQ(all->targets[0].median, -3.25);
  EXPECT_EQ(all->mean_log_degree, 1.25);
  ASSERT_NE(info->FindField("token"), nullptr);
  EXPECT_EQ(info->FindField("token")->words, 3u);
  EXPECT_THAT(info->FindField("token")->graphs_with_word, ElementsAre(1, 7, 2));
  EXPECT_EQ(info->FindSplit("train"), nullptr);
  EXPECT_THAT(GetDatasetInfo(*served.connection, "nope"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(PlanInfo, HasStepsBudgetAndFingerprint) {
  Served served;
  wire::BatchSpec spec;
  spec.policy = wire::Policy::kDynamic;
  spec.graphs = 8;
  const auto dynamic = GetPlanInfo(*served.connection, "qm9", spec, 3, 2);
  ASSERT_THAT(dynamic, IsOk());
  EXPECT_EQ(dynamic->steps, 4u);
  EXPECT_EQ(dynamic->batches, 7u);
  EXPECT_EQ(dynamic->budget, (wire::Shape{8, 64, 128}));
  EXPECT_EQ(dynamic->fingerprint, "plan-2-3");
  spec.policy = wire::Policy::kStatic;
  EXPECT_EQ(GetPlanInfo(*served.connection, "qm9", spec, 0, 1)->budget, wire::Shape{});
  spec.policy.reset();
  EXPECT_THAT(GetPlanInfo(*served.connection, "qm9", spec, 0, 1), StatusIs(absl::StatusCode::kInvalidArgument));
}

// Before the first batch is asked for.
TEST(PlanInfo, RefusesAShapeThatTakesMoreThanABatchMay) {
  Served served;
  ConnectionOptions options = served.connection->options();
  options.max_batch_bytes = 1'315;
  const std::shared_ptr<Connection> connection = Connection::Open(options).value();
  wire::BatchSpec spec;
  spec.policy = wire::Policy::kDynamic;
  spec.graphs = 8;
  EXPECT_THAT(
      GetPlanInfo(*connection, "qm9", spec, 0, 1),
      StatusIs(absl::StatusCode::kResourceExhausted,
               AllOf(HasSubstr("a padded shape of 9 graphs, 64 nodes and 128 edges takes at least 1316 bytes"),
                     HasSubstr("above the limit of 1315; --graphs, --nodes and --edges decide"))));
}

}  // namespace
}  // namespace packtrain::client
