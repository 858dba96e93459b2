// What a whole server shows to Prometheus after known traffic.
#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <string>

#include "packtrain/v1/run.grpc.pb.h"
#include "proto/wire/step_convert.h"
#include "server/node/server.h"
#include "tests/server/serving/serving_client.h"
#include "tests/testing/eventually.h"
#include "tests/testing/http.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"

namespace packtrain::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Not;

using Samples = std::map<std::string, double>;

v1::StreamBatchesRequest StaticRequest(const std::string& dataset, std::uint32_t graphs) {
  v1::StreamBatchesRequest request;
  request.set_dataset(dataset);
  request.mutable_spec()->set_policy(v1::POLICY_STATIC);
  request.mutable_spec()->set_graphs(graphs);
  request.set_epochs(1);
  return request;
}

std::string BatchesSent(const std::string& policy, const std::string& dataset) {
  return "packtrain_batches_sent_total{policy=\"" + policy + "\",dataset=\"" + dataset + "\"}";
}

class MetricsTest : public ::testing::Test {
 protected:
  MetricsTest() {
    node::ServerOptions options;
    options.metrics_port = "0";
    server_ = *TestServer::Start(options);
  }
  ServingClient Client() const { return ServingClient(server_->NewChannel()); }
  void StoreMolecules(const std::string& name, std::uint32_t count) const {
    ASSERT_THAT(Client().Store(name, MoleculeSchema(), BlockOf(ManyMolecules(count))), IsOk());
  }
  Samples Scraped() const { return Scrape(server_->server().metrics_address()); }
  // When every stream has come to its end, and been counted.
  Samples ScrapedAtTheEnd() {
    EXPECT_TRUE(server_->server().Drain(seconds(60)));
    return Scraped();
  }

  std::unique_ptr<TestServer> server_;
};

TEST_F(MetricsTest, CountsEachBatchOnceUnderItsPolicyAndDataSet) {
  StoreMolecules("one", 60);
  StoreMolecules("two", 30);
  double bytes = 0;
  for (const auto& request : {StaticRequest("one", 7), StaticRequest("one", 60), StaticRequest("two", 30)}) {
    const ReceivedStream stream = Client().Stream(request);
    ASSERT_THAT(stream.status, IsOk());
    for (const ReceivedBatch& batch : stream.batches) bytes += static_cast<double>(batch.body().size());
  }
  v1::StreamBatchesRequest dynamic = StaticRequest("two", 10);
  dynamic.mutable_spec()->set_policy(v1::POLICY_DYNAMIC);
  const double dynamic_batches = static_cast<double>(Client().Stream(dynamic).batches.size());
  for (const Samples& samples : {Scraped(), ScrapedAtTheEnd()}) {
    EXPECT_EQ(samples.at(BatchesSent("static", "one")), 9 + 1);
    EXPECT_EQ(samples.at(BatchesSent("static", "two")), 1);
    EXPECT_EQ(samples.at(BatchesSent("dynamic", "two")), dynamic_batches);
    EXPECT_EQ(samples.at("packtrain_graphs_sent_total"), 60 + 60 + 30 + 30);
    EXPECT_GT(samples.at("packtrain_sent_bytes_total"), bytes);
    EXPECT_EQ(samples.at("packtrain_batch_build_duration_seconds_count"), 11 + dynamic_batches);
    EXPECT_EQ(samples.at("packtrain_padding_ratio_count"), 11 + dynamic_batches);
    EXPECT_EQ(samples.at("packtrain_datasets"), 2);
    EXPECT_EQ(samples.at("packtrain_plans_made_total"), 4);
  }
}

TEST_F(MetricsTest, TheSeriesOfADataSetEndWhenItIsDeleted) {
  StoreMolecules("one", 60);
  StoreMolecules("two", 30);
  for (const char* name : {"one", "two"}) ASSERT_THAT(Client().Stream(StaticRequest(name, 10)).status, IsOk());
  const Samples before = Scraped();
  EXPECT_EQ(before.at(BatchesSent("static", "one")), 6);
  v1::DeleteDatasetRequest request;
  request.set_dataset("one");
  v1::DeleteDatasetResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(
      v1::DatasetService::NewStub(server_->NewChannel())->DeleteDataset(&context, request, &response).ok());
  const Samples after = Scraped();
  for (const auto& [name, value] : after) EXPECT_THAT(name, Not(HasSubstr("dataset=\"one\"")));
  EXPECT_EQ(after.at(BatchesSent("static", "two")), 3);
  EXPECT_EQ(after.at("packtrain_datasets"), 1);
  EXPECT_EQ(after.at("packtrain_graphs_sent_total"), 60 + 30);
}

TEST_F(MetricsTest, StreamsAreCountedWhileOpenAndByTheirEnd) {
  StoreMolecules("many", 100'000);
  v1::StreamBatchesRequest endless = StaticRequest("many", 100'000);
  endless.set_epochs(0);
  OpenStream unread(server_->NewChannel(), endless);
  ASSERT_TRUE(unread.Read());
  Samples samples;
  ASSERT_TRUE(Eventually([&] {  // the connection takes no more
    samples = Scraped();
    return samples.at("packtrain_stream_queue_bytes") >= 1 << 20;
  }));
  EXPECT_EQ(samples.at("packtrain_streams_open"), 1);
  EXPECT_EQ(samples.at("packtrain_streams_limit"), node::ServerOptions().max_streams);
  EXPECT_GT(samples.at("packtrain_memory_used_bytes"), 1 << 20);
  EXPECT_LE(samples.at("packtrain_memory_used_bytes"), samples.at("packtrain_memory_cap_bytes"));
  unread.Cancel();
  EXPECT_THAT(Client().Stream(StaticRequest("many", 50'000)).status, IsOk());
  EXPECT_THAT(Client().Stream(StaticRequest("none", 5)).status, StatusIs(absl::StatusCode::kNotFound));
  samples = ScrapedAtTheEnd();
  EXPECT_EQ(samples.at("packtrain_streams_open"), 0);
  EXPECT_EQ(samples.at("packtrain_stream_queue_bytes"), 0);
  EXPECT_EQ(samples.at("packtrain_streams_ended_total{code=\"OK\"}"), 1);
  EXPECT_EQ(samples.at("packtrain_streams_ended_total{code=\"CANCELLED\"}"), 1);
  EXPECT_EQ(samples.at("packtrain_streams_ended_total{code=\"NOT_FOUND\"}"), 1);
}

TEST_F(MetricsTest, GraphsAboveTheBudgetAreCountedByWhatBecameOfThem) {
  StoreMolecules("molecules", 50);  // ten of them of 5 nodes
  v1::StreamBatchesRequest request = StaticRequest("molecules", 5);
  request.mutable_spec()->set_policy(v1::POLICY_DYNAMIC);
  request.mutable_spec()->set_nodes(5);
  request.mutable_spec()->set_edges(64);
  request.mutable_spec()->set_oversize(v1::OVERSIZE_ALONE);
  EXPECT_THAT(Client().Stream(request).status, IsOk());
  request.mutable_spec()->set_oversize(v1::OVERSIZE_SKIP);
  EXPECT_THAT(Client().Stream(request).status, IsOk());
  EXPECT_THAT(Client().Stream(request).status, IsOk());  // of the same plan
  request.mutable_spec()->set_oversize(v1::OVERSIZE_ERROR);
  EXPECT_THAT(Client().Stream(request).status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Client().Stream(request).status, StatusIs(absl::StatusCode::kFailedPrecondition));
  const Samples samples = Scraped();
  EXPECT_EQ(samples.at("packtrain_oversize_graphs_total{action=\"alone\"}"), 10);
  EXPECT_EQ(samples.at("packtrain_oversize_graphs_total{action=\"skip\"}"), 10);
  EXPECT_EQ(samples.at("packtrain_oversize_graphs_total{action=\"error\"}"), 20);
}

TEST_F(MetricsTest, AReportedStepCountsOnceHoweverOftenItIsSent) {
  const auto stub = v1::RunService::NewStub(server_->NewChannel());
  v1::StartRunRequest start;
  start.set_idempotency_key("of one run");
  v1::RunDescription& description = *start.mutable_description();
  description.set_model("schnet");
  description.set_dataset("molecules@1");
  description.mutable_spec()->set_policy(v1::POLICY_STATIC);
  description.mutable_spec()->set_graphs(5);
  description.set_precision("f32");
  description.set_engine("eager");
  description.set_world_size(1);
  description.mutable_hardware()->set_device("cpu");
  v1::StartRunResponse started;
  grpc::ClientContext start_context;
  const grpc::Status begun = stub->StartRun(&start_context, start, &started);
  ASSERT_TRUE(begun.ok()) << begun.error_message();
  v1::ReportStepsRequest report;
  report.set_run(started.run());
  report.set_attempt(started.attempt());
  std::vector<wire::StepRecord> steps(3);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    steps[k].step = k;
    steps[k].real = {5, 10, 20};
    steps[k].padded = {8, 64, 64};
    steps[k].forward_ns = 2'000'000;
    steps[k].total_ns = 4'000'000;
  }
  *report.mutable_steps() = wire::ToStepBlock(steps);
  for (int time = 0; time < 2; ++time) {
    grpc::ClientContext context;
    v1::ReportStepsResponse response;
    const grpc::Status status = stub->ReportSteps(&context, report, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  const Samples samples = Scraped();
  EXPECT_EQ(samples.at("packtrain_step_duration_seconds_count{phase=\"total\"}"), 3);
  EXPECT_NEAR(samples.at("packtrain_step_duration_seconds_sum{phase=\"total\"}"), 0.012, 1e-9);
  EXPECT_NEAR(samples.at("packtrain_step_duration_seconds_sum{phase=\"forward\"}"), 0.006, 1e-9);
  EXPECT_EQ(samples.at("packtrain_step_duration_seconds_bucket{phase=\"forward\",le=\"0.001\"}"), 0);
  EXPECT_EQ(samples.at("packtrain_step_duration_seconds_bucket{phase=\"forward\",le=\"0.0025\"}"), 3);
}

TEST_F(MetricsTest, RocksDBCountsForBothStores) {
  StoreMolecules("molecules", 50);
  const Samples samples = Scraped();
  EXPECT_GT(samples.at("packtrain_rocksdb_sst_file_bytes{store=\"graphs\"}"), 0);
  EXPECT_GT(samples.at("packtrain_rocksdb_wal_syncs_total{store=\"graphs\"}"), 0);
  EXPECT_THAT(samples, IsSupersetOf({Key("packtrain_rocksdb_block_cache_hits_total{store=\"graphs\"}"),
                                     Key("packtrain_rocksdb_block_cache_misses_total{store=\"runs\"}"),
                                     Key("packtrain_rocksdb_write_duration_seconds_count{store=\"runs\"}"),
                                     Key("packtrain_rocksdb_running_compactions{store=\"runs\"}")}));
}

TEST(MetricsPortTest, IsChosenByTheFlagAndLoopbackUnlessToldOtherwise) {
  node::ServerOptions options;
  const auto without = TestServer::Start(options);
  ASSERT_THAT(without, IsOk());
  EXPECT_EQ((*without)->server().metrics_address(), "");
  for (const auto& [port, start] : std::map<std::string, std::string>{
           {"0", "127.0.0.1:"}, {"localhost:0", "localhost:"}, {"0.0.0.0:0", "0.0.0.0:"}}) {
    options.metrics_port = port;
    const auto server = TestServer::Start(options);
    ASSERT_THAT(server, IsOk());
    EXPECT_THAT((*server)->server().metrics_address(), ::testing::StartsWith(start));
    EXPECT_THAT((*server)->server().metrics_address(), Not(::testing::EndsWith(":0")));
  }
  for (const char* port :
       {"metrics", "65536", "-1", ":9464", "host:", "::1:9464", "[::1]:9464", "unix:/tmp/socket"}) {
    options.metrics_port = port;
    EXPECT_THAT(TestServer::Start(options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--metrics-port")))
        << port;
  }
}

}  // namespace
}  // namespace packtrain::testing
