#include "trainer/engine/joined_run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/wire/content_hash.h"
#include "proto/wire/random_hex.h"

namespace packtrain::trainer {
namespace {

using Reporter = std::unique_ptr<client::RunReporter>;

// In another world it follows from the checkpoint, so that a second resume from that joins the same run.
std::string KeyFor(const Checkpoint& state, const World& world) {
  if (state.position.steps == 0) return wire::RandomHex();
  if (!HasOtherWorld(state, world)) return state.key;
  return wire::HexSha256(
      absl::StrCat(state.key, ", ", state.position.steps, " steps, then on ", world.size, " ranks"));
}

void Add(const client::UnsentRecords& unsent, client::RunReporter& reporter) {
  for (const client::AttemptSteps& steps : unsent.steps) reporter.AddSteps(steps);
  for (const client::Evaluation& evaluation : unsent.evaluations) reporter.AddEvaluation(evaluation);
}

// Rank 0 starts the run, the others join it by its key.
absl::StatusOr<Reporter> StartOnAll(std::shared_ptr<client::Connection> connection,
                                    const client::RunDescription& description,
                                    const client::ReporterOptions& options, GradientSync& sync) {
  absl::StatusOr<Reporter> reporter = Reporter();
  if (options.rank == 0) reporter = client::RunReporter::Start(connection, description, options);
  if (!reporter.ok()) return reporter.status();
  if (absl::Status status = sync.Barrier(); !status.ok()) return status;
  return options.rank == 0 ? std::move(reporter)
                           : client::RunReporter::Start(std::move(connection), description, options);
}

absl::Status CloseFormerRun(std::shared_ptr<client::Connection> connection,
                            const client::RunDescription& description, const Checkpoint& state,
                            const std::string& successor) {
  absl::StatusOr<Reporter> former = client::RunReporter::Start(
      std::move(connection), description, {.idempotency_key = state.key, .first_step = state.position.steps});
  if (!former.ok()) return former.status();
  Add(state.unsent, **former);
  return (*former)->Finish(/*failed=*/true,
                           absl::StrCat("after ", state.position.steps, " steps it went on as run ", successor,
                                        " with world size ", description.world_size));
}

}  // namespace

bool HasOtherWorld(const Checkpoint& state, const World& world) {
  return state.position.steps > 0 && state.position.world_size != world.size;
}

absl::StatusOr<JoinedRun> JoinRun(std::shared_ptr<client::Connection> connection,
                                  client::RunDescription description, const Checkpoint& state,
                                  GradientSync& sync) {
  const World& world = sync.world();
  if (HasOtherWorld(state, world)) description.labels.emplace("resumed_from", state.run);
  absl::StatusOr<std::string> key = sync.Share("key", KeyFor(state, world));
  if (!key.ok()) return key.status();
  absl::StatusOr<Reporter> reporter =
      StartOnAll(connection, description,
                 {.idempotency_key = *key, .rank = world.rank, .first_step = state.position.steps}, sync);
  if (!reporter.ok()) return reporter.status();
  if (world.rank == 0 && !HasOtherWorld(state, world)) Add(state.unsent, **reporter);
  if (world.rank == 0 && HasOtherWorld(state, world)) {
    absl::Status closed = CloseFormerRun(std::move(connection), description, state, (*reporter)->run());
    if (!closed.ok()) return closed;
  }
  return JoinedRun{*std::move(key), *std::move(reporter)};
}

}  // namespace packtrain::trainer
