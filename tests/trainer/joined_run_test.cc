#include "trainer/run/joined_run.h"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "client/run_lookup.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"
#include "tests/trainer/two_ranks.h"

namespace packtrain::trainer {
namespace {

using client::Connection;
using client::StateOfRun;
using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using packtrain::testing::TestServer;
using packtrain::testing::WithTwoRanks;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

wire::StepRecord Step(std::uint64_t step) {
  wire::StepRecord record;
  record.step = step;
  record.total_ns = 1;
  return record;
}

class JoinedRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<TestServer>> server = TestServer::Start();
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    connection_ = Connect(*server_);
  }

  static std::shared_ptr<Connection> Connect(const TestServer& server) {
    return Connection::Open({.server = server.address(), .give_up = std::chrono::seconds(60)}).value();
  }

  // Of the training's part up to `planned_steps`, as a rank of `sync` sees it.
  absl::StatusOr<JoinedRun> Join(const Checkpoint& state, GradientSync& sync, std::uint64_t planned_steps) {
    return JoinAt(connection_, state, sync, planned_steps);
  }

  absl::StatusOr<JoinedRun> JoinAt(const std::shared_ptr<Connection>& connection, const Checkpoint& state,
                                   GradientSync& sync, std::uint64_t planned_steps) {
    client::RunDescription description;
    description.model = "schnet";
    description.spec.policy = wire::Policy::kDynamic;
    description.spec.graphs = 8;
    description.world_size = sync.world().size;
    description.planned_steps = planned_steps;
    return JoinRun(connection, std::move(description), {}, state, sync, [this, &sync](const std::string& line) {
      if (sync.world().rank == 0) lines_.push_back(line);
    });
  }

  absl::StatusOr<JoinedRun> JoinAlone(const Checkpoint& state, std::uint64_t planned_steps) {
    return Join(state, *GradientSync::Connect(World{}, {}).value(), planned_steps);
  }

  // A training that has made 2 of 2 steps in a world of one, and whose run is done.
  Checkpoint Done() {
    const Checkpoint state = TwoStepsMade();
    EXPECT_THAT(JoinAlone(state, 2)->reporter->Finish(/*failed=*/false, ""), IsOk());
    return state;
  }

  // One whose run is still open.
  Checkpoint TwoStepsMade() {
    const absl::StatusOr<JoinedRun> begun = JoinAlone({}, 2);
    EXPECT_THAT(begun, IsOk());
    begun->reporter->AddStep(Step(0));
    begun->reporter->AddStep(Step(1));
    EXPECT_THAT(begun->reporter->Flush(), IsOk());
    Checkpoint state;
    state.run = begun->reporter->run();
    state.key = begun->key;
    state.position.steps = 2;
    return state;
  }

  std::string StateOf(const std::string& run) { return StateOfRun(*connection_, run).value(); }

  std::unique_ptr<TestServer> server_;
  std::shared_ptr<Connection> connection_;
  std::vector<std::string> lines_;
};

TEST_F(JoinedRunTest, MoreStepsGoOnWithTheRun) {
  const Checkpoint state = Done();
  const absl::StatusOr<JoinedRun> joined = JoinAlone(state, 4);
  ASSERT_THAT(joined, IsOk());
  EXPECT_EQ(joined->reporter->run(), state.run);
  EXPECT_FALSE(joined->follows);
  EXPECT_EQ(StateOf(state.run), "running");
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(JoinedRunTest, WhatAnAttemptHasLostIsNotForgottenByTheNext) {
  Checkpoint state = TwoStepsMade();
  state.unsent.lost = {{.rank = 0, .attempt = 0, .records = 5}};
  const absl::StatusOr<JoinedRun> joined = JoinAlone(state, 4);
  ASSERT_THAT(joined, IsOk());
  EXPECT_EQ(joined->reporter->lost(), 5u);
  ASSERT_THAT(joined->reporter->unsent().lost, SizeIs(1));
  EXPECT_EQ(joined->reporter->unsent().lost.front().records, 5u);
}

TEST_F(JoinedRunTest, ARunThatIsDoneStaysSoWhereNoStepIsLeft) {
  const Checkpoint state = Done();
  const absl::StatusOr<JoinedRun> joined = JoinAlone(state, 2);
  ASSERT_THAT(joined, IsOk());
  EXPECT_EQ(joined->reporter->run(), state.run);
  EXPECT_EQ(StateOf(state.run), "done");
  EXPECT_THAT(joined->reporter->Finish(/*failed=*/true, "stopped by a signal"), IsOk());
  EXPECT_EQ(StateOf(state.run), "done");
}

TEST_F(JoinedRunTest, ARunThatIsDoneStaysSoInAnotherWorld) {
  const Checkpoint state = Done();
  const auto join = [&](std::uint64_t planned_steps, bool follows) {
    return [&, planned_steps, follows](const std::unique_ptr<GradientSync>& sync) {
      const absl::StatusOr<JoinedRun> joined = Join(state, *sync, planned_steps);
      ASSERT_THAT(joined, IsOk());
      EXPECT_EQ(joined->follows, follows);
      EXPECT_EQ(joined->reporter->run() != state.run, follows);
      EXPECT_THAT(sync->Barrier(), IsOk());
    };
  };
  WithTwoRanks(join(2, false), join(2, false));
  WithTwoRanks(join(4, true), join(4, true));
  EXPECT_EQ(StateOf(state.run), "done");
}

TEST_F(JoinedRunTest, AnOpenRunEndsWhereAnotherWorldGoesOn) {
  Checkpoint state = TwoStepsMade();
  state.position.world_size = 2;
  const absl::StatusOr<JoinedRun> joined = JoinAlone(state, 4);
  ASSERT_THAT(joined, IsOk());
  EXPECT_EQ(StateOf(state.run), "failed");
  EXPECT_EQ(StateOf(joined->reporter->run()), "running");
  EXPECT_EQ(JoinAlone(state, 4)->reporter->run(), joined->reporter->run());
}

TEST_F(JoinedRunTest, ARefusedRecordOfTheFormerRunHoldsNothingBack) {
  Checkpoint state = TwoStepsMade();
  state.position.world_size = 2;
  state.unsent.steps = {{.rank = 0, .attempt = 9, .steps = {Step(1)}}};
  EXPECT_THAT(JoinAlone(state, 4), IsOk());
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("refused 1 records of run " + state.run)));
  EXPECT_EQ(StateOf(state.run), "failed");
}

TEST_F(JoinedRunTest, AServerThatLacksTheRunGetsAnotherOneWithoutItsRecords) {
  Checkpoint state = TwoStepsMade();
  state.unsent.evaluations = {{.step = 2, .split = "val"}};
  const absl::StatusOr<std::unique_ptr<TestServer>> other = TestServer::Start();
  connection_ = Connect(**other);
  const absl::StatusOr<JoinedRun> joined = JoinAlone(state, 4);
  ASSERT_THAT(joined, IsOk());
  EXPECT_TRUE(joined->follows);
  EXPECT_NE(joined->key, state.key);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("has no run " + state.run)));
  EXPECT_THAT(lines_.front(), HasSubstr("goes on as run " + joined->reporter->run()));
  EXPECT_THAT(lines_.front(), HasSubstr("1 records of it"));
  EXPECT_THAT(joined->reporter->unsent().evaluations, IsEmpty());
  EXPECT_EQ(JoinAlone(state, 4)->reporter->run(), joined->reporter->run());
}

TEST_F(JoinedRunTest, NothingIsReportedToAServerThatLacksARunWithoutStepsLeft) {
  const Checkpoint state = Done();
  const absl::StatusOr<std::unique_ptr<TestServer>> other = TestServer::Start();
  connection_ = Connect(**other);
  const absl::StatusOr<JoinedRun> joined = JoinAlone(state, 2);
  ASSERT_THAT(joined, IsOk());
  EXPECT_EQ(joined->reporter->run(), state.run);
  EXPECT_THAT(StateOfRun(*connection_, state.run), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no run")));
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("nothing is reported")));
}

TEST_F(JoinedRunTest, RanksThatReportToDifferentServersEndByName) {
  const absl::StatusOr<std::unique_ptr<TestServer>> other = TestServer::Start();
  ASSERT_THAT(other, IsOk());
  const std::shared_ptr<Connection> elsewhere = Connect(**other);
  const std::string reason = "rank 1 finds no run ";
  std::string run;
  WithTwoRanks(
      [&](const std::unique_ptr<GradientSync>& sync) {
        EXPECT_THAT(JoinAt(connection_, {}, *sync, 4),
                    StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 1 failed: " + reason)));
      },
      [&](const std::unique_ptr<GradientSync>& sync) {
        const absl::Status status = JoinAt(elsewhere, {}, *sync, 4).status();
        EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                                     AllOf(HasSubstr(reason), HasSubstr("on server " + (*other)->address()),
                                           HasSubstr("begun it on server " + server_->address()))));
        run = std::string(status.message().substr(reason.size()));
        run.resize(run.find(' '));
        sync->Leave(status);
      });
  EXPECT_EQ(StateOf(run), "failed");
  EXPECT_THAT(StateOfRun(*elsewhere, run), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no run")));
}

TEST_F(JoinedRunTest, ARunThatTheOtherRanksDoNotJoinIsClosed) {
  Checkpoint state = TwoStepsMade();
  state.position.world_size = 2;
  WithTwoRanks(
      [&](const std::unique_ptr<GradientSync>& sync) {
        EXPECT_THAT(Join(state, *sync, 4),
                    StatusIs(absl::StatusCode::kAborted, HasSubstr("rank 1 failed: no")));
      },
      [](const std::unique_ptr<GradientSync>& sync) {
        EXPECT_THAT(sync->AllSucceed(absl::OkStatus()), IsOk());  // the former run is looked up
        EXPECT_THAT(sync->Share(""), IsOk());                     // its state
        EXPECT_THAT(sync->Share(""), IsOk());                     // the key of the run that rank 0 then begins
        sync->Leave(absl::InternalError("no"));
      });
  EXPECT_EQ(StateOf(state.run), "failed");
}

}  // namespace
}  // namespace packtrain::trainer
