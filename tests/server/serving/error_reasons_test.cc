// What a program can act on in the errors of real calls.
#include <gmock/gmock.h>
#include <grpcpp/client_context.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "packtrain/v1/dataset.grpc.pb.h"
#include "packtrain/v1/run.grpc.pb.h"
#include "proto/base/error_details.h"
#include "proto/base/status_convert.h"
#include "tests/server/serving/serving_client.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"

namespace packtrain::testing {
namespace {

constexpr std::uint32_t kStreams = 8;

using Metadata = std::map<std::string, std::string>;

google::rpc::ErrorInfo InfoOf(const absl::Status& status) {
  google::rpc::ErrorInfo info;
  if (const auto payload = status.GetPayload(base::kErrorInfoUrl)) info.ParseFromString(std::string(*payload));
  return info;
}

// Empty where no field is to blame.
std::string FieldOf(const absl::Status& status) {
  google::rpc::BadRequest request;
  if (const auto payload = status.GetPayload(base::kBadRequestUrl))
    request.ParseFromString(std::string(*payload));
  return request.field_violations_size() == 1 ? request.field_violations(0).field() : "";
}

class ErrorReasonsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    node::ServerOptions options;
    options.max_batch_bytes = 4 << 10;
    options.max_streams = kStreams;
    auto server = TestServer::Start(options);
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    client_ = std::make_unique<ServingClient>(server_->NewChannel());
    datasets_ = v1::DatasetService::NewStub(server_->NewChannel());
    runs_ = v1::RunService::NewStub(server_->NewChannel());
    const auto stored = client_->Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(500)));
    ASSERT_THAT(stored, IsOk());
    reference_ = *stored;
  }

  static v1::StreamBatchesRequest StreamOf(const std::string& dataset, std::uint32_t graphs = 10) {
    v1::StreamBatchesRequest request;
    request.set_dataset(dataset);
    request.mutable_spec()->set_policy(v1::POLICY_STATIC);
    request.mutable_spec()->set_graphs(graphs);
    request.set_epochs(1);
    return request;
  }

  template <typename Stub, typename Request, typename Response>
  static absl::Status Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                           Stub& stub, const Request& request) {
    grpc::ClientContext context;
    Response response;
    return base::FromGrpcStatus((stub.*method)(&context, request, &response));
  }

  absl::Status Derive(const std::string& dataset, const std::string& name) {
    v1::DeriveDatasetRequest request;
    request.set_dataset(dataset);
    request.set_name(name);
    request.set_edges("radius:3");
    return Call(&v1::DatasetService::Stub::DeriveDataset, *datasets_, request);
  }

  absl::Status Delete(const std::string& dataset) {
    v1::DeleteDatasetRequest request;
    request.set_dataset(dataset);
    return Call(&v1::DatasetService::Stub::DeleteDataset, *datasets_, request);
  }

  absl::Status Export(const std::string& dataset) {
    v1::ExportDatasetRequest request;
    request.set_dataset(dataset);
    grpc::ClientContext context;
    const auto reader = datasets_->ExportDataset(&context, request);
    v1::ExportDatasetResponse message;
    while (reader->Read(&message)) continue;
    return base::FromGrpcStatus(reader->Finish());
  }

  absl::Status GetRun(const std::string& run) {
    v1::GetRunRequest request;
    request.set_run(run);
    return Call(&v1::RunService::Stub::GetRun, *runs_, request);
  }

  absl::Status Plan(const std::string& dataset) {
    v1::GetPlanRequest request;
    request.set_dataset(dataset);
    *request.mutable_spec() = StreamOf(dataset).spec();
    return client_->GetPlan(request).status();
  }

  absl::Status Seal(const std::string& import, const std::string& name) {
    v1::SealDatasetRequest request;
    request.set_import_id(import);
    request.set_name(name);
    return client_->Seal(request).status();
  }

  std::unique_ptr<TestServer> server_;
  std::unique_ptr<ServingClient> client_;
  std::unique_ptr<v1::DatasetService::Stub> datasets_;
  std::unique_ptr<v1::RunService::Stub> runs_;
  std::string reference_;  // NAME@VERSION
};

TEST_F(ErrorReasonsTest, EachMistakeHasItsReasonAndFacts) {
  v1::StreamBatchesRequest split = StreamOf("molecules"), fingerprint = StreamOf("molecules");
  split.mutable_spec()->set_split("none");
  fingerprint.set_expected_fingerprint("other");
  const Metadata none = {{"dataset", "none"}}, version = {{"dataset", "molecules"}, {"version", "0"}};
  struct Mistake {
    const char* what;
    absl::Status status;
    std::string reason;
    Metadata metadata;  // at least
  };
  for (const Mistake& mistake : std::vector<Mistake>{
           {"stream", client_->Stream(StreamOf("none")).status, "DATASET_NOT_FOUND", none},
           {"stream of a version", client_->Stream(StreamOf("molecules@0")).status, "DATASET_NOT_FOUND",
            version},
           {"plan", Plan("none"), "DATASET_NOT_FOUND", none},
           {"get", client_->Get("none").status(), "DATASET_NOT_FOUND", none},
           {"get of a version", client_->Get("molecules@0").status(), "DATASET_NOT_FOUND", version},
           {"derive", Derive("none", "other"), "DATASET_NOT_FOUND", none},
           {"delete", Delete("none"), "DATASET_NOT_FOUND", none},
           {"export", Export("none"), "DATASET_NOT_FOUND", none},
           {"run", GetRun("none"), "RUN_NOT_FOUND", {{"run", "none"}}},
           {"seal", Seal("none", "name"), "IMPORT_NOT_FOUND", {{"import_id", "none"}}},
           {"split",
            client_->Stream(split).status,
            "SPLIT_NOT_FOUND",
            {{"dataset", reference_}, {"split", "none"}}},
           {"fingerprint",
            client_->Stream(fingerprint).status,
            "FINGERPRINT_MISMATCH",
            {{"expected", "other"}}},
           {"batch",
            client_->Stream(StreamOf("molecules", 500)).status,
            "BATCH_TOO_LARGE",
            {{"limit", "4096"}, {"flag", "--max-batch-bytes"}}}}) {
    const google::rpc::ErrorInfo info = InfoOf(mistake.status);
    EXPECT_EQ(info.reason(), mistake.reason) << mistake.what << ": " << mistake.status;
    EXPECT_EQ(info.domain(), "packtrain") << mistake.what;
    for (const auto& [key, value] : mistake.metadata) {
      EXPECT_EQ(info.metadata().contains(key) ? info.metadata().at(key) : "", value) << mistake.what;
    }
  }
}

TEST_F(ErrorReasonsTest, TheFieldToBlameIsNamed) {
  v1::StreamBatchesRequest message = StreamOf("molecules");
  message.set_max_message_bytes(1);
  v1::ListDatasetsRequest list;
  list.set_page_token("of another list");
  struct Mistake {
    absl::Status status;
    std::string field;
  };
  for (const Mistake& mistake : std::vector<Mistake>{{client_->Stream(StreamOf("")).status, "dataset"},
                                                     {client_->Stream(StreamOf("molecules", 0)).status, "spec"},
                                                     {client_->Stream(message).status, "max_message_bytes"},
                                                     {client_->List(list).status(), "page_token"},
                                                     {Derive("molecules", "not a name"), "name"}}) {
    EXPECT_EQ(FieldOf(mistake.status), mistake.field) << mistake.status;
    EXPECT_EQ(InfoOf(mistake.status).reason(), "INVALID_ARGUMENT") << mistake.field;
  }
}

TEST_F(ErrorReasonsTest, ALimitOfStreamsNamesItsFlag) {
  v1::StreamBatchesRequest endless = StreamOf("molecules");
  endless.set_epochs(0);
  std::vector<std::unique_ptr<OpenStream>> open;
  for (std::uint32_t stream = 0; stream < kStreams; ++stream) {
    open.push_back(std::make_unique<OpenStream>(NarrowChannel(server_->address()), endless));
    ASSERT_TRUE(open.back()->Read());
  }
  const google::rpc::ErrorInfo info = InfoOf(client_->Stream(StreamOf("molecules")).status);
  EXPECT_EQ(info.reason(), "STREAM_LIMIT");
  EXPECT_EQ(info.metadata().at("limit"), std::to_string(kStreams));
  EXPECT_EQ(info.metadata().at("flag"), "--max-streams");
}

TEST_F(ErrorReasonsTest, ALimitOfImportsIsTold) {
  absl::Status status;
  for (int import = 0; import < 100 && status.ok(); ++import) {
    status = client_->Import(MoleculeSchema(), BlockOf(ManyMolecules(1))).status();
  }
  const google::rpc::ErrorInfo info = InfoOf(status);
  EXPECT_EQ(info.reason(), "IMPORT_LIMIT") << status;
  EXPECT_EQ(info.metadata().at("limit"), "32");
}

}  // namespace
}  // namespace packtrain::testing
