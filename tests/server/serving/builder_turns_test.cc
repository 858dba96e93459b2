// How streams share the threads that build their batches.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/mutex.h"
#include "server/batches/build_ahead.h"
#include "server/node/server.h"
#include "server/runs/rocks_run_store.h"
#include "tests/server/serving/serving_client.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::testing {
namespace {

// Told the data set's name before the records of a batch are read, by the thread that reads them.
using Watch = std::function<void(const std::string& name)>;

class WatchedDataset final : public storage::Dataset {
 public:
  WatchedDataset(std::shared_ptr<const storage::Dataset> dataset, const Watch& watch)
      : dataset_(std::move(dataset)), watch_(watch) {}

  const v1::Dataset& description() const override { return dataset_->description(); }
  std::span<const std::uint32_t> n_node() const override { return dataset_->n_node(); }
  std::span<const std::uint32_t> n_edge() const override { return dataset_->n_edge(); }
  absl::StatusOr<std::span<const std::uint32_t>> Split(std::string_view name) const override {
    return dataset_->Split(name);
  }
  absl::Status ReadRecords(std::span<const std::uint32_t> graphs, RecordSink sink) const override {
    watch_(description().name());
    return dataset_->ReadRecords(graphs, sink);
  }
  absl::Status ScanRecords(RecordSink sink) const override { return dataset_->ScanRecords(sink); }

 private:
  const std::shared_ptr<const storage::Dataset> dataset_;
  const Watch& watch_;
};

class WatchedStore final : public FakeGraphStore {
 public:
  explicit WatchedStore(const Watch& watch) : watch_(watch) {}

  absl::StatusOr<std::shared_ptr<const storage::Dataset>> Open(std::string_view reference) override {
    auto dataset = FakeGraphStore::Open(reference);
    if (!dataset.ok()) return dataset.status();
    return std::make_shared<WatchedDataset>(*std::move(dataset), watch_);
  }

 private:
  const Watch& watch_;
};

// Names in the order in which they were told. Any number of threads may use it.
class Log {
 public:
  void Add(const std::string& name) {
    base::MutexLock lock(mutex_);
    names_.push_back(name);
    ++counts_[name];
    added_.NotifyAll();
  }
  // Waits until `names` were told `count` times each.
  std::vector<std::string> Await(std::size_t names, int count) {
    base::MutexLock lock(mutex_);
    while (counts_.size() < names || Least() < count) added_.Wait(mutex_);
    return names_;
  }

 private:
  int Least() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::min_element(counts_.begin(), counts_.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->second;
  }

  base::CondVar added_;
  base::Mutex mutex_;
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> counts_ ABSL_GUARDED_BY(mutex_);
};

// A server none of whose data sets is in memory, save for the fake store.
class BuilderTurnsTest : public ::testing::Test {
 protected:
  void StartServer(int builders, Watch watch) {
    watch_ = std::move(watch);
    node::Stores stores{std::make_unique<WatchedStore>(watch_),
                        *runs::RocksRunStore::Open(folder_.PathOf("runs"), {})};
    node::ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.builders = builders;
    options.resident_bytes = 0;
    server_ = *node::Server::Start(options, std::move(stores));
  }

  std::shared_ptr<grpc::Channel> NewChannel() const {
    return grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
  }

  void Store(const std::string& name, std::uint32_t graphs = 60) {
    ServingClient client(NewChannel());
    ASSERT_THAT(client.Store(name, MoleculeSchema(), BlockOf(ManyMolecules(graphs))), IsOk());
  }

  static v1::StreamBatchesRequest Request(const std::string& dataset, std::uint64_t epochs,
                                          std::uint32_t graphs = 7) {
    v1::StreamBatchesRequest request;
    request.set_dataset(dataset);
    request.mutable_spec()->set_policy(v1::POLICY_STATIC);
    request.mutable_spec()->set_graphs(graphs);
    request.set_epochs(epochs);
    return request;
  }

  const TempFolder folder_;
  Watch watch_;
  std::unique_ptr<node::Server> server_;
};

// Builds of each of `streams` data sets, from where all had been built, while none had `most` of them.
class Turns {
 public:
  Turns(const std::vector<std::string>& built, std::size_t streams, int most) {
    std::map<std::string, int> all;
    for (const std::string& name : built) {
      if (++all[name] > most) return;
      if (all.size() == streams) Count(name, streams);
    }
  }

  // How far one was behind another at most, and the least that one had in the end.
  int farthest() const { return farthest_; }
  int least() const { return least_; }

 private:
  void Count(const std::string& name, std::size_t streams) {
    ++counts_[name];
    if (counts_.size() < streams) return;
    const auto [least, most] = std::minmax_element(
        counts_.begin(), counts_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    farthest_ = std::max(farthest_, most->second - least->second);
    least_ = least->second;
  }

  std::map<std::string, int> counts_;
  int farthest_ = 0;
  int least_ = 0;
};

// The builder is held until 64 endless streams have been asked for. From where all of them are there, none is
// ever more than a turn behind another, as long as none has built all that it may build ahead or waits for the
// plan of its next epoch.
TEST_F(BuilderTurnsTest, OneBuilderServesManyStreamsInTurn) {
  constexpr int kStreams = 64;
  constexpr int kBatches = 128;  // half of what a stream builds ahead of a client that does not read
  int least = 0;
  while (least < 2 * batches::kBatchesInTurn) {  // again, where the last stream came late
    Log log;
    std::latch asked(1);
    StartServer(1, [&](const std::string& name) {
      asked.wait();
      log.Add(name);
    });
    for (int i = 0; i < kStreams; ++i) Store(absl::StrCat("molecules-", i), 2 * kBatches);
    std::vector<std::unique_ptr<OpenStream>> streams;
    for (int i = 0; i < kStreams; ++i) {
      const v1::StreamBatchesRequest request =
          Request(absl::StrCat("molecules-", i), /*epochs=*/0, /*graphs=*/1);
      streams.push_back(std::make_unique<OpenStream>(NewChannel(), request));
    }
    EXPECT_THAT(ServingClient(NewChannel()).GetServerInfo(), IsOk());
    asked.count_down();
    const Turns turns(log.Await(kStreams, kBatches), kStreams, kBatches);
    EXPECT_LE(turns.farthest(), batches::kBatchesInTurn);
    least = turns.least();
    streams.clear();
    server_ = nullptr;
  }
}

TEST_F(BuilderTurnsTest, ABuilderWithNothingElseToDoBuildsTheStreamsNextBatch) {
  std::atomic<int> reads = 0;
  std::latch both(2);
  StartServer(2, [&](const std::string&) {
    if (reads++ < 2) both.arrive_and_wait();
  });
  Store("molecules");
  const ReceivedStream stream = ServingClient(NewChannel()).Stream(Request("molecules", /*epochs=*/3));
  EXPECT_THAT(stream.status, IsOk());
  ASSERT_THAT(stream.batches, ::testing::SizeIs(27));
  for (std::size_t k = 0; k < stream.batches.size(); ++k) {
    EXPECT_EQ(stream.batches[k].batch.header().epoch * 9 + stream.batches[k].batch.header().index, k);
  }
  server_ = nullptr;  // before what its reads tell
}

}  // namespace
}  // namespace packtrain::testing
