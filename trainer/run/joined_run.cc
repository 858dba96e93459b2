#include "trainer/run/joined_run.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/run_lookup.h"
#include "proto/base/content_hash.h"
#include "proto/base/random_hex.h"
#include "proto/base/status_macros.h"
#include "trainer/ranks/work_together.h"

namespace packtrain::trainer {
namespace {

using Reporter = std::unique_ptr<client::RunReporter>;
using Progress = std::function<void(const std::string&)>;

// Of a run that is on no server, or has no such rank: drops everything.
class NoReports final : public client::RunReporter {
 public:
  explicit NoReports(std::string run) : run_(std::move(run)) {}

  const std::string& run() const override { return run_; }
  std::uint32_t attempt() const override { return 0; }
  absl::Status Flush() override { return absl::OkStatus(); }
  void Hurry() override {}
  client::UnsentRecords unsent() const override { return {}; }
  std::size_t outstanding() const override { return 0; }
  std::uint64_t lost() const override { return 0; }

 private:
  absl::Status End(bool, const std::string&, std::optional<std::uint64_t>) override { return absl::OkStatus(); }
  void Add(client::ReportedRecord) override {}

  const std::string run_;
};

// How a training and its run go on.
enum class Course {
  kBegin,   // it has made no step: a run begins
  kGoOn,    // a new attempt of its run
  kFollow,  // another run begins where the former one ends
  kLook     // no step is left to make: rank 0 ends the run, where it has not ended
};

bool HasOtherWorld(const Checkpoint& state, const World& world) {
  return state.position.world_size != world.size;
}

Course CourseOf(const Checkpoint& state, const World& world, bool known, std::uint64_t planned_steps) {
  if (state.position.steps == 0) return Course::kBegin;
  if (state.position.steps >= planned_steps) return Course::kLook;
  return known && !HasOtherWorld(state, world) ? Course::kGoOn : Course::kFollow;
}

// That of a run which follows comes from the checkpoint, so that a second resume from that joins the same one.
std::string KeyFor(Course course, const Checkpoint& state, const World& world) {
  if (course == Course::kBegin) return base::RandomHex();
  if (course != Course::kFollow) return state.key;
  return base::HexSha256(
      absl::StrCat(state.key, ", ", state.position.steps, " steps, then on ", world.size, " ranks"));
}

void Add(const client::UnsentRecords& unsent, client::RunReporter& reporter) {
  for (const client::AttemptSteps& steps : unsent.steps) reporter.AddSteps(steps);
  for (const client::Evaluation& evaluation : unsent.evaluations) reporter.AddEvaluation(evaluation);
  for (const client::LostRecords& lost : unsent.lost) reporter.AddLost(lost);
}

std::uint64_t CountRecords(const client::UnsentRecords& unsent) {
  std::uint64_t count = unsent.evaluations.size();
  for (const client::AttemptSteps& steps : unsent.steps) count += steps.steps.size();
  return count;
}

// The ranks' way into their run. Used by one thread.
class Joining {
 public:
  Joining(std::shared_ptr<client::Connection> connection, client::RunDescription description,
          client::ReporterOptions options, const Checkpoint& state, GradientSync& sync,
          const Progress& progress)
      : connection_(std::move(connection)),
        description_(std::move(description)),
        options_(std::move(options)),
        state_(state),
        sync_(sync),
        progress_(progress) {}

  absl::StatusOr<JoinedRun> Join() {
    ABSL_RETURN_IF_ERROR(LookUpFormerRun());
    course_ = CourseOf(state_, sync_.world(), known(), description_.planned_steps);
    if (course_ == Course::kFollow) description_.labels.insert_or_assign("resumed_from", state_.run);
    ABSL_ASSIGN_OR_RETURN(std::string key, sync_.Share(KeyFor(course_, state_, sync_.world())));
    ABSL_ASSIGN_OR_RETURN(Reporter reporter, StartOnAll(key));
    ABSL_RETURN_IF_ERROR(sync_.AllSucceed(WorkTogether(sync_, [&] { return PassOnUnsent(*reporter); })));
    return JoinedRun{std::move(key), std::move(reporter), course_ == Course::kFollow};
  }

 private:
  // Rank 0 asks for all.
  absl::Status LookUpFormerRun() {
    if (state_.position.steps == 0) return absl::OkStatus();
    absl::StatusOr<std::string> found = IsFirst() ? client::StateOfRun(*connection_, state_.run) : "";
    if (absl::IsNotFound(found.status())) found = "";
    ABSL_RETURN_IF_ERROR(sync_.AllSucceed(found.status()));
    ABSL_ASSIGN_OR_RETURN(former_, sync_.Share(*found));
    return absl::OkStatus();
  }

  // Rank 0 starts the run, the others join it by its key.
  absl::StatusOr<Reporter> StartOnAll(const std::string& key) {
    absl::StatusOr<Reporter> reporter = Reporter();
    if (IsFirst()) reporter = Start(key, description_, course_ == Course::kFollow && known() ? state_.run : "");
    const absl::Status joined = JoinOthers(key, reporter);
    if (joined.ok()) return reporter;
    if (IsFirst() && reporter.ok()) {
      (*reporter)->Finish(/*failed=*/true, std::string(joined.message())).IgnoreError();
    }
    return joined;
  }

  absl::Status JoinOthers(const std::string& key, absl::StatusOr<Reporter>& reporter) {
    ABSL_RETURN_IF_ERROR(sync_.AllSucceed(reporter.status()));
    ABSL_ASSIGN_OR_RETURN(const std::string run, sync_.Share(IsFirst() ? (*reporter)->run() : ""));
    ABSL_ASSIGN_OR_RETURN(const std::string server, sync_.Share(connection_->options().server));
    if (!IsFirst()) reporter = JoinBegun(key, run, server);
    return sync_.AllSucceed(reporter.status());
  }

  // `run` is the one that rank 0 has begun on `server`, by that one's address as rank 0 has it.
  absl::StatusOr<Reporter> JoinBegun(const std::string& key, const std::string& run,
                                     const std::string& server) {
    absl::StatusOr<Reporter> reporter = Start(key, description_, /*follows=*/"");
    if (reporter.ok() && (*reporter)->run() == run) return reporter;
    if (!reporter.ok() && !absl::IsNotFound(reporter.status())) return reporter;
    const absl::Status apart = absl::FailedPreconditionError(
        absl::StrCat("rank ", sync_.world().rank, " finds no run ", run, " on server ",
                     connection_->options().server, ": rank 0 has begun it on server ", server,
                     "; all ranks report to one data node (--run-server, or --server where it is not given)"));
    // A server that does not know of joining has begun a run of its own.
    if (reporter.ok()) (*reporter)->Finish(/*failed=*/true, std::string(apart.message())).IgnoreError();
    return apart;
  }

  absl::StatusOr<Reporter> Start(const std::string& key, const client::RunDescription& description,
                                 const std::string& follows) const {
    if (course_ == Course::kLook && !(IsFirst() && IsOpen())) return std::make_unique<NoReports>(state_.run);
    client::ReporterOptions options = options_;
    options.idempotency_key = key;
    options.rank = sync_.world().rank;
    options.first_step = state_.position.steps;
    options.join_only = !IsFirst();
    options.follows = follows;
    return client::RunReporter::Start(connection_, description, std::move(options));
  }

  absl::Status PassOnUnsent(client::RunReporter& reporter) const {
    if (!IsFirst() || course_ == Course::kBegin) return absl::OkStatus();
    if (!known()) {
      SayThatNobodyKnowsIt(reporter);
      return absl::OkStatus();
    }
    if (course_ == Course::kFollow) return EndFormerRun(reporter.run());
    Add(state_.unsent, reporter);
    return absl::OkStatus();
  }

  void SayThatNobodyKnowsIt(const client::RunReporter& reporter) const {
    std::string line = absl::StrCat("server ", connection_->options().server, " has no run ", state_.run,
                                    ", which the checkpoint is of: ");
    absl::StrAppend(&line, course_ == Course::kLook ? "nothing is reported"
                                                    : absl::StrCat("it goes on as run ", reporter.run()));
    if (const std::uint64_t records = CountRecords(state_.unsent); records > 0) {
      absl::StrAppend(&line, "; ", records, " records of it that no server had taken are dropped");
    }
    progress_(line);
  }

  // A record that the server refuses is no reason to stay where it was refused.
  absl::Status EndFormerRun(const std::string& successor) const {
    if (!IsOpen()) return absl::OkStatus();
    client::RunDescription description = description_;
    description.planned_steps = state_.position.steps;  // none is left to make: those of the run stay
    ABSL_ASSIGN_OR_RETURN(Reporter former, Start(state_.key, description, /*follows=*/""));
    Add(state_.unsent, *former);
    const absl::Status ended = former->Finish(
        /*failed=*/true,
        absl::StrCat("after ", state_.position.steps, " steps it went on as run ", successor,
                     " with world size ", description_.world_size),
        state_.position.steps);
    if (absl::IsUnavailable(ended)) return ended;
    if (!ended.ok()) progress_(std::string(ended.message()));
    return absl::OkStatus();
  }

  bool IsFirst() const { return sync_.world().rank == 0; }
  bool known() const { return !former_.empty(); }
  // A run that is done has all its records, and stays done.
  bool IsOpen() const { return known() && former_ != "done"; }

  const std::shared_ptr<client::Connection> connection_;
  client::RunDescription description_;
  const client::ReporterOptions options_;
  const Checkpoint& state_;
  GradientSync& sync_;
  const Progress& progress_;
  std::string former_;  // state of the run that `state_` is of; empty: there is none, or the server lacks it
  Course course_ = Course::kBegin;
};

}  // namespace

absl::StatusOr<JoinedRun> JoinRun(std::shared_ptr<client::Connection> connection,
                                  client::RunDescription description, client::ReporterOptions options,
                                  const Checkpoint& state, GradientSync& sync, const Progress& progress) {
  return Joining(std::move(connection), std::move(description), std::move(options), state, sync, progress)
      .Join();
}

}  // namespace packtrain::trainer
