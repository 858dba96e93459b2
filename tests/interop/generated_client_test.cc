// What generated C++ makes of a stream is what the hand-written reader makes of it.
#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/batch_reader.h"
#include "client/connection.h"
#include "packtrain/v1/batch.grpc.pb.h"
#include "packtrain/v1/dataset.grpc.pb.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"

namespace packtrain::testing {
namespace {

constexpr std::uint32_t kMolecules = 60;
constexpr std::uint32_t kSmallMessageBytes = 4 << 10;

// A batch as generated code leaves it: the first part's header, and all bodies.
struct GeneratedBatch {
  v1::BatchHeader header;
  std::string body;
};

class GeneratedClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = TestServer::Start();
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    Store();
  }

  void Store() {
    const auto stub = v1::DatasetService::NewStub(server_->NewChannel());
    grpc::ClientContext import_context;
    v1::ImportGraphsResponse staged;
    const auto writer = stub->ImportGraphs(&import_context, &staged);
    v1::ImportGraphsRequest message;
    *message.mutable_header()->mutable_schema() = MoleculeSchema();
    writer->Write(message);
    *message.mutable_block() = BlockOf(ManyMolecules(kMolecules));
    writer->Write(message);
    message.mutable_end()->set_graphs(kMolecules);
    writer->Write(message);
    writer->WritesDone();
    ASSERT_TRUE(writer->Finish().ok());
    grpc::ClientContext seal_context;
    v1::SealDatasetRequest seal;
    seal.set_import_id(staged.import_id());
    seal.set_name("molecules");
    v1::SealDatasetResponse sealed;
    ASSERT_TRUE(stub->SealDataset(&seal_context, seal, &sealed).ok());
  }

  std::vector<GeneratedBatch> ReadGenerated() {
    v1::StreamBatchesRequest request;
    request.set_dataset("molecules");
    request.mutable_spec()->set_policy(v1::POLICY_DYNAMIC);
    request.mutable_spec()->set_graphs(31);
    request.set_epochs(2);
    request.set_max_message_bytes(kSmallMessageBytes);
    const auto stub = v1::BatchService::NewStub(server_->NewChannel());
    grpc::ClientContext context;
    const auto reader = stub->StreamBatches(&context, request);
    std::vector<GeneratedBatch> batches;
    v1::StreamBatchesResponse part;
    while (reader->Read(&part)) {
      if (part.has_header()) batches.push_back({part.header(), ""});
      batches.back().body += part.body();
    }
    EXPECT_TRUE(reader->Finish().ok());
    return batches;
  }

  std::unique_ptr<client::BatchReader> OpenReader() {
    auto connection = client::Connection::Open({.server = server_->address()});
    EXPECT_THAT(connection, IsOk());
    client::StreamRequest request;
    request.dataset = "molecules";
    request.spec.policy = wire::Policy::kDynamic;
    request.spec.graphs = 31;
    request.epochs = 2;
    auto reader = client::BatchReader::Open(*std::move(connection), request);
    EXPECT_THAT(reader, IsOk());
    return *std::move(reader);
  }

  std::unique_ptr<TestServer> server_;
};

void ExpectSame(const GeneratedBatch& generated, const wire::Batch& batch) {
  const v1::BatchHeader& header = generated.header;
  EXPECT_EQ(header.index(), batch.header().index);
  EXPECT_EQ(header.epoch(), batch.header().epoch);
  EXPECT_EQ(header.padded().edges(), batch.header().padded.edges);
  EXPECT_EQ(header.body_crc32c(), batch.header().body_crc32c);
  EXPECT_EQ(generated.body,
            std::string(reinterpret_cast<const char*>(batch.body().data()), batch.body().size()));
  ASSERT_EQ(static_cast<std::size_t>(header.sections_size()), batch.header().sections.size());
  for (int k = 0; k < header.sections_size(); ++k) {
    const wire::Section& section = batch.header().sections[static_cast<std::size_t>(k)];
    EXPECT_EQ(header.sections(k).field(), section.field);
    EXPECT_EQ(header.sections(k).offset_bytes(), section.offset_bytes);
    EXPECT_EQ(header.sections(k).size_bytes(), section.size_bytes);
    EXPECT_EQ(header.sections(k).data_type(), static_cast<int>(section.dtype));
    EXPECT_THAT(section.dims, ::testing::ElementsAreArray(header.sections(k).dims()));
  }
}

TEST_F(GeneratedClientTest, ReadsTheBatchesThatTheHandWrittenReaderReads) {
  const std::vector<GeneratedBatch> generated = ReadGenerated();
  EXPECT_THAT(generated, ::testing::SizeIs(::testing::Ge(4)));
  const std::unique_ptr<client::BatchReader> reader = OpenReader();
  for (const GeneratedBatch& expected : generated) {
    const absl::StatusOr<std::optional<wire::Batch>> batch = reader->Next();
    ASSERT_THAT(batch, IsOk());
    ASSERT_TRUE(batch->has_value());
    ExpectSame(expected, **batch);
  }
  const absl::StatusOr<std::optional<wire::Batch>> end = reader->Next();
  ASSERT_THAT(end, IsOk());
  EXPECT_FALSE(end->has_value());
}

}  // namespace
}  // namespace packtrain::testing
