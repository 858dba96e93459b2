// All that a training needs to go on where it stood, and its bytes. trainer/CHECKPOINT.md describes them.
#ifndef PACKTRAIN_TRAINER_RUN_CHECKPOINT_H_
#define PACKTRAIN_TRAINER_RUN_CHECKPOINT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/batch_reader.h"
#include "client/run_reporter.h"
#include "trainer/data/stream_start.h"
#include "trainer/run/run_settings.h"
#include "trainer/run/step_statistics.h"

namespace packtrain::trainer {

// The last batch whose optimiser step has ended on every rank.
struct Position {
  std::uint64_t steps = 0;  // made in all; where it is 0, no batch was trained and the rest says nothing
  std::uint64_t epoch = 0;
  std::uint64_t epoch_step = 0;
  std::uint64_t epoch_steps = 0;  // of that epoch
  std::uint32_t world_size = 1;
  std::vector<wire::Segment> segments = {};  // of that epoch, before the world had this size
  friend bool operator==(const Position&, const Position&) = default;
};

// The batches after `position` for a world of `world_size` ranks, whatever its size was before.
StreamStart StartAfter(const Position& position, std::uint32_t world_size);

// Complete: the server has acknowledged every step up to `position`, or its record is in `unsent`, or counts as
// lost there.
struct Checkpoint {
  Settings settings;
  std::string run;
  std::string key;  // idempotency key of the run
  Position position;
  StepTotals totals;                  // times of rank 0, graphs of all ranks
  client::UnsentRecords unsent = {};  // of all ranks, once it is written
  // One value a parameter, in the model's order; Adam's moments likewise.
  std::vector<float> parameters = {};
  std::vector<float> adam_mean = {};
  std::vector<float> adam_square = {};
};

std::string EncodeCheckpoint(const Checkpoint& checkpoint);
// Takes what earlier programs wrote, too. DATA_LOSS: not what EncodeCheckpoint writes, or corrupt.
// FAILED_PRECONDITION: of an unknown format, or with step columns that this program does not know. No size that
// the bytes state makes it take memory that the bytes do not fill.
absl::StatusOr<Checkpoint> DecodeCheckpoint(std::string_view bytes);

// How many unsent steps of each of `ranks` a checkpoint holds, so that it has a bound: those of all ranks take
// as much as one rank's file of them may, but 256 MiB where that is less, and 4 GiB where it is more.
std::size_t MaxUnsentSteps(std::uint64_t spool_bytes, std::uint32_t ranks);

// For the way from rank to rank.
std::string EncodeUnsent(const client::UnsentRecords& unsent);
absl::StatusOr<client::UnsentRecords> DecodeUnsent(std::string_view bytes);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_CHECKPOINT_H_
