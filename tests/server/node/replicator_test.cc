#include "server/node/replicator.h"

#include <gmock/gmock.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "packtrain/v1/dataset.grpc.pb.h"
#include "packtrain/v1/server_info.grpc.pb.h"
#include "proto/base/mutex.h"
#include "proto/base/status_convert.h"
#include "server/storage/export.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/eventually.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::node {
namespace {

using ::packtrain::testing::FakeGraphStore;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kSmallMessages = 8 << 10;

// A server whose exports break off.
class Primary final : public v1::DatasetService::Service, public v1::ServerInfoService::Service {
 public:
  explicit Primary(FakeGraphStore& store) : store_(store) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(static_cast<v1::DatasetService::Service*>(this));
    builder.RegisterService(static_cast<v1::ServerInfoService::Service*>(this));
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~Primary() override { server_->Shutdown(); }

  const std::string& address() const { return address_; }

  // Exports of the data set "broken" end with `code` behind so many messages, the header included; 0: they are
  // whole.
  void BreakOffBehind(int messages, absl::StatusCode code = absl::StatusCode::kUnavailable) {
    code_ = code;
    messages_ = messages;
  }

  // Waits until the data sets have been listed so often from now on.
  void AwaitLists(int lists) {
    const base::MutexLock lock(mutex_);
    const int until = lists_ + lists;
    while (lists_ < until) changed_.Wait(mutex_);
  }
  // The first graph of each export that was asked for, once there are so many.
  std::vector<std::uint64_t> AwaitExports(std::size_t exports) {
    const base::MutexLock lock(mutex_);
    while (first_graphs_.size() < exports) changed_.Wait(mutex_);
    return first_graphs_;
  }
  std::vector<std::uint64_t> exports() {
    const base::MutexLock lock(mutex_);
    return first_graphs_;
  }
  void AwaitInfos(int infos) {
    const base::MutexLock lock(mutex_);
    while (infos_ < infos) changed_.Wait(mutex_);
  }
  int lists() {
    const base::MutexLock lock(mutex_);
    return lists_;
  }

 private:
  grpc::Status ListDatasets(grpc::ServerContext*, const v1::ListDatasetsRequest*,
                            v1::ListDatasetsResponse* response) override {
    std::vector<v1::Dataset> datasets = store_.List().value();
    for (v1::Dataset& dataset : datasets) *response->add_datasets() = std::move(dataset);
    const base::MutexLock lock(mutex_);
    ++lists_;
    changed_.NotifyAll();
    return grpc::Status::OK;
  }

  grpc::Status ExportDataset(grpc::ServerContext*, const v1::ExportDatasetRequest* request,
                             grpc::ServerWriter<v1::ExportDatasetResponse>* writer) override {
    {
      const base::MutexLock lock(mutex_);
      first_graphs_.push_back(request->first_graph());
      changed_.NotifyAll();
    }
    const auto dataset = store_.Open(request->dataset());
    if (!dataset.ok()) return base::ToGrpcStatus(dataset.status());
    const bool whole = messages_ == 0 || (*dataset)->description().name() != "broken";
    int left = whole ? -1 : messages_.load();
    return base::ToGrpcStatus(storage::ExportDataset(**dataset, *request, kSmallMessages,
                                                     [&](const v1::ExportDatasetResponse& message) {
                                                       if (left-- == 0)
                                                         return absl::Status(code_, "the primary ends");
                                                       writer->Write(message);
                                                       return absl::OkStatus();
                                                     }));
  }

  grpc::Status GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*,
                             v1::GetServerInfoResponse* response) override {
    response->set_process_id("primary");
    const base::MutexLock lock(mutex_);
    ++infos_;
    changed_.NotifyAll();
    return grpc::Status::OK;
  }

  FakeGraphStore& store_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::atomic<int> messages_ = 0;
  std::atomic<absl::StatusCode> code_ = absl::StatusCode::kUnavailable;

  base::CondVar changed_;
  base::Mutex mutex_;
  std::vector<std::uint64_t> first_graphs_ ABSL_GUARDED_BY(mutex_);
  int lists_ ABSL_GUARDED_BY(mutex_) = 0;
  int infos_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Seals while `full` is not set.
class SealsWhereThereIsSpace final : public storage::DatasetWriter {
 public:
  SealsWhereThereIsSpace(std::unique_ptr<storage::DatasetWriter> writer, const std::atomic<bool>& full,
                         std::atomic<int>& refused)
      : writer_(std::move(writer)), full_(full), refused_(refused) {}
  absl::Status Append(std::span<const std::byte> record) override { return writer_->Append(record); }
  std::uint64_t graphs() const override { return writer_->graphs(); }
  bool HasId(std::string_view id) const override { return writer_->HasId(id); }
  std::uint64_t memory_bytes() const override { return writer_->memory_bytes(); }
  std::uint64_t seal_bytes(const v1::SealDatasetRequest& request) const override {
    return writer_->seal_bytes(request);
  }
  absl::StatusOr<SealResult> Seal(const v1::SealDatasetRequest& request) override {
    if (!full_) return writer_->Seal(request);
    ++refused_;
    return absl::ResourceExhaustedError("disk full");
  }

 private:
  const std::unique_ptr<storage::DatasetWriter> writer_;
  const std::atomic<bool>& full_;
  std::atomic<int>& refused_;
};

// A store on a disk that may be full, which counts what is opened.
class ReplicaStore final : public FakeGraphStore {
 public:
  absl::StatusOr<std::unique_ptr<storage::DatasetWriter>> NewDataset(const v1::Schema& schema) override {
    auto writer = FakeGraphStore::NewDataset(schema);
    if (!writer.ok()) return writer.status();
    return std::make_unique<SealsWhereThereIsSpace>(*std::move(writer), full_at_seal, refused_seals);
  }
  absl::StatusOr<std::shared_ptr<const storage::Dataset>> Open(std::string_view reference) override {
    ++opened;
    return FakeGraphStore::Open(reference);
  }
  absl::Status CheckSpace(std::uint64_t) const override {
    return full ? absl::ResourceExhaustedError("disk full") : absl::OkStatus();
  }

  std::atomic<int> opened = 0;
  std::atomic<bool> full = false;
  std::atomic<bool> full_at_seal = false;
  std::atomic<int> refused_seals = 0;
};

class ReplicatorTest : public ::testing::Test {
 protected:
  void Seal(const char* name, int graphs) {
    EXPECT_THAT(
        storage::Import(original_, ManyMolecules(graphs), storage::SealWithFractions(name, 800, 100, 100, 1)),
        IsOk());
  }
  void Follow(const std::string& process_id = "replica") {
    replicator_ = std::make_unique<Replicator>(copy_, limits::MemoryBudget::Undivided(std::uint64_t{1} << 40),
                                               ReplicatorOptions{.primary = primary_.address(),
                                                                 .process_id = process_id,
                                                                 .interval = milliseconds(1),
                                                                 .max_back_off = milliseconds(2)});
  }
  void ExpectCopied() const {
    const auto original = original_.List().value(), copied = copy_.List().value();
    ASSERT_EQ(copied.size(), original.size());
    for (std::size_t k = 0; k < copied.size(); ++k) EXPECT_EQ(copied[k].version(), original[k].version());
  }

  FakeGraphStore original_;
  ReplicaStore copy_;
  Primary primary_{original_};
  std::unique_ptr<Replicator> replicator_;
};

TEST_F(ReplicatorTest, ACopyThatIsBrokenOffGoesOnWhereItWas) {
  Seal("broken", 500);
  primary_.BreakOffBehind(3);  // the header and two blocks
  Follow();
  const std::vector<std::uint64_t> begun = primary_.AwaitExports(4);
  EXPECT_EQ(begun[0], 0u);
  for (std::size_t k = 1; k < begun.size(); ++k) EXPECT_THAT(begun[k], Gt(begun[k - 1]));
  primary_.BreakOffBehind(0);
  primary_.AwaitLists(4);
  ExpectCopied();
}

TEST_F(ReplicatorTest, ACopyThatOutlastsItsCallGoesOnInTheNext) {
  Seal("broken", 500);
  primary_.BreakOffBehind(3, absl::StatusCode::kDeadlineExceeded);
  Follow();
  const std::vector<std::uint64_t> begun = primary_.AwaitExports(4);
  for (std::size_t k = 1; k < begun.size(); ++k) EXPECT_THAT(begun[k], Gt(begun[k - 1]));
  primary_.BreakOffBehind(0);
  primary_.AwaitLists(4);
  ExpectCopied();
}

TEST_F(ReplicatorTest, ACopyThatIsBrokenOffGoesOnBesideDataSetsThatAreHere) {
  Seal("a", 20);
  Follow();
  primary_.AwaitLists(4);
  primary_.BreakOffBehind(3);
  Seal("broken", 500);
  const std::vector<std::uint64_t> begun = primary_.AwaitExports(5);
  for (std::size_t k = 2; k < begun.size(); ++k) EXPECT_THAT(begun[k], Gt(begun[k - 1]));
  primary_.BreakOffBehind(0);
  primary_.AwaitLists(4);
  ExpectCopied();
}

TEST_F(ReplicatorTest, ACopyThatNeverGetsOnLetsOthersThrough) {
  Seal("broken", 20);
  Seal("whole", 30);
  primary_.BreakOffBehind(1);  // the header alone
  Follow();
  primary_.AwaitLists(20);
  EXPECT_THAT(copy_.Versions("whole"), IsOk());
  primary_.BreakOffBehind(0);
  primary_.AwaitLists(4);
  ExpectCopied();
}

TEST_F(ReplicatorTest, NothingIsOpenedByLookingAndNothingIsCopiedTwice) {
  Seal("a", 20);
  Seal("b", 30);
  Follow();
  primary_.AwaitLists(20);
  ExpectCopied();
  EXPECT_EQ(copy_.opened, 0);
  EXPECT_THAT(primary_.exports(), SizeIs(2));
}

TEST_F(ReplicatorTest, NothingIsCopiedThatTheDiskHasNoRoomForUntilItHas) {
  Seal("a", 20);
  copy_.full = true;
  Follow();
  primary_.AwaitLists(5);
  EXPECT_THAT(primary_.exports(), IsEmpty());
  copy_.full = false;
  primary_.AwaitLists(4);
  ExpectCopied();
  EXPECT_THAT(primary_.exports(), ElementsAre(0u));
}

TEST_F(ReplicatorTest, ACopyThatFindsTheDiskFullAtItsSealIsNotMadeAgain) {
  Seal("a", 20);
  copy_.full_at_seal = true;
  Follow();
  EXPECT_TRUE(testing::Eventually([&] { return copy_.refused_seals > 10; }));
  copy_.full_at_seal = false;
  primary_.AwaitLists(4);
  ExpectCopied();
  EXPECT_THAT(primary_.exports(), ElementsAre(0u));
}

TEST_F(ReplicatorTest, AServerDoesNotFollowItself) {
  Seal("a", 20);
  Follow("primary");
  primary_.AwaitInfos(3);
  EXPECT_EQ(primary_.lists(), 0);
  EXPECT_THAT(copy_.List().value(), IsEmpty());
}

}  // namespace
}  // namespace packtrain::node
