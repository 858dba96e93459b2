#include "trainer/run/checkpoint.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "proto/base/crc32c.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "trainer/run/checkpoint_folder.h"
#include "trainer/run/run_settings.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::ReadFile;
using packtrain::testing::StatusIs;
using packtrain::testing::TempFolder;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using ::testing::SizeIs;

wire::StepRecord Step(std::uint64_t step) {
  wire::StepRecord record;
  record.step = step;
  record.epoch = 3;
  record.batch_index = 2 * step;
  record.real = {15, 250, 4000};
  record.padded = {16, 320, 4992};
  record.total_ns = 1'000'000 + step;
  record.flags = wire::kShortBatch;
  record.loss = 0.25;
  return record;
}

TimeHistogram Times(const std::vector<std::uint64_t>& each) {
  TimeHistogram times;
  for (const std::uint64_t ns : each) times.Add(ns);
  return times;
}

// One of everything, as tests/golden/checkpoint.hex has it.
Checkpoint Sample() {
  Checkpoint checkpoint;
  checkpoint.settings = {{"--seed", "7"}, {"--model", "schnet"}};
  checkpoint.run = "20261128-024123-rdbq";
  checkpoint.key = "0123456789abcdef";
  checkpoint.position = {.steps = 42,
                         .epoch = 3,
                         .epoch_step = 11,
                         .epoch_steps = 74,
                         .world_size = 2,
                         .segments = {{.world_size = 1, .steps = 5}}};
  checkpoint.totals = {.steps = 42,
                       .graphs = 1260,
                       .steady_graphs = 900,
                       .steady_wait_ns = 5000,
                       .last_loss = 0.5,
                       .steady = Times({7'000'000, 8'000'000})};
  checkpoint.unsent.steps = {{.rank = 0, .attempt = 1, .steps = {Step(40), Step(41)}},
                             {.rank = 1, .attempt = 0, .steps = {Step(41)}}};
  checkpoint.unsent.evaluations = {{.step = 40, .split = "val", .graphs = 278, .mae = 0.5, .attempt = 1}};
  checkpoint.unsent.lost = {{.rank = 0, .attempt = 1, .records = 70}, {.rank = 1, .attempt = 0, .records = 3}};
  checkpoint.parameters = {1.5F, -2.0F};
  checkpoint.adam_mean = {0.25F, 0.125F};
  checkpoint.adam_square = {0.5F, 1.0F};
  return checkpoint;
}

// Bytes as lines of 32 hexadecimal digits.
std::string HexText(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
    if (i % 16 == 15 || i + 1 == bytes.size()) text += '\n';
  }
  return text;
}

// `bytes` with the checksum that belongs to them.
std::string Sealed(std::string bytes) {
  const std::size_t end = bytes.size() - sizeof(std::uint32_t);
  const std::uint32_t crc = base::Crc32c(std::as_bytes(std::span(bytes.data(), end)));
  std::memcpy(bytes.data() + end, &crc, sizeof(crc));
  return bytes;
}

TEST(Checkpoint, HasTheBytesOfItsFormat) {
  EXPECT_EQ(HexText(EncodeCheckpoint(Sample())), ReadFile(PACKTRAIN_GOLDEN "/checkpoint.hex"));
}

TEST(Checkpoint, IsReadAsItWasWritten) {
  const absl::StatusOr<Checkpoint> read = DecodeCheckpoint(EncodeCheckpoint(Sample()));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->settings, Sample().settings);
  EXPECT_EQ(read->position, Sample().position);
  EXPECT_EQ(read->unsent.steps.size(), 2);
  EXPECT_EQ(read->unsent.evaluations.front().split, "val");
  EXPECT_EQ(read->adam_square, Sample().adam_square);
  // The rest is compared as bytes.
  EXPECT_EQ(EncodeCheckpoint(*read), EncodeCheckpoint(Sample()));
}

TEST(Checkpoint, EveryTruncationIsRefused) {
  const std::string bytes = EncodeCheckpoint(Sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(DecodeCheckpoint(std::string_view(bytes).substr(0, size)),
                StatusIs(absl::StatusCode::kDataLoss))
        << size;
  }
  EXPECT_THAT(DecodeCheckpoint(bytes + '\0'), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("states")));
}

TEST(Checkpoint, EveryFlippedBitIsRefused) {
  std::string bytes = EncodeCheckpoint(Sample());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const auto mask = static_cast<char>(1 << (bit % 8));
    bytes[bit / 8] ^= mask;
    EXPECT_THAT(DecodeCheckpoint(bytes), Not(IsOk())) << bit;
    bytes[bit / 8] ^= mask;
  }
}

// Every field of 8 bytes, a count or not, set to a huge number under a checksum that is right.
TEST(Checkpoint, NoSizeThatItStatesTakesMemory) {
  const std::string bytes = EncodeCheckpoint(Sample());
  constexpr std::size_t kContent = 20;
  for (std::size_t offset = kContent; offset + 12 <= bytes.size(); ++offset) {
    for (const std::uint64_t huge : {~std::uint64_t{0}, std::uint64_t{1} << 40, std::uint64_t{1} << 61}) {
      std::string damaged = bytes;
      std::memcpy(damaged.data() + offset, &huge, sizeof(huge));
      const absl::StatusOr<Checkpoint> read = DecodeCheckpoint(Sealed(damaged));
      if (read.ok()) continue;  // a number that may be any
      EXPECT_THAT(read, AnyOf(StatusIs(absl::StatusCode::kDataLoss, HasSubstr("fields")),
                              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("columns")),
                              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("columns"))));
    }
  }
}

TEST(Checkpoint, OfAnotherFormatIsRefusedByName) {
  std::string bytes = EncodeCheckpoint(Sample());
  for (const char format : {'\0', '\6'}) {
    bytes[8] = format;
    EXPECT_THAT(
        DecodeCheckpoint(Sealed(bytes)),
        StatusIs(absl::StatusCode::kFailedPrecondition,
                 HasSubstr(absl::StrCat("format ", static_cast<int>(format), ", and this program reads"))));
  }
}

// Bytes of hexadecimal digits in lines.
std::string BytesOf(const std::string& hex) {
  std::string bytes;
  std::istringstream lines(hex);
  for (std::string line; lines >> line;) {
    for (std::size_t k = 0; k < line.size(); k += 2) {
      bytes += static_cast<char>(std::stoi(line.substr(k, 2), nullptr, 16));
    }
  }
  return bytes;
}

TEST(Checkpoint, OfTheFirstFormatIsRead) {
  const absl::StatusOr<Checkpoint> read =
      DecodeCheckpoint(BytesOf(ReadFile(PACKTRAIN_GOLDEN "/checkpoint_1.hex")));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->position, Sample().position);
  EXPECT_EQ(read->totals.steady, Sample().totals.steady);
  ASSERT_THAT(read->unsent.evaluations, SizeIs(1));
  EXPECT_EQ(read->unsent.evaluations.front().attempt, std::nullopt);
  Checkpoint completed = *read;
  completed.unsent.evaluations.front().attempt = 1;
  completed.unsent.lost = Sample().unsent.lost;
  EXPECT_EQ(EncodeCheckpoint(completed), EncodeCheckpoint(Sample()));
}

TEST(Checkpoint, OfTheSecondFormatIsReadAsOneThatLostNothing) {
  const absl::StatusOr<Checkpoint> read =
      DecodeCheckpoint(BytesOf(ReadFile(PACKTRAIN_GOLDEN "/checkpoint_2.hex")));
  ASSERT_THAT(read, IsOk());
  EXPECT_THAT(read->unsent.lost, IsEmpty());
  Checkpoint completed = *read;
  completed.unsent.lost = Sample().unsent.lost;
  EXPECT_EQ(EncodeCheckpoint(completed), EncodeCheckpoint(Sample()));
}

TEST(Checkpoint, OfTheThirdFormatIsReadAsOneWithoutAccuracies) {
  const absl::StatusOr<Checkpoint> read =
      DecodeCheckpoint(BytesOf(ReadFile(PACKTRAIN_GOLDEN "/checkpoint_3.hex")));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->unsent.evaluations.front().accuracy, std::nullopt);
  EXPECT_EQ(EncodeCheckpoint(*read), EncodeCheckpoint(Sample()));
}

TEST(Checkpoint, OfTheFourthFormatIsReadAsOneWithoutErrorsOfFilters) {
  const absl::StatusOr<Checkpoint> read =
      DecodeCheckpoint(BytesOf(ReadFile(PACKTRAIN_GOLDEN "/checkpoint_4.hex")));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->unsent.evaluations.front().filter_error, std::nullopt);
  EXPECT_EQ(EncodeCheckpoint(*read), EncodeCheckpoint(Sample()));
}

TEST(Checkpoint, KeepsWhatAnUnsentEvaluationMayHave) {
  Checkpoint checkpoint = Sample();
  checkpoint.unsent.evaluations.front().accuracy = 0.75;
  checkpoint.unsent.evaluations.front().filter_error = 1e-6;
  const absl::StatusOr<Checkpoint> read = DecodeCheckpoint(EncodeCheckpoint(checkpoint));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->unsent.evaluations.front().accuracy, 0.75);
  EXPECT_EQ(read->unsent.evaluations.front().constant_accuracy, std::nullopt);
  EXPECT_EQ(read->unsent.evaluations.front().filter_error, 1e-6);
}

// The number of step columns stands before the unsent steps.
TEST(Checkpoint, WithMoreStepColumnsThanThereAreIsOfANewerProgram) {
  const std::string bytes = EncodeUnsent(Sample().unsent);
  std::string newer = bytes, damaged = bytes;
  ++newer[0];
  damaged[0] = 20;
  EXPECT_THAT(DecodeUnsent(newer), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("22 columns")));
  EXPECT_THAT(DecodeUnsent(damaged), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("20 columns")));
}

TEST(Checkpoint, GrowsWithNoStepMade) {
  Checkpoint checkpoint = Sample();
  StepStatistics statistics;
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    wire::StepRecord step;
    step.total_ns = 1'000'000 + i % 65'536;
    statistics.Add(step);
    if (i != 100'000) continue;
    checkpoint.totals = statistics.totals();
    bytes = EncodeCheckpoint(checkpoint).size();
  }
  checkpoint.totals = statistics.totals();
  EXPECT_EQ(EncodeCheckpoint(checkpoint).size(), bytes);
}

TEST(UnsentRecords, OfACheckpointAreBoundedForAllRanksTogether) {
  client::UnsentRecords unsent = Sample().unsent;
  const std::size_t before = EncodeUnsent(unsent).size();
  unsent.steps.front().steps.push_back(Step(42));
  const std::uint64_t step_bytes = EncodeUnsent(unsent).size() - before;
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  for (const std::uint64_t ranks : {1, 8, 1000}) {
    const auto bytes_of_all = [&](std::uint64_t spool_bytes) {
      return MaxUnsentSteps(spool_bytes, static_cast<std::uint32_t>(ranks)) * step_bytes * ranks;
    };
    EXPECT_LE(bytes_of_all(0), kGiB / 4);
    EXPECT_LE(bytes_of_all(kGiB), kGiB);
    EXPECT_GT(bytes_of_all(kGiB), kGiB - ranks * step_bytes);
    EXPECT_LE(bytes_of_all(1000 * kGiB), 4 * kGiB);
  }
  EXPECT_GE(MaxUnsentSteps(0, 1), client::ReporterOptions().max_queued_records);
}

TEST(UnsentRecords, TravelBetweenRanks) {
  const std::string bytes = EncodeUnsent(Sample().unsent);
  const absl::StatusOr<client::UnsentRecords> read = DecodeUnsent(bytes);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(EncodeUnsent(*read), bytes);
  EXPECT_THAT(DecodeUnsent(bytes.substr(1)), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(StartAfter, IsTheNextStepOfTheEpoch) {
  const Position position{.steps = 5, .epoch = 1, .epoch_step = 4, .epoch_steps = 9, .world_size = 2};
  EXPECT_EQ(StartAfter(position, 2), (StreamStart{.epoch = 1, .step = 5}));
  EXPECT_EQ(StartAfter({}, 2), StreamStart());
}

TEST(StartAfter, IsTheNextEpochAfterTheLastStep) {
  const Position position{.steps = 9,
                          .epoch = 1,
                          .epoch_step = 8,
                          .epoch_steps = 9,
                          .world_size = 2,
                          .segments = {{.world_size = 1, .steps = 4}}};
  EXPECT_EQ(StartAfter(position, 2), (StreamStart{.epoch = 2}));
  EXPECT_EQ(StartAfter(position, 3), (StreamStart{.epoch = 2}));
}

TEST(StartAfter, AnotherWorldLeavesASegment) {
  const Position position{.steps = 50,
                          .epoch = 1,
                          .epoch_step = 6,
                          .epoch_steps = 9,
                          .world_size = 2,
                          .segments = {{.world_size = 1, .steps = 4}}};
  EXPECT_EQ(StartAfter(position, 2), (StreamStart{.epoch = 1, .step = 7, .segments = {{1, 4}}}));
  EXPECT_EQ(StartAfter(position, 3), (StreamStart{.epoch = 1, .step = 7, .segments = {{1, 4}, {2, 3}}}));
}

TEST(Settings, ThatDifferAreNamedWithBothValues) {
  wire::BatchSpec spec;
  spec.policy = wire::Policy::kDynamic;
  spec.graphs = 31;
  const Settings then = SettingsOf(spec);
  EXPECT_THAT(CheckSameSettings(then, SettingsOf(spec)), IsOk());
  spec.graphs = 15;
  spec.nodes = 320;
  spec.balance = wire::Balance::kCost;
  spec.cost = wire::CostCoefficients{.graph = 5, .node = 2, .edge = 1};
  EXPECT_THAT(CheckSameSettings(then, SettingsOf(spec)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("--graphs was '31' and is '15'"),
                             HasSubstr("--nodes was 'default' and is '320'"),
                             HasSubstr("--balance was 'none' and is 'cost'"),
                             HasSubstr("--cost was 'default' and is '5,2,1'"), Not(HasSubstr("--policy")))));
}

TEST(Settings, OfStepsAreTheEngineAndItsKernels) {
  const Settings then = SettingsOf(StepMaking{.captured = true});
  EXPECT_THAT(CheckSameSettings(then, SettingsOf(StepMaking{.captured = true})), IsOk());
  EXPECT_THAT(CheckSameSettings(then, SettingsOf(StepMaking{.plain_kernels = true})),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "--engine was 'captured' and is 'eager'; --plain-kernels was 'no' and is 'yes'"));
}

TEST(Settings, NameTheEngineOfARun) {
  EXPECT_EQ(EngineName({}), "eager");
  EXPECT_EQ(EngineName({.captured = true}), "captured");
  EXPECT_EQ(EngineName({.plain_kernels = true}), "eager-plain");
  EXPECT_EQ(EngineName({.captured = true, .plain_kernels = true}), "captured-plain");
}

TEST(CheckpointFolder, IsMadeAndHoldsNothingAtFirst) {
  const TempFolder folder;
  const absl::StatusOr<CheckpointFolder> opened = CheckpointFolder::Open(folder.PathOf("a/b"));
  ASSERT_THAT(opened, IsOk());
  EXPECT_THAT(opened->Read().value(), std::nullopt);
  EXPECT_FALSE(opened->SetAside().value());
}

TEST(CheckpointFolder, HoldsTheLastOneWritten) {
  const TempFolder folder;
  const CheckpointFolder opened = CheckpointFolder::Open(folder.PathOf("")).value();
  EXPECT_THAT(opened.Write("one"), IsOk());
  EXPECT_THAT(opened.Write("two"), IsOk());
  EXPECT_THAT(opened.Read().value(), Optional(std::string("two")));
}

TEST(CheckpointFolder, SetsTheFormerOneAside) {
  const TempFolder folder;
  const CheckpointFolder opened = CheckpointFolder::Open(folder.PathOf("")).value();
  EXPECT_THAT(opened.Write("one"), IsOk());
  EXPECT_TRUE(opened.SetAside().value());
  EXPECT_THAT(opened.Read().value(), std::nullopt);
  EXPECT_EQ(ReadFile(folder.PathOf("checkpoint.bin.before")), "one");
}

// What a kill in the middle of a write leaves behind.
TEST(CheckpointFolder, AnUnfinishedWriteIsNoCheckpoint) {
  const TempFolder folder;
  const CheckpointFolder opened = CheckpointFolder::Open(folder.PathOf("")).value();
  EXPECT_THAT(opened.Write("one"), IsOk());
  folder.Write("checkpoint.bin.unfinished", "half of tw");
  EXPECT_THAT(opened.Read().value(), Optional(std::string("one")));
  EXPECT_THAT(opened.Write("two"), IsOk());
  EXPECT_THAT(opened.Read().value(), Optional(std::string("two")));
}

// A limit on the size of files stands for a full disk.
TEST(CheckpointFolder, AWriteThatFailsLeavesTheFormerOne) {
  const TempFolder folder;
  const CheckpointFolder opened = CheckpointFolder::Open(folder.PathOf("")).value();
  EXPECT_THAT(opened.Write("one"), IsOk());
  const auto ignore = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const absl::Status written = opened.Write(std::string(4000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignore);
  EXPECT_THAT(written, AllOf(Not(IsOk()), StatusIs(written.code(), HasSubstr("--checkpoint"))));
  EXPECT_THAT(opened.Read().value(), Optional(std::string("one")));
  EXPECT_FALSE(std::filesystem::exists(folder.PathOf("checkpoint.bin.unfinished")));
}

TEST(CheckpointFolder, IsOpenOnceAtATime) {
  const TempFolder folder;
  std::optional<CheckpointFolder> opened = CheckpointFolder::Open(folder.PathOf("a")).value();
  const std::string holder = absl::StrCat("a is in use by process ", getpid(), " on host ");
  EXPECT_THAT(CheckpointFolder::Open(folder.PathOf("a")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(holder)));
  EXPECT_THAT(CheckpointFolder::Open(folder.PathOf("b")), IsOk());
  opened.reset();
  EXPECT_THAT(CheckpointFolder::Open(folder.PathOf("a")), IsOk());
}

// As after a kill: nothing but the kernel frees what a dead process held.
TEST(CheckpointFolder, IsFreeOnceItsProcessIsDead) {
  const TempFolder folder;
  const pid_t holder = fork();
  if (holder == 0) _exit(CheckpointFolder::Open(folder.PathOf("")).ok() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(holder, &status, 0), holder);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(CheckpointFolder::Open(folder.PathOf("")), IsOk());
}

TEST(CheckpointFolder, RefusesWhatIsNoFolderOrNoFile) {
  const TempFolder folder;
  EXPECT_THAT(CheckpointFolder::Open(folder.Write("file", "x")), Not(IsOk()));
  EXPECT_THAT(CheckpointFolder::Open("/proc/checkpoints"), Not(IsOk()));
  std::filesystem::create_directory(folder.PathOf("checkpoint.bin"));
  EXPECT_THAT(CheckpointFolder::Open(folder.PathOf(""))->Read(), Not(IsOk()));
}

TEST(CheckpointFolder, AnEmptyFileIsCorruptAndNotTheLackOfACheckpoint) {
  const TempFolder folder;
  folder.Write("checkpoint.bin", "");
  EXPECT_THAT(CheckpointFolder::Open(folder.PathOf(""))->Read(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("checkpoint.bin is corrupt: it is empty")));
}

TEST(CheckpointFolder, WaitsForNoPipe) {
  const TempFolder folder;
  const CheckpointFolder opened = CheckpointFolder::Open(folder.PathOf("")).value();
  ASSERT_EQ(mkfifo(folder.PathOf("checkpoint.bin").c_str(), 0600), 0);
  EXPECT_THAT(opened.Read(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("is not a plain file")));
  ASSERT_EQ(mkfifo(folder.PathOf("checkpoint.bin.unfinished").c_str(), 0600), 0);
  EXPECT_THAT(opened.Write("one"), Not(IsOk()));
}

TEST(CheckpointFolder, RefusesAFileTooGreatToBeACheckpoint) {
  const TempFolder folder;
  const CheckpointFolder opened = CheckpointFolder::Open(folder.PathOf("")).value();
  std::filesystem::resize_file(folder.Write("checkpoint.bin", "x"), std::uintmax_t{1} << 35);
  EXPECT_THAT(opened.Read(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("34359738368 bytes, of at most")));
}

}  // namespace
}  // namespace packtrain::trainer
