// The contract of RunStore: how runs and attempts begin.
#include <gmock/gmock.h>

#include <thread>

#include "tests/server/runs/run_store_conformance.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

using TextMap = google::protobuf::Map<std::string, std::string>;

void Put(TextMap* map, const std::string& key, const std::string& value) { map->insert({key, value}); }

void PutMany(TextMap* map, int count) {
  for (int i = 0; i < count; ++i) Put(map, std::to_string(i), std::string());
}

TEST_F(RunStoreConformance, ARunKeepsItsDescriptionOverARestart) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  (*request.mutable_description()->mutable_labels())["node"] = "a";
  const Reporter rank = StartRun(*store_, request);
  store_.Reopen();
  const v1::Run run = Get(rank.run);
  EXPECT_EQ(run.description().SerializeAsString(), request.description().SerializeAsString());
  EXPECT_EQ(run.state(), v1::RUN_STATE_RUNNING);
  EXPECT_EQ(run.started_ms(), store_.now_ms);
  EXPECT_EQ(run.finished_ms(), 0);
  EXPECT_EQ(run.attempts(), 1u);
}

TEST_F(RunStoreConformance, NamesTellTheTimeAndDiffer) {
  const Reporter a = StartRun(*store_, StartRequest("key-00000001"));
  const Reporter b = StartRun(*store_, StartRequest("key-00000002"));
  EXPECT_THAT(a.run, MatchesRegex("20231114-221320-[a-z2-9][a-z2-9][a-z2-9][a-z2-9]"));
  EXPECT_NE(a.run, b.run);
}

TEST_F(RunStoreConformance, ManyRunsOfOneSecondHaveDifferentNames) {
  for (int i = 0; i < 200; ++i) StartRun(*store_, StartRequest(std::to_string(10'000'000 + i)));
  EXPECT_THAT(*store_->List(), SizeIs(200));
}

TEST_F(RunStoreConformance, AnUnstatedWorldHasOneRank) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->clear_world_size();
  EXPECT_EQ(Get(StartRun(*store_, request).run).description().world_size(), 1u);
}

TEST_F(RunStoreConformance, RanksJoinByTheIdempotencyKeyAndLeaveTheDescription) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->set_world_size(2);
  const Reporter first = StartRun(*store_, request);
  request.set_rank(1);
  request.mutable_description()->set_model("other");
  const Reporter second = StartRun(*store_, request);
  EXPECT_EQ(second.run, first.run);
  EXPECT_EQ(second.attempt, 0u);
  EXPECT_EQ(Get(first.run).description().model(), "schnet");
  EXPECT_EQ(Get(first.run).attempts(), 1u);
}

TEST_F(RunStoreConformance, ARankThatOnlyJoinsBeginsNoRun) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->set_world_size(2);
  v1::StartRunRequest joining = request;
  joining.set_rank(1);
  joining.set_join_only(true);
  EXPECT_THAT(store_->Start(joining),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("rank 1 joins a run that this server does not")));
  EXPECT_THAT(*store_->List(), SizeIs(0));
  const Reporter first = StartRun(*store_, request);
  EXPECT_EQ(StartRun(*store_, joining).run, first.run);
}

TEST_F(RunStoreConformance, ANewAttemptSaysHowManyStepsThereAreToBe) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->set_planned_steps(20);
  request.set_process_key("process a");
  const Reporter first = StartRun(*store_, request);
  request.mutable_description()->set_planned_steps(30);
  StartRun(*store_, request);  // a repeated call opens none
  EXPECT_EQ(Get(first.run).description().planned_steps(), 20u);
  request.set_process_key("process b");
  StartRun(*store_, request);
  EXPECT_EQ(Get(first.run).description().planned_steps(), 30u);
  request.set_process_key("process c");
  request.mutable_description()->clear_planned_steps();
  StartRun(*store_, request);
  store_.Reopen();
  EXPECT_EQ(Get(first.run).description().planned_steps(), 30u);
}

TEST_F(RunStoreConformance, ARunThatOnceSkipsCorruptGraphsSaysSo) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->set_on_corrupt(v1::ON_CORRUPT_STOP);
  const Reporter first = StartRun(*store_, request);
  EXPECT_EQ(Get(first.run).description().on_corrupt(), v1::ON_CORRUPT_STOP);
  request.mutable_description()->set_on_corrupt(v1::ON_CORRUPT_SKIP);
  StartRun(*store_, request);
  request.mutable_description()->set_on_corrupt(v1::ON_CORRUPT_STOP);
  StartRun(*store_, request);
  store_.Reopen();
  EXPECT_EQ(Get(first.run).description().on_corrupt(), v1::ON_CORRUPT_SKIP);
}

TEST_F(RunStoreConformance, ARestartedProcessGetsTheNextAttempt) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.set_process_key("process a");
  EXPECT_EQ(StartRun(*store_, request).attempt, 0u);
  request.set_process_key("process b");
  EXPECT_EQ(StartRun(*store_, request).attempt, 1u);
  store_.Reopen();
  request.set_process_key("process c");
  const Reporter third = StartRun(*store_, request);
  EXPECT_EQ(third.attempt, 2u);
  EXPECT_EQ(Get(third.run).attempts(), 3u);
}

TEST_F(RunStoreConformance, ARepeatedStartGetsTheAnswerItHad) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.set_process_key("process a");
  const Reporter first = StartRun(*store_, request);
  EXPECT_EQ(StartRun(*store_, request).attempt, 0u);
  request.set_process_key("process b");
  StartRun(*store_, request);
  store_.Reopen();
  request.set_process_key("process a");
  const Reporter again = StartRun(*store_, request);
  EXPECT_EQ(again.run, first.run);
  EXPECT_EQ(again.attempt, 0u);
  EXPECT_EQ(Get(first.run).attempts(), 2u);
}

TEST_F(RunStoreConformance, WithoutAProcessKeyEachStartIsAnAttempt) {
  const v1::StartRunRequest request = StartRequest("key-00000001");
  EXPECT_EQ(StartRun(*store_, request).attempt, 0u);
  EXPECT_EQ(StartRun(*store_, request).attempt, 1u);
}

TEST_F(RunStoreConformance, StartsAtTheSameTimeMakeOneRun) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->set_world_size(8);
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    ranks.emplace_back([this, request, rank]() mutable {
      request.set_rank(rank);
      EXPECT_EQ(StartRun(*store_, request).attempt, 0u);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_THAT(*store_->List(), SizeIs(1));
}

TEST_F(RunStoreConformance, BadStartsAreRefused) {
  const auto refused = [this](auto change, const std::string& message) {
    v1::StartRunRequest request = StartRequest("key-00000001");
    change(request);
    EXPECT_THAT(store_->Start(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  refused([](auto& r) { r.set_idempotency_key("short"); }, "idempotency_key has 5 bytes, at least 8");
  refused([](auto& r) { r.set_idempotency_key(std::string(1025, 'x')); }, "idempotency_key has 1025 bytes");
  refused([](auto& r) { r.set_process_key(std::string(1025, 'x')); }, "process_key has 1025 bytes");
  refused([](auto& r) { r.set_rank(1); }, "rank 1 is outside the run's world of 1 ranks");
  refused([](auto& r) { r.mutable_description()->set_world_size(65'537); }, "world_size is 65537");
  refused([](auto& r) { r.mutable_description()->set_model(std::string(1025, 'x')); }, "model has 1025 bytes");
  refused([](auto& r) { Put(r.mutable_description()->mutable_labels(), "", "x"); }, "a key of labels is empty");
  refused([](auto& r) { Put(r.mutable_description()->mutable_labels(), "a", std::string(1025, 'x')); },
          "labels a has 1025 bytes");
  refused([](auto& r) { PutMany(r.mutable_description()->mutable_labels(), 65); }, "65 labels, at most 64");
  refused(
      [](auto& r) {
        for (int k = 0; k < 64; ++k) {
          Put(r.mutable_description()->mutable_labels(), std::to_string(k), std::string(256, 'x'));
        }
      },
      "bytes of memory, at most");
  refused([](auto& r) { PutMany(r.mutable_description()->mutable_libraries(), 65); },
          "65 libraries, at most 64");
}

TEST_F(RunStoreConformance, AStartWithAnUnknownEnumIsRefusedByFieldAndValue) {
  const auto refused = [this](const std::string& field, auto set) {
    v1::StartRunRequest request = StartRequest("key-00000001");
    set(*request.mutable_description()->mutable_spec());
    EXPECT_THAT(store_->Start(request),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("description.spec." + field + " = 99 is not known")));
  };
  refused("policy", [](v1::BatchSpec& spec) { spec.set_policy(static_cast<v1::Policy>(99)); });
  refused("pad", [](v1::BatchSpec& spec) { spec.set_pad(static_cast<v1::Pad>(99)); });
  refused("order", [](v1::BatchSpec& spec) { spec.set_order(static_cast<v1::Order>(99)); });
  refused("oversize", [](v1::BatchSpec& spec) { spec.set_oversize(static_cast<v1::Oversize>(99)); });
}

TEST_F(RunStoreConformance, AJoiningRankMustLieInTheWorldOfTheStoredRun) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  StartRun(*store_, request);
  request.mutable_description()->set_world_size(4);
  request.set_rank(3);
  EXPECT_THAT(store_->Start(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 3")));
}

}  // namespace
}  // namespace packtrain::runs
