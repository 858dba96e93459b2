// A disk whose n-th operation fails, for every n: each report ends in a status, what was acknowledged is there
// once, in this process and in the next, and the same report succeeds once the disk is well.
#include "tests/testing/faulty_disk.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/server/runs/run_fixtures.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::FaultyDisk;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::IsSubsetOf;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

const v1::StartRunRequest& Request() {
  static const auto& request = *new v1::StartRunRequest([] {
    v1::StartRunRequest started = StartRequest("key-00000001");
    started.set_process_key("process a");
    return started;
  }());
  return request;
}

v1::Evaluation TestEvaluation() {
  v1::Evaluation evaluation;
  evaluation.set_step(9);
  evaluation.set_split("val");
  evaluation.set_mae(0.5);
  return evaluation;
}

// One trainer's calls in order, each repeated by the next Run until it is acknowledged.
class Trainer {
 public:
  // Ends with the first call that fails.
  absl::Status Run(RunStore& store) {
    for (; next_ < 5; ++next_) {
      if (absl::Status status = Call(store); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const std::string& run() const { return reporter_.run; }

  // What was acknowledged is there, and nothing that was never sent.
  void ExpectStored(RunStore& store) const {
    if (next_ == 0) return;
    std::vector<std::uint64_t> steps;
    for (const StoredStep& stored : StoredSteps(store, reporter_.run)) steps.push_back(stored.step);
    EXPECT_THAT(steps, IsSupersetOf(StepNumbers(next_ - 1)));
    EXPECT_THAT(steps, IsSubsetOf(StepNumbers(next_)));
    const auto run = store.Get(reporter_.run);
    ASSERT_THAT(run, IsOk());
    EXPECT_EQ(run->steps(), steps.size());
    if (next_ == 5) {
      EXPECT_EQ(run->state(), v1::RUN_STATE_DONE);
    }
  }

 private:
  absl::Status Call(RunStore& store) {
    switch (next_) {
      case 0:
        return Start(store);
      case 1:
        return store.AddSteps(reporter_, Steps(0, 9)).status();
      case 2:
        return store.AddSteps(reporter_, Steps(5, 19)).status();
      case 3:
        return store.AddEvaluation(reporter_.run, TestEvaluation());
      default:
        return store.Finish(reporter_.run, v1::RUN_STATE_DONE, "");
    }
  }

  absl::Status Start(RunStore& store) {
    const absl::StatusOr<v1::StartRunResponse> started = store.Start(Request());
    if (!started.ok()) return started.status();
    reporter_ = {started->run(), 0, started->attempt()};
    return absl::OkStatus();
  }

  // Of what the first `calls` calls after the start report.
  static std::vector<std::uint64_t> StepNumbers(int calls) {
    std::vector<std::uint64_t> steps(calls <= 0 ? 0 : calls == 1 ? 10 : 20);
    for (std::size_t k = 0; k < steps.size(); ++k) steps[k] = k;
    return steps;
  }

  int next_ = 0;
  Reporter reporter_;
};

// A trainer and the store it reports to, on a faulty disk.
struct Scene {
  FaultyDisk disk;
  TestRunStore store{disk.env()};
  Trainer trainer;
};

class FaultyDiskTest : public ::testing::TestWithParam<packtrain::testing::FaultCase> {
 protected:
  using Step = std::function<void(Scene&)>;

  // Calls `prepare`, and then `step` with operation n failing, on a fresh store for n = 0, 1, ... until none is
  // left to fail. After each, what was acknowledged is there and the trainer can go on.
  static void ForEveryOperation(const Step& prepare, const Step& step) {
    for (std::uint64_t n = 0;; ++n) {
      Scene scene;
      scene.store.Reopen();  // nothing is left in memory that a recovery would flush
      prepare(scene);
      scene.disk.Fail(n, GetParam().fault, GetParam().duration);
      step(scene);
      const std::string failed = scene.disk.Failed();
      scene.disk.Heal();
      SCOPED_TRACE(failed + ", operation " + std::to_string(n));
      ExpectWorkGoesOn(scene);
      if (failed.empty() || HasFailure()) return;
    }
  }

  static void ExpectWorkGoesOn(Scene& scene) {
    scene.trainer.ExpectStored(*scene.store);
    EXPECT_THAT(scene.trainer.Run(*scene.store), IsOk());
    scene.trainer.ExpectStored(*scene.store);
    scene.store.Reopen();
    scene.trainer.ExpectStored(*scene.store);
    EXPECT_THAT(scene.trainer.Run(*scene.store), IsOk());
    scene.trainer.ExpectStored(*scene.store);
    EXPECT_THAT(*scene.store->List(), SizeIs(1));
  }

  static void Report(Scene& scene) { EXPECT_THAT(scene.trainer.Run(*scene.store), IsOk()); }
};

TEST(MessagesTest, NothingEndsWhereRocksDbCannotWriteItsOwn) {
  Scene scene;
  scene.disk.FailMessages();
  EXPECT_THAT(scene.trainer.Run(*scene.store), IsOk());
  scene.store.Reopen();
  scene.trainer.ExpectStored(*scene.store);
}

TEST_P(FaultyDiskTest, WhatWasAcknowledgedIsThereOnce) {
  ForEveryOperation([](Scene&) {}, [](Scene& scene) { (void)scene.trainer.Run(*scene.store); });
}

TEST_P(FaultyDiskTest, AnOpeningGivesAStatus) {
  ForEveryOperation(Report, [](Scene& scene) {
    const absl::Status opened = scene.store.TryReopen();
    scene.disk.Heal();
    if (!opened.ok()) scene.store.Reopen();
  });
}

TEST_P(FaultyDiskTest, AReadGivesAStatusOrTheRecords) {
  const auto prepare = [](Scene& scene) {
    Report(scene);
    scene.store.Reopen();  // it has read no step yet
  };
  ForEveryOperation(prepare, [](Scene& scene) {
    std::size_t steps = 0;
    const absl::Status read =
        scene.store->ReadSteps(scene.trainer.run(), [&](const auto&, const auto& records) {
          steps += records.size();
          return absl::OkStatus();
        });
    EXPECT_TRUE(!read.ok() || steps == 20) << steps;
    EvaluationsIn(*scene.store, scene.trainer.run()).IgnoreError();
  });
}

TEST_P(FaultyDiskTest, AnAttemptWhoseOpeningFailedIsOpenedByTheSameCallAgain) {
  ForEveryOperation(Report, [](Scene& scene) {
    v1::StartRunRequest request = Request();
    request.set_process_key("process b");
    request.set_first_step(20);
    (void)scene.store->Start(request);
    scene.disk.Heal();
    const absl::StatusOr<v1::StartRunResponse> opened = scene.store->Start(request);
    ASSERT_THAT(opened, IsOk());
    EXPECT_EQ(opened->attempt(), 1u);
    EXPECT_EQ(scene.store->Get(scene.trainer.run())->state(), v1::RUN_STATE_RUNNING);
    EXPECT_THAT(scene.store->AddSteps({scene.trainer.run(), 0, 1}, Steps(10, 19)),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(scene.store->Finish(scene.trainer.run(), v1::RUN_STATE_DONE, ""), IsOk());
  });
}

INSTANTIATE_TEST_SUITE_P(, FaultyDiskTest, ::testing::ValuesIn(packtrain::testing::FaultCases()),
                         [](const auto& tried) { return std::string(tried.param.name); });

}  // namespace
}  // namespace packtrain::runs
