// RunService over a real channel.
#include "server/serving/run_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proto/wire/step_convert.h"
#include "server/limits/page.h"
#include "tests/server/runs/run_fixtures.h"
#include "tests/testing/eventually.h"

namespace packtrain::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::uint64_t kMaxMessageBytes = 64 << 20;
constexpr std::uint64_t kMemory = std::uint64_t{4} << 30;

std::vector<std::string> NamesOf(const v1::ListRunsResponse& page) {
  std::vector<std::string> names;
  for (const v1::Run& run : page.runs()) names.push_back(run.run());
  return names;
}

class RunServiceTest : public ::testing::Test {
 protected:
  RunServiceTest() : service_(bounds_, *store_, kMaxMessageBytes, idle_) {
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(64 << 20);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    stub_ = v1::RunService::NewStub(server_->InProcessChannel({}));
  }
  ~RunServiceTest() override { server_->Shutdown(); }

  template <typename Request, typename Response>
  using Method = grpc::Status (v1::RunService::Stub::*)(grpc::ClientContext*, const Request&, Response*);

  template <typename Request, typename Response>
  grpc::Status Call(Method<Request, Response> method, const Request& request, Response* response) {
    grpc::ClientContext context;
    return (stub_.get()->*method)(&context, request, response);
  }

  template <typename Request, typename Response>
  Response Get(Method<Request, Response> method, const Request& request) {
    Response response;
    const grpc::Status status = Call(method, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  template <typename Request, typename Response>
  void ExpectError(Method<Request, Response> method, const Request& request, grpc::StatusCode code,
                   const std::string& message) {
    Response response;
    const grpc::Status status = Call(method, request, &response);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(message));
  }

  std::string StartRun() {
    return Get(&v1::RunService::Stub::StartRun, runs::StartRequest("key-00000001")).run();
  }

  // A run of its own at each call, a millisecond after the one before.
  std::string StartAnother(std::size_t label_bytes = 0) {
    store_.now_ms += 1;
    v1::StartRunRequest request = runs::StartRequest("key-of-run-" + std::to_string(++started_));
    for (int label = 0; label_bytes > 0 && label < 8; ++label) {
      (*request.mutable_description()->mutable_labels())[std::to_string(label)].assign(label_bytes, 'x');
    }
    return Get(&v1::RunService::Stub::StartRun, request).run();
  }

  v1::ReportStepsRequest StepsRequest(const std::string& run, std::uint64_t first, std::uint64_t last) {
    v1::ReportStepsRequest request;
    request.set_run(run);
    *request.mutable_steps() = wire::ToStepBlock(runs::Steps(first, last));
    return request;
  }

  runs::TestRunStore store_;
  IdleWatch idle_{std::chrono::minutes(10)};
  const std::shared_ptr<limits::MemoryBudget> memory_ = limits::MemoryBudget::Undivided(kMemory);
  CallBounds bounds_{memory_};
  RunService service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::RunService::Stub> stub_;
  int started_ = 0;
};

using Stub = v1::RunService::Stub;

TEST_F(RunServiceTest, ARunIsReportedAndReadBack) {
  const std::string run = StartRun();
  EXPECT_EQ(Get(&Stub::ReportSteps, StepsRequest(run, 0, 2499)).last_step(), 2499u);
  v1::ReportEvaluationRequest evaluation;
  evaluation.set_run(run);
  evaluation.mutable_evaluation()->set_split("val");
  evaluation.mutable_evaluation()->set_mae(0.5);
  Get(&Stub::ReportEvaluation, evaluation);
  v1::ReportSamplesRequest samples;
  samples.set_run(run);
  samples.add_samples()->set_device_memory_bytes(77);
  Get(&Stub::ReportSamples, samples);
  v1::ReportEventsRequest events;
  events.set_run(run);
  events.add_events()->set_name("gc");
  Get(&Stub::ReportEvents, events);
  v1::FinishRunRequest finish;
  finish.set_run(run);
  finish.set_state(v1::RUN_STATE_DONE);
  Get(&Stub::FinishRun, finish);

  v1::GetRunRequest get;
  get.set_run(run);
  EXPECT_EQ(Get(&Stub::GetRun, get).run().state(), v1::RUN_STATE_DONE);
  EXPECT_EQ(Get(&Stub::GetRun, get).run().steps(), 2500u);
  v1::SummarizeRunRequest summarize;
  summarize.set_run(run);
  EXPECT_EQ(Get(&Stub::SummarizeRun, summarize).whole().steps(), 2500u);
  EXPECT_EQ(Get(&Stub::SummarizeRun, summarize).peak_device_bytes(), 77u);
  v1::ListEvaluationsRequest evaluations;
  evaluations.set_run(run);
  EXPECT_EQ(Get(&Stub::ListEvaluations, evaluations).evaluations(0).mae(), 0.5);
  v1::CompareRunsRequest compare;
  compare.set_by("policy");
  EXPECT_THAT(Get(&Stub::CompareRuns, compare).excluded(), SizeIs(1));
}

TEST_F(RunServiceTest, StepsAreStreamedInBlocks) {
  const std::string run = StartRun();
  Get(&Stub::ReportSteps, StepsRequest(run, 0, 2499));
  v1::ListStepsRequest request;
  request.set_run(run);
  grpc::ClientContext context;
  const auto reader = stub_->ListSteps(&context, request);
  std::vector<int> rows;
  for (v1::ListStepsResponse block; reader->Read(&block);) rows.push_back(block.steps().step_size());
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_THAT(rows, ElementsAre(2000, 500));
}

TEST_F(RunServiceTest, AStreamThatIsCancelledEnds) {
  const std::string run = StartRun();
  for (std::uint64_t block = 0; block < 20; ++block) {
    Get(&Stub::ReportSteps, StepsRequest(run, block * 10'000, block * 10'000 + 9'999));
  }
  v1::ListStepsRequest request;
  request.set_run(run);
  grpc::ClientContext context;
  const auto reader = stub_->ListSteps(&context, request);
  v1::ListStepsResponse block;
  EXPECT_TRUE(reader->Read(&block));
  context.TryCancel();
  while (reader->Read(&block)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(RunServiceTest, ListingsThatAreNotReadDoNotPileUp) {
  const std::string run = StartRun();
  for (std::uint64_t block = 0; block < 4; ++block) {
    Get(&Stub::ReportSteps, StepsRequest(run, block * 60'000, block * 60'000 + 59'999));
  }
  v1::ListStepsRequest request;
  request.set_run(run);
  std::deque<grpc::ClientContext> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::ListStepsResponse>>> listings;
  v1::ListStepsResponse block;
  const auto open = [&] {
    listings.push_back(stub_->ListSteps(&contexts.emplace_back(), request));
    return listings.back()->Read(&block);
  };
  ASSERT_TRUE(testing::Eventually([&] { return !open(); }));
  EXPECT_EQ(listings.back()->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  v1::SummarizeRunRequest summarize;
  summarize.set_run(run);
  ExpectError(&Stub::SummarizeRun, summarize, grpc::StatusCode::RESOURCE_EXHAUSTED, "the server's limit");
  v1::CompareRunsRequest compare;
  compare.set_by("policy");
  ExpectError(&Stub::CompareRuns, compare, grpc::StatusCode::RESOURCE_EXHAUSTED, "the server's limit");
  for (grpc::ClientContext& context : contexts) context.TryCancel();
  listings.pop_back();
  for (const auto& listing : listings) {
    while (listing->Read(&block)) continue;
    EXPECT_EQ(listing->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
}

TEST_F(RunServiceTest, RunsAreListedByFilter) {
  const std::string run = StartRun();
  v1::ListRunsRequest request;
  request.set_where("model = schnet");
  EXPECT_EQ(Get(&Stub::ListRuns, request).runs(0).run(), run);
  request.set_where("model = painn");
  EXPECT_THAT(Get(&Stub::ListRuns, request).runs(), SizeIs(0));
  request.set_where("model =");
  ExpectError(&Stub::ListRuns, request, grpc::StatusCode::INVALID_ARGUMENT, "column 8");
}

TEST_F(RunServiceTest, PagesTogetherAreTheListWhateverStartsInBetween) {
  std::vector<std::string> names;
  for (int run = 0; run < 7; ++run) names.insert(names.begin(), StartAnother());
  v1::ListRunsRequest request;
  request.set_page_size(3);
  std::vector<std::string> listed;
  do {
    const v1::ListRunsResponse page = Get(&Stub::ListRuns, request);
    EXPECT_LE(page.runs_size(), 3);
    for (const std::string& name : NamesOf(page)) listed.push_back(name);
    request.set_page_token(page.next_page_token());
    StartAnother();
  } while (!request.page_token().empty());
  EXPECT_EQ(listed, names);
}

TEST_F(RunServiceTest, PagesOfRunsThatStartedAtOneMomentLoseNone) {
  std::set<std::string> names;
  for (int run = 0; run < 20; ++run) {
    names.insert(StartAnother());
    store_.now_ms -= 1;
  }
  v1::ListRunsRequest request;
  request.set_page_size(1);
  std::multiset<std::string> listed;
  do {
    const v1::ListRunsResponse page = Get(&Stub::ListRuns, request);
    for (const std::string& name : NamesOf(page)) listed.insert(name);
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(listed, std::multiset<std::string>(names.begin(), names.end()));
}

TEST_F(RunServiceTest, APageHoldsWhatMatchesAndEndsWithTheLastOne) {
  const std::string first = StartAnother();
  StartAnother();
  const std::string third = StartAnother();
  v1::ListRunsRequest request;
  request.set_where("run = '" + first + "' or run = '" + third + "'");
  request.set_page_size(2);
  const v1::ListRunsResponse page = Get(&Stub::ListRuns, request);
  EXPECT_THAT(NamesOf(page), ElementsAre(third, first));
  EXPECT_EQ(page.next_page_token(), "");
}

TEST_F(RunServiceTest, RunsWithManyLabelsComeInAnswersThatEveryClientTakes) {
  constexpr int kRuns = 600;
  for (int run = 0; run < kRuns; ++run) StartAnother(1000);
  v1::ListRunsRequest request;
  int listed = 0;
  do {
    const v1::ListRunsResponse page = Get(&Stub::ListRuns, request);
    EXPECT_LT(page.ByteSizeLong(), 4u << 20);
    listed += page.runs_size();
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(listed, kRuns);
}

TEST_F(RunServiceTest, ABadPageTokenIsAnInvalidArgument) {
  StartAnother();
  StartAnother();
  v1::ListRunsRequest request;
  request.set_page_size(1);
  const std::string token = Get(&Stub::ListRuns, request).next_page_token();
  request.set_page_token(token + "x");
  ExpectError(&Stub::ListRuns, request, grpc::StatusCode::INVALID_ARGUMENT, "page_token");
  request.set_page_token(token);
  request.set_where("model = schnet");
  ExpectError(&Stub::ListRuns, request, grpc::StatusCode::INVALID_ARGUMENT, "page_token");
  request.set_where("");
  for (const char* key : {"nothing", "1e5 run", "99999999999999999999 run"}) {
    request.set_page_token(limits::PageToken("", key));
    ExpectError(&Stub::ListRuns, request, grpc::StatusCode::INVALID_ARGUMENT, "page_token");
  }
}

TEST_F(RunServiceTest, BadCallsHaveTheirCodes) {
  const std::string run = StartRun();
  ExpectError(&Stub::StartRun, v1::StartRunRequest(), grpc::StatusCode::INVALID_ARGUMENT, "idempotency_key");
  ExpectError(&Stub::ReportSteps, StepsRequest("nobody", 0, 1), grpc::StatusCode::NOT_FOUND, "no run nobody");
  v1::ReportStepsRequest unequal = StepsRequest(run, 0, 1);
  unequal.mutable_steps()->add_flags(0);
  ExpectError(&Stub::ReportSteps, unequal, grpc::StatusCode::INVALID_ARGUMENT, "");
  v1::ReportStepsRequest falling = StepsRequest(run, 0, 1);
  falling.mutable_steps()->set_step(1, 0);
  ExpectError(&Stub::ReportSteps, falling, grpc::StatusCode::INVALID_ARGUMENT, "");
  v1::ReportStepsRequest outside = StepsRequest(run, 0, 1);
  outside.set_rank(1);
  ExpectError(&Stub::ReportSteps, outside, grpc::StatusCode::INVALID_ARGUMENT, "rank 1");
  v1::FinishRunRequest finish;
  finish.set_run(run);
  ExpectError(&Stub::FinishRun, finish, grpc::StatusCode::INVALID_ARGUMENT, "RUN_STATE_DONE");
  finish.set_state(v1::RUN_STATE_DONE);
  Get(&Stub::FinishRun, finish);
  ExpectError(&Stub::ReportSteps, StepsRequest(run, 0, 1), grpc::StatusCode::FAILED_PRECONDITION, "finished");
  ExpectError(&Stub::CompareRuns, v1::CompareRunsRequest(), grpc::StatusCode::INVALID_ARGUMENT,
              "say by which setting to compare");
  v1::SummarizeRunRequest summarize;
  summarize.set_run("nobody");
  ExpectError(&Stub::SummarizeRun, summarize, grpc::StatusCode::NOT_FOUND, "no run nobody");
  v1::GetRunRequest get;
  get.set_run("nobody");
  ExpectError(&Stub::GetRun, get, grpc::StatusCode::NOT_FOUND, "no run nobody");
  v1::ListEvaluationsRequest evaluations;
  evaluations.set_run("nobody");
  ExpectError(&Stub::ListEvaluations, evaluations, grpc::StatusCode::NOT_FOUND, "no run nobody");
}

// Numbers that take a byte each in the packed form, and eight or more when they are decoded.
v1::ReportStepsRequest ZerosIn(std::string run, int rows) {
  v1::ReportStepsRequest request;
  request.set_run(std::move(run));
  request.mutable_steps()->mutable_forward_ns()->Resize(rows, 0);
  return request;
}

TEST_F(RunServiceTest, MoreRowsThanMayBeAreRefusedBeforeTheyAreDecoded) {
  for (const int rows : {65'537, 10'000'000, 60'000'000}) {
    v1::ReportStepsResponse response;
    const grpc::Status status = Call(&v1::RunService::Stub::ReportSteps, ZerosIn("none", rows), &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr("at most")) << rows;
    EXPECT_LE(memory_->peak_bytes(), std::uint64_t{17} << 20);
  }
  EXPECT_EQ(memory_->used_bytes(), 0);
}

TEST_F(RunServiceTest, AReportWaitsForMemoryAndIsThenTaken) {
  auto held = memory_->TryReserve(limits::MemoryPart::kReports, kMemory);
  v1::ReportStepsResponse response;
  grpc::Status status;
  std::thread call([&] { status = Call(&v1::RunService::Stub::ReportSteps, ZerosIn("none", 100), &response); });
  while (memory_->waiting() == 0) std::this_thread::yield();
  held.reset();
  call.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  EXPECT_THAT(status.error_message(), HasSubstr("column step has 0")) << "it was read";
}

}  // namespace
}  // namespace packtrain::serving
