// Reports a training run to a server, in the background.
//
// For a trainer that wants its steps shown and compared: what it adds is queued at once and sent beside the
// training, and sent again until the server has it.
//
//   const ReporterOptions options = {.idempotency_key = key};
//   ABSL_ASSIGN_OR_RETURN(auto reporter, RunReporter::Start(connection, {.model = "mine"}, options));
//   for (const wire::StepRecord& step : training) reporter->AddStep(step);
//   return reporter->Finish(/*failed=*/false, "");
#ifndef PACKTRAIN_CLIENT_RUN_REPORTER_H_
#define PACKTRAIN_CLIENT_RUN_REPORTER_H_

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/batch_reader.h"
#include "client/connection.h"
#include "proto/wire/batch_spec.h"
#include "proto/wire/step_columns.h"

namespace packtrain::client {

// Settings that can move a metric; see TrainerSettings in packtrain/v1/run.proto.
struct TrainerSettings {
  std::optional<std::uint32_t> threads = std::nullopt;
  std::optional<std::uint64_t> read_ahead_bytes = std::nullopt;
  std::optional<std::string> learning_rate_schedule = std::nullopt;
  std::optional<std::uint64_t> max_captures = std::nullopt;
  std::optional<std::uint64_t> evaluate_every = std::nullopt;
  std::optional<std::uint64_t> checkpoint_every = std::nullopt;
  std::map<std::string, std::string> other = {};  // by flag, without dashes
};

// See RunEnvironment in packtrain/v1/run.proto.
struct RunEnvironment {
  std::optional<std::uint32_t> server_builders = std::nullopt;
  std::optional<bool> shares_host_with_server = std::nullopt;
  std::optional<double> power_limit_watts = std::nullopt;
};

// What decides a run's speed; see RunDescription in packtrain/v1/run.proto.
struct RunDescription {
  std::string model;
  std::uint64_t parameters = 0;
  std::string target;
  std::string dataset;  // NAME@VERSION
  wire::BatchSpec spec;
  std::string plan_fingerprint;
  std::string precision = "f32";
  std::string engine = "eager";
  std::string optimizer;
  double learning_rate = 0;
  std::uint32_t world_size = 1;
  std::uint32_t model_seed = 0;
  std::string device;         // cpu, cuda
  std::string hardware_name;  // of the training device
  std::uint32_t device_count = 1;
  std::string cpu;
  std::string host;
  std::string driver;
  std::map<std::string, std::string> libraries;
  std::string git_revision;
  std::map<std::string, std::string> labels;
  std::string timing_method;
  std::uint64_t planned_steps = 0;
  OnCorrupt on_corrupt = OnCorrupt::kStop;
  std::string input = {};                                  // served, synthetic; empty: as `labels` say
  std::optional<TrainerSettings> settings = std::nullopt;  // given: so are both seeds
  RunEnvironment environment = {};
};

// Metrics of the model on one split; errors in the target's unit, NaN of a task without targets.
struct Evaluation {
  std::uint64_t step = 0;
  std::string split;
  std::uint64_t graphs = 0;
  double mae = 0;
  double rmse = 0;
  double constant_mae = 0;
  double constant_rmse = 0;
  std::uint64_t duration_ns = 0;
  // Of rank 0, that made it; absent: that of the reporter to which it is added.
  std::optional<std::uint32_t> attempt = std::nullopt;
  std::optional<double> accuracy = std::nullopt;  // 0 .. 1, of a choice among nodes
  std::optional<double> constant_accuracy = std::nullopt;
  std::optional<double> filter_error = std::nullopt;  // of a model that reads its filters off tables
};

// A reading of the process and its device. Negative: not readable here.
struct Sample {
  std::int64_t time_ns = 0;        // since 1970-01-01 UTC, by the wall clock
  std::int64_t monotonic_ns = -1;  // of a clock that nobody sets, which starts anywhere
  std::int64_t process_cpu_ns = -1;
  std::int64_t rss_bytes = -1;
  std::int64_t device_memory_bytes = -1;
  double device_use = -1;
  std::int64_t device_energy_uj = -1;
  std::string device_id{};  // names the device in the whole world; empty: not known
  std::int64_t step = -1;   // the last that had ended; AddSample says it
};

// What the process did beside its steps, such as a checkpoint. Its start is nanoseconds since 1970-01-01 UTC.
struct Event {
  std::string name;
  std::int64_t start_ns = 0;
  std::uint64_t duration_ns = 0;  // by a monotonic clock
  std::int64_t step = -1;         // the last that had ended when it began; negative: none
};

// What one batch came without; see CorruptGraphs in packtrain/v1/run.proto.
struct CorruptGraphs {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t batch_index = 0;
  std::string split;
  std::vector<std::uint64_t> graphs;  // ascending, at least one
};

// Step records of one rank and attempt, ascending.
struct AttemptSteps {
  std::uint32_t rank = 0;
  std::uint32_t attempt = 0;
  std::vector<wire::StepRecord> steps;
};

// How many records of every kind one rank and attempt has lost for good.
struct LostRecords {
  std::uint32_t rank = 0;
  std::uint32_t attempt = 0;
  std::uint64_t records = 0;
};

// What no server has acknowledged yet; and what is lost, which some server may know.
struct UnsentRecords {
  std::vector<AttemptSteps> steps;
  std::vector<Evaluation> evaluations;
  std::vector<LostRecords> lost;
};

struct ReporterOptions {
  std::string idempotency_key;  // equal on all ranks of a run; at least 8 characters
  std::uint32_t rank = 0;
  std::uint64_t first_step = 0;
  // The run is there already: Start joins it, or is NOT_FOUND.
  bool join_only = false;
  // Name of the run that this one goes on with, from `first_step` on, with another number of ranks; empty:
  // none.
  std::string follows{};
  // Steps are sent in blocks of at most this many, at least this often.
  std::size_t block_steps = 256;
  std::chrono::milliseconds flush_every{500};
  // While the server cannot be reached, or is slow, records wait: of each kind this many in memory, and those
  // before them in a file without a name, which is gone with the process.
  std::size_t spool_after_records = 1 << 16;
  // Largest size of that file. Its blocks are packed as they are sent: about 100 bytes for a step.
  std::uint64_t spool_bytes = std::uint64_t{1} << 30;
  // Where it lies; empty, or where it cannot lie there: among the temporary files ($TMPDIR).
  std::string spool_folder = {};
  // Where the file takes no more, as it has its size or the disk is full, so many records of each kind are held
  // in memory; beyond, the oldest are lost and counted. No less than `spool_after_records`.
  std::size_t max_queued_records = 1 << 20;
  // Of steps, and of evaluations, unsent() has so many at most.
  std::size_t max_unsent_records = std::numeric_limits<std::size_t>::max();
};

// What a run reports: a kind of record each. How each kind is sent says client/internal/report_kinds.h.
using ReportedRecord =
    std::variant<wire::StepRecord, AttemptSteps, LostRecords, Evaluation, Sample, Event, CorruptGraphs>;

// Add*, but for AddSteps, block on neither network nor disk and may be called from any thread; background
// threads move what piles up to a file, and send and re-send until acknowledged. Steps are added in ascending
// order. Destroying a reporter abandons what is not acknowledged yet: Flush first.
class RunReporter {
 public:
  // Starts the run, or joins it.
  static absl::StatusOr<std::unique_ptr<RunReporter>> Start(std::shared_ptr<Connection> connection,
                                                            const RunDescription& description,
                                                            ReporterOptions options);
  virtual ~RunReporter() = default;

  virtual const std::string& run() const = 0;
  virtual std::uint32_t attempt() const = 0;

  void AddStep(const wire::StepRecord& step) { Add(step); }
  // Steps of this run that were left over: of an earlier attempt, or of another rank. They may be more than the
  // queue holds, so it waits for room while the file or the server takes any; none is lost before neither does.
  void AddSteps(AttemptSteps steps) { Add(std::move(steps)); }
  // Records of this run that were lost before: by an earlier attempt, or by another rank.
  void AddLost(LostRecords lost) { Add(lost); }
  void AddEvaluation(Evaluation evaluation) { Add(std::move(evaluation)); }
  // The sample's step becomes the last one that AddStep was given.
  void AddSample(Sample sample) { Add(std::move(sample)); }
  void AddEvent(Event event) { Add(std::move(event)); }
  void AddCorruptGraphs(CorruptGraphs batch) { Add(std::move(batch)); }

  // Blocks until everything added so far is acknowledged or lost, or none of it was for `give_up`; then says
  // how many records were not delivered, which stay queued: UNAVAILABLE, or the server's code where it answers
  // and takes none, such as RESOURCE_EXHAUSTED while its disk is full. Where the server refused records for
  // good, its code, and how many they were so far.
  virtual absl::Status Flush() = 0;
  // Flushes, then closes the run as done or failed; `message` says why, or what a run that is done lacks. For
  // one rank, after all have flushed. `end_step` is how many steps the training has made in all: what was
  // reported from there on is of an attempt that was given up. The run stays open where records were not
  // delivered.
  absl::Status Finish(bool failed, const std::string& message,
                      std::optional<std::uint64_t> end_step = std::nullopt) {
    return End(failed, message, end_step);
  }
  // From now on Flush and Finish do not wait for the server's return: they end with the first attempt that
  // fails.
  virtual void Hurry() = 0;

  // Everything added that is neither acknowledged, refused nor lost, samples, events and corrupt graphs
  // excepted, and what is lost. To be added again by whoever goes on with this run: a record that has arrived
  // after all counts once. Beyond `max_unsent_records` the oldest are left out and count as lost there, but not
  // here. Takes the memory that all of it takes, and may wait for the disk; other calls do not wait for it.
  virtual UnsentRecords unsent() const = 0;
  // How many records, of every kind, are neither acknowledged, refused nor lost.
  virtual std::size_t outstanding() const = 0;

  // Records lost because neither the queue nor its file had room, and those of AddLost. They are gone for good:
  // neither Flush nor a server that comes back brings them, and the run has a gap there. The server is told how
  // many they are.
  virtual std::uint64_t lost() const = 0;

 private:
  virtual absl::Status End(bool failed, const std::string& message, std::optional<std::uint64_t> end_step) = 0;
  virtual void Add(ReportedRecord record) = 0;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_RUN_REPORTER_H_
