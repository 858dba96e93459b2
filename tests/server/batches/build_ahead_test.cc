#include "server/batches/build_ahead.h"

#include <gmock/gmock.h>

#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/mutex.h"
#include "proto/wire/batch_assembler.h"
#include "proto/wire/body_pool.h"
#include "tests/server/batches/scenario.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::batches {
namespace {

using ::packtrain::testing::Eventually;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::kPlenty;
using ::packtrain::testing::Scenario;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::uint32_t kMolecules = 60;
constexpr std::uint32_t kGraphs = 7;
constexpr std::size_t kBatches = 9;  // of an epoch

// Set by any thread, awaited and cleared by one.
class Signal {
 public:
  void Set() {
    base::MutexLock lock(mutex_);
    set_ = true;
    changed_.NotifyAll();
  }
  void Await() {
    base::MutexLock lock(mutex_);
    while (!set_) changed_.Wait(mutex_);
    set_ = false;
  }

 private:
  base::CondVar changed_;
  base::Mutex mutex_;
  bool set_ ABSL_GUARDED_BY(mutex_) = false;
};

// A batch as its receiver sees it.
wire::Batch Received(const EncodedBatch& sent) {
  wire::BatchAssembler assembler(kPlenty);
  for (const wire::EncodedPart& part : sent.parts) {
    const wire::Fragment fragments[] = {std::as_bytes(std::span(part.prefix)), part.body};
    absl::StatusOr<std::optional<wire::Batch>> batch = assembler.Add(fragments);
    EXPECT_THAT(batch, IsOk());
    if (batch.ok() && batch->has_value()) return **std::move(batch);
  }
  ADD_FAILURE() << "parts are missing";
  return wire::Batch({}, {}, {});
}

// Who sends a stream's batches. Used by one thread.
class Sender {
 public:
  Sender(const StreamEnvironment& environment, const v1::StreamBatchesRequest& request)
      : ahead_(BuildAhead::Create(environment, *StreamRequest::Create(request),
                                  [ready = ready_] { ready->Set(); })) {}

  BuildAhead& ahead() { return *ahead_; }

  // The next batch, waited for; none at the end of the stream, whose status is end() then.
  std::optional<EncodedBatch> Take() {
    while (true) {
      BuildAhead::Next next = ahead_->Take();
      if (next.end.has_value()) end_ = *next.end;
      if (next.batch.has_value() || next.end.has_value()) return std::move(next.batch);
      ahead_->BuildMore();
      ready_->Await();
    }
  }
  const absl::Status& end() const { return end_; }

  // The rest of the stream, as its receiver sees it.
  std::vector<wire::Batch> TakeAll() {
    std::vector<wire::Batch> batches;
    while (const std::optional<EncodedBatch> batch = Take()) batches.push_back(Received(*batch));
    return batches;
  }

 private:
  const std::shared_ptr<Signal> ready_ = std::make_shared<Signal>();
  const std::shared_ptr<BuildAhead> ahead_;
  absl::Status end_;
};

v1::StreamBatchesRequest Request(std::uint64_t epochs) {
  v1::StreamBatchesRequest request;
  request.set_dataset("molecules");
  request.mutable_spec()->set_policy(v1::POLICY_STATIC);
  request.mutable_spec()->set_graphs(kGraphs);
  request.set_epochs(epochs);
  return request;
}

// Place and bytes of a batch.
std::string TextOf(const wire::Batch& batch) {
  const std::span<const std::byte> body = batch.body();
  return absl::StrCat(batch.header().epoch, ".", batch.header().index, " ",
                      std::string(reinterpret_cast<const char*>(body.data()), body.size()));
}

std::vector<std::string> TextsOf(const std::vector<wire::Batch>& batches) {
  std::vector<std::string> texts;
  for (const wire::Batch& batch : batches) texts.push_back(TextOf(batch));
  return texts;
}

// Data set `molecules`, read from its store unless KeepInMemory was called.
class BuildAheadTest : public ::testing::Test {
 protected:
  void StartBuilders(int threads) { builders_ = std::make_unique<WorkerPool>(threads); }

  // Once a stream waits for memory: gives `taken` back as soon as a builder is free, which the stream must not
  // hold where the pool has one thread.
  void GiveBackWithABuilderFree(std::optional<limits::MemoryBudget::Reservation>& taken) {
    while (scenario_.memory()->waiting() == 0) std::this_thread::yield();
    std::latch free(1);
    builders_->Post([&free] { free.count_down(); });
    free.wait();
    taken.reset();
  }

  // Makes batches quick.
  void KeepInMemory() {
    resident_ = residents_.Use(*scenario_.store().Open("molecules"));
    residents_.AwaitLoads();
  }

  StreamEnvironment Environment() { return Environment(scenario_.store(), 1 << 30); }
  StreamEnvironment Environment(storage::GraphStore& store, std::uint32_t max_part_bytes) {
    return {.store = store,
            .residents = resident_ == nullptr ? none_ : residents_,
            .plans = plans_,
            .shared = shared_,
            .builders = *builders_,
            .planners = planners_,
            .corrupt_log = corrupt_log_,
            .memory = scenario_.body_memory(),
            .max_batch_bytes = kPlenty,
            .max_part_bytes = max_part_bytes};
  }

  std::vector<std::string> Expected(std::uint64_t epochs) {
    Scenario alone(kMolecules);
    auto sequence = BatchSequence::Open(alone.Resolved(Request(epochs).spec()), {.epochs = epochs},
                                        alone.Builder(), plans_, shared_, planners_);
    std::vector<std::string> texts;
    for (auto next = testing::NextBuilt(**sequence); next->has_value(); next = testing::NextBuilt(**sequence)) {
      texts.push_back(
          absl::StrCat((*next)->header.epoch, ".", (*next)->header.index, " ", testing::BodyOf(**next)));
    }
    return texts;
  }

  Scenario scenario_{kMolecules};
  ResidentDatasets residents_{kPlenty, scenario_.memory()};
  ResidentDatasets none_{0, scenario_.memory()};
  std::shared_ptr<const storage::Dataset> resident_;
  PlanCache plans_{kPlenty, scenario_.memory()};
  SharedBatches shared_{kPlenty, *scenario_.memory()};
  CorruptGraphLog corrupt_log_;
  WorkerPool planners_{1};
  std::unique_ptr<WorkerPool> builders_ = std::make_unique<WorkerPool>(1);  // last: its tasks use the rest
};

TEST_F(BuildAheadTest, GivesTheBatchesOfTheSequenceInOrder) {
  const std::vector<std::string> expected = Expected(3);
  ASSERT_THAT(expected, SizeIs(3 * kBatches));
  for (const bool in_memory : {false, true}) {
    if (in_memory) KeepInMemory();
    for (const int builders : {1, 2, 8}) {
      StartBuilders(builders);
      Sender sender(Environment(), Request(3));
      EXPECT_THAT(TextsOf(sender.TakeAll()), ElementsAreArray(expected)) << builders << " builders";
      EXPECT_THAT(sender.end(), IsOk());
      EXPECT_FALSE(sender.Take().has_value());  // and stays at its end
      const BuildAhead::Progress progress = sender.ahead().progress();
      EXPECT_EQ(progress.taken.batches, 3 * kBatches);
      EXPECT_EQ(progress.taken.graphs, 3 * kMolecules);
      EXPECT_EQ(progress.series.policy, "static");
      EXPECT_EQ(progress.series.dataset, "molecules");
    }
  }
}

TEST_F(BuildAheadTest, NothingIsBuiltBeforeItIsAskedFor) {
  Sender sender(Environment(), Request(0));
  EXPECT_FALSE(sender.ahead().Take().batch.has_value());
  StartBuilders(1);  // what was posted has run
  EXPECT_EQ(sender.ahead().progress().held_bytes, 0);
}

TEST_F(BuildAheadTest, QuickBatchesAreBuiltByTheThreadThatSendsThem) {
  KeepInMemory();
  Sender sender(Environment(), Request(1));
  ASSERT_TRUE(sender.Take().has_value());  // the pool opened the sequence
  const auto end_of_test = std::make_shared<std::latch>(1);
  builders_->Post([end_of_test] { end_of_test->wait(); });
  // The pool's one thread is held from here on.
  for (std::size_t batch = 1; batch < kBatches; ++batch) EXPECT_TRUE(sender.Take().has_value()) << batch;
  EXPECT_FALSE(sender.Take().has_value());
  EXPECT_THAT(sender.end(), IsOk());
  end_of_test->count_down();
}

// The memory of a stream whose client does not read.
TEST_F(BuildAheadTest, BuildsNoFurtherThanTheWindow) {
  Sender sender(Environment(), Request(0));
  const std::optional<EncodedBatch> first = sender.Take();
  constexpr std::uint64_t kMaxOfABatch = 16 << 10;
  ASSERT_LT(wire::BodyPool::CapacityOf(first->parts[0].body.size()) + (4 << 10), kMaxOfABatch);
  const auto held = [&sender] { return sender.ahead().progress().held_bytes; };
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(Eventually([&] {
      const std::uint64_t before = held();
      EXPECT_LE(before, kStreamWindowBytes + kMaxOfABatch);
      const auto turn_over = std::make_shared<std::latch>(1);  // of the builder, if it has not stopped
      builders_->Post([turn_over] { turn_over->count_down(); });
      turn_over->wait();
      return held() == before && before >= kStreamWindowBytes / 2;
    }));
    for (int batch = 0; batch < 2000; ++batch)
      ASSERT_TRUE(sender.Take().has_value());  // and makes room by that
  }
}

TEST_F(BuildAheadTest, StoppedItBuildsNoMoreAndHoldsNothing) {
  Sender sender(Environment(), Request(0));
  std::optional<EncodedBatch> batch = sender.Take();
  ASSERT_TRUE(batch.has_value());
  sender.ahead().Stop();
  builders_ = nullptr;  // what was posted has run
  batch.reset();
  EXPECT_EQ(sender.ahead().progress().held_bytes, 0);
  EXPECT_EQ(sender.ahead().progress().taken.batches, 1);
}

TEST_F(BuildAheadTest, ABodyMayOutliveItsStream) {
  const std::vector<std::string> expected = Expected(1);
  auto sender = std::make_unique<Sender>(Environment(), Request(1));
  const std::optional<EncodedBatch> batch = sender->Take();
  ASSERT_TRUE(batch.has_value());
  sender = nullptr;
  const std::span<const std::byte> body = batch->parts[0].body;
  EXPECT_THAT(expected[0], HasSubstr(std::string(reinterpret_cast<const char*>(body.data()), body.size())));
}

TEST_F(BuildAheadTest, AFailedReadEndsItBehindTheBatchesBeforeIt) {
  for (std::uint64_t n = 0; n < kBatches; ++n) {
    StartBuilders(1);  // what the stream before has posted has run, and reads no more
    Sender sender(Environment(), Request(1));
    scenario_.store().FailRead(n, absl::DataLossError("broken"));
    EXPECT_THAT(sender.TakeAll(), SizeIs(n));
    EXPECT_THAT(sender.end(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("broken")));
  }
}

TEST_F(BuildAheadTest, WhatCannotBeOpenedEndsIt) {
  v1::StreamBatchesRequest unknown = Request(1), other = Request(1), late = Request(1);
  unknown.set_dataset("nothing");
  other.set_expected_fingerprint("other");
  late.set_start_step(100);
  for (const auto& [request, code] : {std::pair{unknown, absl::StatusCode::kNotFound},
                                      std::pair{other, absl::StatusCode::kFailedPrecondition},
                                      std::pair{late, absl::StatusCode::kOutOfRange}}) {
    Sender sender(Environment(), request);
    EXPECT_FALSE(sender.Take().has_value());
    EXPECT_THAT(sender.end(), StatusIs(code));
    EXPECT_THAT(sender.ahead().progress().series.dataset, IsEmpty());
  }
}

TEST_F(BuildAheadTest, PartsAreNoLargerThanTheClientOrTheServerTakes) {
  constexpr std::uint32_t kPartBytes = 4096;
  Scenario many(600);
  v1::StreamBatchesRequest request = Request(1);
  request.mutable_spec()->set_graphs(600);
  Sender whole(Environment(many.store(), 1 << 30), request),
      by_server(Environment(many.store(), kPartBytes), request);
  request.set_max_message_bytes(kPartBytes);
  Sender by_client(Environment(many.store(), 1 << 30), request);
  EXPECT_THAT(whole.Take()->parts, SizeIs(1));
  for (Sender* sender : {&by_server, &by_client}) {
    const std::optional<EncodedBatch> batch = sender->Take();
    EXPECT_THAT(batch->parts, SizeIs(::testing::Gt(1)));
    for (const wire::EncodedPart& part : batch->parts) {
      EXPECT_LE(part.prefix.size() + part.body.size(), kPartBytes);
    }
  }
}

// Senders, builders and those who free bodies are different threads, as with gRPC.
TEST_F(BuildAheadTest, StreamsOnManyThreadsGiveTheBatchesOfOneAlone) {
  constexpr std::uint64_t kEpochs = 20;
  const std::vector<std::string> expected = Expected(kEpochs);
  for (const bool in_memory : {false, true}) {
    if (in_memory) KeepInMemory();
    StartBuilders(4);
    WorkerPool freeing(2);
    std::vector<std::thread> threads;
    for (int stream = 0; stream < 4; ++stream) {
      threads.emplace_back([&] {
        Sender sender(Environment(), Request(kEpochs));
        std::vector<std::string> texts;
        while (std::optional<EncodedBatch> batch = sender.Take()) {
          texts.push_back(TextOf(Received(*batch)));
          freeing.Post([body = std::move(batch->body)] {});
        }
        EXPECT_THAT(sender.end(), IsOk());
        EXPECT_THAT(texts, ElementsAreArray(expected));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(BuildAheadTest, AStreamCutAtAnyBatchLeavesNoMemoryBehind) {
  for (const bool in_memory : {false, true}) {
    if (in_memory) KeepInMemory();
    StartBuilders(4);
    ASSERT_THAT(Sender(Environment(), Request(2)).TakeAll(), Not(IsEmpty()));  // plans both epochs
    StartBuilders(4);
    const std::uint64_t before = scenario_.memory()->used_bytes();
    for (std::size_t cut = 0; cut < 2 * kBatches; ++cut) {
      {
        Sender sender(Environment(), Request(2));
        for (std::size_t batch = 0; batch < cut; ++batch) ASSERT_TRUE(sender.Take().has_value());
        sender.ahead().BuildMore();
        sender.ahead().Stop();
      }
      StartBuilders(4);  // what was posted has run
      EXPECT_EQ(scenario_.memory()->used_bytes(), before) << cut;
    }
  }
}

// Takes what is left of the budget.
std::optional<limits::MemoryBudget::Reservation> AllThatIsFree(limits::MemoryBudget& budget) {
  return budget.TryReserve(limits::MemoryPart::kListings, budget.cap_bytes() - budget.used_bytes());
}

TEST_F(BuildAheadTest, AStreamWaitsForMemoryWithoutAThreadAndLosesNothing) {
  const std::vector<std::string> expected = Expected(1);  // its plan is kept
  limits::MemoryBudget& budget = *scenario_.memory();
  for (const bool in_memory : {false, true}) {
    StartBuilders(1);
    if (in_memory) KeepInMemory();
    auto taken = AllThatIsFree(budget);
    ASSERT_TRUE(taken.has_value());
    Sender sender(Environment(), Request(1));
    std::thread give_back([&] { GiveBackWithABuilderFree(taken); });
    EXPECT_THAT(TextsOf(sender.TakeAll()), ElementsAreArray(expected));
    give_back.join();
    EXPECT_THAT(sender.end(), IsOk());
  }
}

TEST_F(BuildAheadTest, AStreamWaitsForThePlanOfItsEpochWithoutABuilder) {
  limits::MemoryBudget& budget = *scenario_.memory();
  auto taken = AllThatIsFree(budget);
  ASSERT_TRUE(taken.has_value());
  Sender sender(Environment(), Request(1));
  std::thread give_back([&] { GiveBackWithABuilderFree(taken); });
  EXPECT_THAT(sender.TakeAll(), SizeIs(kBatches));
  give_back.join();
  EXPECT_THAT(sender.end(), IsOk());
}

TEST_F(BuildAheadTest, AStoppedStreamWaitsForMemoryNoMore) {
  Expected(1);  // its plan is kept
  StreamEnvironment environment = Environment();
  environment.memory_wait = std::chrono::hours(1);
  limits::MemoryBudget& budget = *scenario_.memory();
  const auto taken = AllThatIsFree(budget);
  ASSERT_TRUE(taken.has_value());
  Sender sender(environment, Request(1));
  sender.ahead().BuildMore();
  while (budget.waiting() == 0) std::this_thread::yield();
  sender.ahead().Stop();
  EXPECT_TRUE(Eventually([&] { return budget.waiting() == 0; }));
  StartBuilders(1);  // what was posted has run
  EXPECT_EQ(sender.ahead().progress().held_bytes, 0);
}

TEST_F(BuildAheadTest, AStreamThatSkipsCorruptGraphsWaitsForMemoryAsOthersDo) {
  Expected(1);  // its plan is kept
  scenario_.store().Damage({0, 10, 20, 30, 40, 50});
  v1::StreamBatchesRequest request = Request(1);
  request.set_on_corrupt(v1::ON_CORRUPT_SKIP);
  limits::MemoryBudget& budget = *scenario_.memory();
  auto taken = AllThatIsFree(budget);
  ASSERT_TRUE(taken.has_value());
  Sender sender(Environment(), request);
  std::thread give_back([&] {
    // Never more than one body's: what the first try of a batch had is all that the second one can have.
    for (std::uint64_t freed = 0; freed == 0 || budget.waiting() > 0;) {
      while (budget.waiting() == 0 && freed == 0) std::this_thread::yield();
      freed += 1024;
      taken->ShrinkTo(taken->bytes() - 1024);
    }
  });
  EXPECT_THAT(sender.TakeAll(), SizeIs(kBatches));
  give_back.join();
  EXPECT_THAT(sender.end(), IsOk());
}

TEST_F(BuildAheadTest, AStreamForWhichNoMemoryComesFreeEndsAndSaysWhenToComeAgain) {
  Expected(1);  // its plan is kept
  StreamEnvironment environment = Environment();
  environment.memory_wait = std::chrono::milliseconds(20);
  const auto taken = AllThatIsFree(*scenario_.memory());
  ASSERT_TRUE(taken.has_value());
  Sender sender(environment, Request(1));
  EXPECT_FALSE(sender.Take().has_value());
  EXPECT_THAT(sender.end(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_TRUE(base::RetryDelayOf(sender.end()).has_value());
}

}  // namespace
}  // namespace packtrain::batches
