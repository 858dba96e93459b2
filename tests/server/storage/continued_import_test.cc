// Which imports an importer keeps, and how another client takes one over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proto/base/error_details.h"
#include "proto/base/mutex.h"
#include "server/storage/dataset_importer.h"
#include "server/storage/rocks_graph_store.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::BlockOf;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::uint32_t kGraphs = 100;

v1::ImportGraphsRequest Header(std::uint64_t continue_at = 0) {
  v1::ImportGraphsRequest message;
  v1::ImportHeader& header = *message.mutable_header();
  *header.mutable_schema() = MoleculeSchema();
  header.mutable_identity()->set_name("molecules");
  header.mutable_identity()->set_digest("d1");
  header.set_continue_at(continue_at);
  return message;
}

v1::ImportGraphsRequest End(std::uint64_t graphs) {
  v1::ImportGraphsRequest message;
  message.mutable_end()->set_graphs(graphs);
  return message;
}

class ContinuedImportTest : public ::testing::Test {
 protected:
  using Messages = std::vector<v1::ImportGraphsRequest>;

  static std::unique_ptr<RocksGraphStore> OpenStore(const std::filesystem::path& folder) {
    RocksGraphStoreOptions options;
    options.kept = {.keep = std::chrono::hours(24)};
    return *RocksGraphStore::Open(folder, options);
  }

  // Of the molecules from `begin` to `end`.
  v1::ImportGraphsRequest Block(std::size_t begin, std::size_t end) const {
    v1::ImportGraphsRequest message;
    *message.mutable_block() = BlockOf(std::span(molecules_).subspan(begin, end - begin));
    return message;
  }

  // An import of these messages, behind which `behind` comes.
  absl::StatusOr<v1::ImportGraphsResponse> Import(
      const Messages& messages,
      const std::function<absl::StatusOr<ImportMessage>()>& behind = [] { return nullptr; },
      RunningImports::End end = nullptr) {
    std::size_t next = 0;
    return importer_.Import(
        *importer_.Admit(),
        [&](std::uint64_t) -> absl::StatusOr<ImportMessage> {
          if (next == messages.size()) return behind();
          return &messages[next++];
        },
        nullptr, std::move(end));
  }

  // An import that ends with `failure` behind 60 graphs.
  absl::Status FailWith(const absl::Status& failure) {
    return Import({Header(), Block(0, 60)}, [&] { return failure; }).status();
  }

  absl::StatusOr<v1::ContinueImportResponse> Continue() {
    v1::ContinueImportRequest request;
    *request.mutable_header() = Header().header();
    return importer_.Continue(request);
  }

  absl::StatusOr<v1::SealDatasetResponse> Seal(const absl::StatusOr<v1::ImportGraphsResponse>& staged) {
    v1::SealDatasetRequest seal = SealAs("molecules");
    seal.set_import_id(staged->import_id());
    return importer_.Seal(seal);
  }

  std::string VersionOfWhole() {
    const TemporaryFolder folder;
    return storage::Import(*OpenStore(folder.path()), molecules_, SealAs("molecules"))->dataset.version();
  }

  const std::vector<Molecule> molecules_ = ManyMolecules(kGraphs);
  const TemporaryFolder folder_;
  const std::unique_ptr<RocksGraphStore> store_ = OpenStore(folder_.path());
  const std::shared_ptr<limits::MemoryBudget> memory_ = limits::MemoryBudget::Undivided(std::uint64_t{1} << 40);
  DatasetImporter importer_{*store_, memory_, {.program_version = "1.2.3", .imports = {.max_imports = 4}}};
};

TEST_F(ContinuedImportTest, AnImportThatBreaksOffGoesOnBehindAllThatCame) {
  for (const absl::Status& failure :
       {absl::CancelledError("the client went away"), absl::UnavailableError("the server is shutting down"),
        absl::DeadlineExceededError("nothing came"),
        base::WithReason(absl::ResourceExhaustedError("no memory yet"), base::kMemoryLimit)}) {
    EXPECT_EQ(FailWith(failure), failure);
    EXPECT_EQ(Continue()->graphs(), 60) << failure;
    EXPECT_EQ(memory_->used_bytes(), 0);
  }
  const auto staged = Import({Header(60), Block(60, 100), End(100)});
  ASSERT_THAT(staged, IsOk());
  EXPECT_EQ(staged->received(), 100);
  EXPECT_EQ(staged->staged(), 100);
  const auto sealed = Seal(staged);
  ASSERT_THAT(sealed, IsOk());
  EXPECT_EQ(sealed->dataset().version(), VersionOfWhole());
  EXPECT_EQ(Continue()->graphs(), 0);
}

// As a connection that is lost may look.
TEST_F(ContinuedImportTest, AStreamThatEndsWithoutAnEndGoesOn) {
  EXPECT_THAT(Import({Header(), Block(0, 60)}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(Continue()->graphs(), 60);
}

TEST_F(ContinuedImportTest, AnImportThatWouldFailAgainIsDropped) {
  for (const absl::Status& failure :
       {absl::InvalidArgumentError("a bad graph"), absl::DataLossError("a disk"),
        base::WithReason(absl::ResourceExhaustedError("disk full"), "DISK_FULL"),
        base::WithReason(absl::ResourceExhaustedError("a block too large"), base::kAboveMemory)}) {
    EXPECT_EQ(FailWith(failure), failure);
    EXPECT_EQ(Continue()->graphs(), 0) << failure;
  }
  v1::ImportGraphsRequest bad = Block(60, 61);
  bad.mutable_block()->set_n_node(0, 0);
  EXPECT_THAT(Import({Header(), Block(0, 60), bad, End(61)}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(Continue()->graphs(), 0);
}

TEST_F(ContinuedImportTest, AClientThatDropsItsImportLeavesNothing) {
  v1::ImportGraphsRequest drop;
  drop.mutable_end()->set_drop(true);
  EXPECT_THAT(Import({Header(), Block(0, 60), drop}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(Continue()->graphs(), 0);
}

TEST_F(ContinuedImportTest, AnImportWithoutIdentityIsDropped) {
  v1::ImportGraphsRequest header = Header();
  header.mutable_header()->clear_identity();
  EXPECT_THAT(Import({header, Block(0, 60)}, [] { return absl::CancelledError("gone"); }),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "staging"));
}

TEST_F(ContinuedImportTest, TheEndSpeaksOfTheWholeImport) {
  FailWith(absl::CancelledError("gone")).IgnoreError();
  EXPECT_THAT(Import({Header(60), Block(60, 100), End(40)}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("speaks of 40 graphs, but 100 came")));
}

TEST_F(ContinuedImportTest, AnImportThatWaitsForItsSealGoesOnWhereItsClientIsGone) {
  const auto staged = Import({Header(), Block(0, 100), End(100)});
  ASSERT_THAT(staged, IsOk());
  EXPECT_EQ(Continue()->graphs(), 100);
  EXPECT_THAT(Seal(staged), StatusIs(absl::StatusCode::kNotFound));
  const auto again = Import({Header(100), End(100)});
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(Seal(again)->dataset().version(), VersionOfWhole());
}

// A client that waits, until it is broken off.
class Waiting {
 public:
  absl::StatusOr<ImportMessage> Wait() {
    began_.count_down();
    const base::MutexLock lock(mutex_);
    while (why_.ok()) changed_.Wait(mutex_);
    return why_;
  }
  void End(const absl::Status& why) {
    const base::MutexLock lock(mutex_);
    why_ = why;
    changed_.NotifyAll();
  }
  void AwaitBegin() { began_.wait(); }

 private:
  std::latch began_{1};
  base::Mutex mutex_;
  base::CondVar changed_;
  absl::Status why_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(ContinuedImportTest, AnImportWhoseClientTheServerStillWaitsForIsEndedForAnother) {
  Waiting client;
  std::thread waiting([&] {
    const auto ended = Import(
        {Header(), Block(0, 60)}, [&client] { return client.Wait(); },
        [&client](const absl::Status& why) { client.End(why); });
    EXPECT_THAT(ended, StatusIs(absl::StatusCode::kAborted, HasSubstr("another client")));
    EXPECT_EQ(base::ReasonOf(ended.status()), "IMPORT_TAKEN_OVER");
  });
  client.AwaitBegin();
  EXPECT_EQ(Continue()->graphs(), 60);
  waiting.join();
  EXPECT_THAT(Import({Header(60), Block(60, 100), End(100)}), IsOk());
}

TEST_F(ContinuedImportTest, WithoutAnIdentityNothingGoesOn) {
  v1::ContinueImportRequest request;
  EXPECT_THAT(importer_.Continue(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("identity")));
  *request.mutable_header() = Header().header();
  request.mutable_header()->mutable_identity()->set_digest("no digest");
  EXPECT_THAT(importer_.Continue(request), StatusIs(absl::StatusCode::kInvalidArgument));
  importer_.Drain();
  EXPECT_THAT(Continue(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ContinuedImportTest, NothingGoesOnWhereTheServerHasNoMemoryForIt) {
  FailWith(absl::CancelledError("gone")).IgnoreError();
  const auto all = memory_->TryReserve(limits::MemoryPart::kImports, memory_->cap_bytes());
  std::size_t next = 0;
  const Messages messages = {Header(60)};
  EXPECT_THAT(importer_.Import(
                  *importer_.Admit(), [&](std::uint64_t) { return &messages[next++]; }, [] { return false; }),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(Continue()->graphs(), 60);
}

}  // namespace
}  // namespace packtrain::storage
