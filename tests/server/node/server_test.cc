#include "server/node/server.h"

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/impl/codegen/rpc_method.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/sync_stream.h>

#include <latch>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proto/base/status_convert.h"
#include "server/runs/rocks_run_store.h"
#include "tests/server/serving/serving_client.h"
#include "tests/testing/eventually.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_server.h"

namespace packtrain::testing {
namespace {

using std::chrono::seconds;
using ::testing::AnyOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

// grpc.health.v1, by its bytes: the request's field 1 is the service, the response's field 1 the status.
constexpr char kServing[] = "\x08\x01";
constexpr char kNotServing[] = "\x08\x02";

grpc::ByteBuffer HealthRequest(const std::string& service) {
  std::string bytes;
  if (!service.empty()) bytes = std::string{'\x0a', static_cast<char>(service.size())} + service;
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  EXPECT_TRUE(buffer.DumpToSingleSlice(&slice).ok());
  return std::string(reinterpret_cast<const char*>(slice.begin()), slice.size());
}

absl::StatusOr<std::string> CheckHealth(const TestServer& server, const std::string& service) {
  const std::shared_ptr<grpc::Channel> channel = server.NewChannel();
  grpc::ClientContext context;
  grpc::ByteBuffer response;
  const grpc::Status status = grpc::internal::BlockingUnaryCall(
      channel.get(),
      grpc::internal::RpcMethod("/grpc.health.v1.Health/Check", grpc::internal::RpcMethod::NORMAL_RPC),
      &context, HealthRequest(service), &response);
  if (!status.ok()) return base::FromGrpcStatus(status);
  return BytesOf(response);
}

v1::StreamBatchesRequest EndlessRequest() {
  v1::StreamBatchesRequest request;
  request.set_dataset("molecules");
  request.mutable_spec()->set_policy(v1::POLICY_STATIC);
  request.mutable_spec()->set_graphs(500);
  request.set_max_message_bytes(4096);
  return request;
}

void StoreMolecules(const TestServer& server, std::uint32_t count) {
  ASSERT_THAT(
      ServingClient(server.NewChannel()).Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(count))),
      IsOk());
}

std::unique_ptr<TestServer> StartOrFail(node::ServerOptions options = {}) {
  auto server = TestServer::Start(std::move(options));
  EXPECT_THAT(server, IsOk());
  return *std::move(server);
}

// Where the seals of a store stop until they are let go.
struct SealGate {
  std::latch reached{1};
  std::latch open{1};
};

class HeldWriter final : public storage::DatasetWriter {
 public:
  HeldWriter(std::unique_ptr<storage::DatasetWriter> writer, SealGate& gate)
      : writer_(std::move(writer)), gate_(gate) {}

  absl::Status Append(std::span<const std::byte> record) override { return writer_->Append(record); }
  std::uint64_t graphs() const override { return writer_->graphs(); }
  bool HasId(std::string_view id) const override { return writer_->HasId(id); }
  std::uint64_t memory_bytes() const override { return writer_->memory_bytes(); }
  std::uint64_t seal_bytes(const v1::SealDatasetRequest& request) const override {
    return writer_->seal_bytes(request);
  }
  absl::StatusOr<SealResult> Seal(const v1::SealDatasetRequest& request) override {
    gate_.reached.count_down();
    gate_.open.wait();
    return writer_->Seal(request);
  }

 private:
  const std::unique_ptr<storage::DatasetWriter> writer_;
  SealGate& gate_;
};

class HeldStore final : public storage::GraphStore {
 public:
  explicit HeldStore(SealGate& gate) : gate_(gate) {}

  absl::StatusOr<std::unique_ptr<storage::DatasetWriter>> NewDataset(const v1::Schema& schema) override {
    auto writer = store_.NewDataset(schema);
    if (!writer.ok()) return writer.status();
    return std::make_unique<HeldWriter>(*std::move(writer), gate_);
  }
  absl::StatusOr<std::shared_ptr<const storage::Dataset>> Open(std::string_view reference) override {
    return store_.Open(reference);
  }
  absl::Status ListAfter(std::string_view after, DatasetSink sink) const override {
    return store_.ListAfter(after, sink);
  }
  absl::Status ListVersionsAfter(std::string_view after, DatasetSink sink) const override {
    return store_.ListVersionsAfter(after, sink);
  }
  absl::StatusOr<std::vector<v1::Dataset>> Versions(std::string_view reference) const override {
    return store_.Versions(reference);
  }
  absl::Status MakeCurrent(std::string_view reference) override { return store_.MakeCurrent(reference); }
  absl::StatusOr<std::vector<v1::Dataset>> Delete(std::string_view reference) override {
    return store_.Delete(reference);
  }
  absl::StatusOr<std::vector<std::string>> Deleted() const override { return store_.Deleted(); }
  absl::Status Reclaim(std::string_view reference) override { return store_.Reclaim(reference); }
  std::uint64_t memory_bytes() const override { return store_.memory_bytes(); }

 private:
  FakeGraphStore store_;
  SealGate& gate_;
};

// A server with one SealDataset call, which the store holds.
class ServerThatSealsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    node::Stores stores{std::make_unique<HeldStore>(gate_),
                        *runs::RocksRunStore::Open(folder_.PathOf("runs"), {})};
    node::ServerOptions options;
    options.listen = "127.0.0.1:0";
    server_ = *node::Server::Start(options, std::move(stores));
    const auto imported = NewClient().Import(MoleculeSchema(), BlockOf(ManyMolecules(5)));
    ASSERT_THAT(imported, IsOk());
    sealing_ = std::thread([this, id = imported->import_id()] { sealed_ = Seal(id); });
    gate_.reached.wait();
  }

  ServingClient NewClient() {
    return ServingClient(grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  }
  absl::Status Seal(const std::string& id) {
    v1::SealDatasetRequest request;
    request.set_import_id(id);
    request.set_name("molecules");
    return NewClient().Seal(request).status();
  }

  const TempFolder folder_;
  SealGate gate_;
  std::unique_ptr<node::Server> server_;
  absl::Status sealed_;
  std::thread sealing_;
};

TEST_F(ServerThatSealsTest, DrainingWaitsForTheSealAndBeginsNoOther) {
  std::thread drain([this] { EXPECT_TRUE(server_->Drain(seconds(60))); });
  absl::Status another;
  ASSERT_TRUE(Eventually([&] {
    another = Seal("unknown");
    return !absl::IsNotFound(another);
  }));
  EXPECT_THAT(another, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("shutting down")));
  EXPECT_THAT(NewClient().Import(MoleculeSchema(), BlockOf(ManyMolecules(5))),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("shutting down")));
  gate_.open.count_down();
  sealing_.join();
  drain.join();
  EXPECT_THAT(sealed_, IsOk());
}

TEST_F(ServerThatSealsTest, DrainingCutsOffASealThatTakesTooLong) {
  std::thread drain([this] { EXPECT_FALSE(server_->Drain(std::chrono::milliseconds(0))); });
  sealing_.join();
  EXPECT_FALSE(sealed_.ok());
  gate_.open.count_down();
  drain.join();
}

TEST(ServerTest, APortThatIsTakenIsAnError) {
  const auto first = StartOrFail();
  node::ServerOptions options;
  options.listen = first->address();
  EXPECT_THAT(
      TestServer::Start(options).status(),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               ::testing::AllOf(HasSubstr(first->address()), HasSubstr("in use"), HasSubstr("--listen"))));
}

TEST(ServerTest, ASecondServerOnOneStoreIsRefused) {
  const auto first = StartOrFail();
  node::ServerOptions options;
  options.data = first->data();
  options.listen = "127.0.0.1:0";
  EXPECT_THAT(node::Server::Start(options).status(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ServerTest, OtherMachinesAreServedOnlyWhenAsked) {
  node::ServerOptions options;
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:7077", "example.org:7077"}) {
    options.listen = address;
    EXPECT_THAT(TestServer::Start(options).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--insecure")));
  }
  options.listen = "0.0.0.0:0";
  options.insecure = true;
  EXPECT_THAT(TestServer::Start(options), IsOk());
}

TEST(ServerTest, AddressesThatAreNoneAreRefused) {
  node::ServerOptions options;
  for (const char* address :
       {"", "7077", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", ":7077", "::1:7077", "unix:"}) {
    options.listen = address;
    EXPECT_THAT(TestServer::Start(options).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("HOST:PORT")))
        << address;
  }
}

TEST(ServerTest, OptionsOutOfRangeAreRefused) {
  node::ServerOptions options;
  options.max_message_bytes = 1;
  EXPECT_THAT(TestServer::Start(options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--max-message-bytes")));
  options = {};
  options.max_batch_bytes = 0;
  EXPECT_THAT(TestServer::Start(options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--max-batch-bytes")));
  options = {};
  options.max_streams = 0;
  EXPECT_THAT(TestServer::Start(options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--max-streams")));
  options = {};
  options.builders = -1;
  EXPECT_THAT(TestServer::Start(options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--builders")));
}

TEST(ServerTest, ListensOnAUnixSocket) {
  const auto other = StartOrFail();
  node::ServerOptions options;
  options.listen = "unix:" + (other->data() / "socket").string();
  const auto server = StartOrFail(options);
  EXPECT_EQ(server->address(), options.listen);
  EXPECT_THAT(ServingClient(server->NewChannel()).GetServerInfo(), IsOk());
  EXPECT_THAT(TestServer::Start(options).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("in use")));
  options.listen = "unix:/tmp/" + std::string(200, 'x');
  EXPECT_THAT(TestServer::Start(options).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("longer")));
}

TEST(ServerTest, SaysWhatItIsAndAllows) {
  node::ServerOptions options;
  options.max_streams = 5;
  const auto server = StartOrFail(options);
  const auto info = ServingClient(server->NewChannel()).GetServerInfo();
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->api(), "v1");
  EXPECT_EQ(info->limits().max_streams(), 5);
  EXPECT_EQ(info->limits().max_batch_bytes(), options.max_batch_bytes);
  EXPECT_THAT(info->features(), IsSupersetOf({"policy.static", "policy.dynamic", "policy.packed",
                                              "policy.tuple", "policy.supergraph", "edges.full"}));
  EXPECT_THAT(info->memory().cap_bytes(), Gt(5 * 2 * options.max_batch_bytes));
}

TEST(ServerTest, EachServiceIsHealthy) {
  const auto server = StartOrFail();
  for (const char* service :
       {"", "packtrain.v1.DatasetService", "packtrain.v1.PlanService", "packtrain.v1.BatchService",
        "packtrain.v1.RunService", "packtrain.v1.ServerInfoService", "packtrain.v1.AdminService"}) {
    const auto health = CheckHealth(*server, service);
    ASSERT_THAT(health, IsOk()) << service;
    EXPECT_EQ(*health, kServing) << service;
  }
  EXPECT_THAT(CheckHealth(*server, "packtrain.v1.Nothing"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(ServerTest, AWatcherSeesTheDrain) {
  const auto server = StartOrFail();
  const std::shared_ptr<grpc::Channel> channel = server->NewChannel();
  grpc::ClientContext context;
  const std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>> watch(
      grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(
          channel.get(),
          grpc::internal::RpcMethod("/grpc.health.v1.Health/Watch",
                                    grpc::internal::RpcMethod::SERVER_STREAMING),
          &context, HealthRequest("packtrain.v1.BatchService")));
  grpc::ByteBuffer update;
  ASSERT_TRUE(watch->Read(&update));
  EXPECT_EQ(BytesOf(update), kServing);
  std::thread drain([&server] { EXPECT_TRUE(server->server().Drain(seconds(60))); });
  ASSERT_TRUE(watch->Read(&update));
  EXPECT_EQ(BytesOf(update), kNotServing);
  while (watch->Read(&update)) continue;
  EXPECT_FALSE(watch->Finish().ok());
  drain.join();
}

TEST(ServerTest, DrainingEndsAStreamBehindAWholeBatch) {
  const auto server = StartOrFail();
  StoreMolecules(*server, 2000);
  OpenStream stream(server->NewChannel(), EndlessRequest());
  ASSERT_TRUE(stream.Read());
  std::thread drain([&server] { EXPECT_TRUE(server->server().Drain(seconds(60))); });
  bool whole = stream.message().last();
  EXPECT_TRUE(Eventually([&] {
    const bool read = stream.Read();
    if (read) whole = stream.message().last();
    return !read;
  }));
  EXPECT_TRUE(whole);
  EXPECT_THAT(stream.Finish(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("reconnect")));
  drain.join();
}

TEST(ServerTest, DrainingEndsAnImportUnderWay) {
  const auto server = StartOrFail();
  const auto stub = v1::DatasetService::NewStub(server->NewChannel());
  grpc::ClientContext context;
  v1::ImportGraphsResponse response;
  const auto writer = stub->ImportGraphs(&context, &response);
  v1::ImportGraphsRequest request;
  *request.mutable_header()->mutable_schema() = MoleculeSchema();
  request.mutable_header()->set_duplicate_ids(v1::DUPLICATE_POLICY_NUMBER);
  ASSERT_TRUE(writer->Write(request));
  std::thread drain([&server] { EXPECT_TRUE(server->server().Drain(seconds(60))); });
  *request.mutable_block() = BlockOf(ManyMolecules(5));
  EXPECT_TRUE(Eventually([&] { return !writer->Write(request); }));
  // Where the connection closes before the client has read the server's word, gRPC gives the code one of its
  // own; and CANCELLED where the drain was over before the server saw the call. With either, clients come
  // again.
  EXPECT_THAT(base::FromGrpcStatus(writer->Finish()),
              AnyOf(StatusIs(absl::StatusCode::kUnavailable), StatusIs(absl::StatusCode::kCancelled)));
  drain.join();
}

TEST(ServerTest, DrainingCutsOffAClientThatDoesNotRead) {
  const auto server = StartOrFail();
  StoreMolecules(*server, 20'000);
  v1::StreamBatchesRequest request = EndlessRequest();
  request.mutable_spec()->set_graphs(20'000);
  request.set_max_message_bytes(64 << 10);
  OpenStream stream(NarrowChannel(server->address()), request);
  ASSERT_TRUE(stream.Read());
  EXPECT_FALSE(server->server().Drain(std::chrono::milliseconds(0)));
  EXPECT_FALSE(stream.Finish().ok());
}

TEST(ServerTest, ServesAgainAfterADrain) {
  const auto server = StartOrFail();
  StoreMolecules(*server, 5);
  EXPECT_TRUE(server->server().Drain(seconds(60)));
  ASSERT_THAT(server->StartAgain(), IsOk());
  EXPECT_THAT(ServingClient(server->NewChannel()).Get("molecules"), IsOk());
}

}  // namespace
}  // namespace packtrain::testing
