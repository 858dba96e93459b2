#include "server/runs/fsck.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_records.h"

namespace packtrain::runs {
namespace {

// The sort of a row, its family, what its key begins with, and whether key and value are as they must be.
struct Sort {
  std::string_view name;
  Family family;
  std::string (*prefix)(std::string_view run);
  absl::Status (*check)(std::string_view key, std::string_view value);
};

template <typename Message>
absl::Status CheckMessage(std::string_view, std::string_view value) {
  Message message;
  return ParseRecord(value, message);
}

absl::Status CheckSteps(std::string_view key, std::string_view value) {
  ABSL_RETURN_IF_ERROR(ReporterOfStepBlockKey(key).status());
  return ParseSteps(value).status();
}

absl::Status CheckSample(std::string_view key, std::string_view value) {
  ABSL_RETURN_IF_ERROR(ReporterOfSampleKey(key).status());
  return CheckMessage<v1::Sample>(key, value);
}

absl::Status CheckEvent(std::string_view key, std::string_view value) {
  ABSL_RETURN_IF_ERROR(ReporterOfEventKey(key).status());
  return CheckMessage<v1::Event>(key, value);
}

absl::Status CheckLostRecords(std::string_view key, std::string_view value) {
  ABSL_RETURN_IF_ERROR(ReporterOfLostRecordsKey(key).status());
  return CheckMessage<v1::ReportLostRecordsRequest>(key, value);
}

absl::Status CheckPlace(std::string_view, std::string_view value) { return ParsePlace(value).status(); }

absl::Status CheckAttempt(std::string_view key, std::string_view value) {
  ABSL_RETURN_IF_ERROR(ReporterOfAttemptKey(key).status());
  return CheckMessage<v1::StartRunRequest>(key, value);
}

constexpr Sort kDescriptions = {"description", Family::kRuns, DescriptionKey, CheckMessage<v1::Run>};
constexpr Sort kProgress = {"progress", Family::kRuns, ProgressKey, CheckMessage<v1::Run>};
constexpr Sort kPlaces = {"place", Family::kRuns, PlaceKey, CheckPlace};

// Of one run: keys that are the prefix, NAME, a zero and more.
constexpr Sort kRows[] = {
    {"attempts", Family::kRuns, AttemptPrefix, CheckAttempt},
    {"steps", Family::kSteps, StepPrefix, CheckSteps},
    {"evaluations", Family::kRuns, EvaluationPrefix, CheckMessage<v1::Evaluation>},
    {"samples", Family::kSamples, SamplePrefix, CheckSample},
    {"events", Family::kSamples, EventPrefix, CheckEvent},
    {"lost records", Family::kRuns, LostRecordsPrefix, CheckLostRecords},
    {"corrupt graphs", Family::kSamples, CorruptGraphsPrefix, CheckMessage<v1::CorruptGraphs>}};

// The corrupt rows of a sort, reported as one finding. The scan goes on behind each of them.
class CorruptRows {
 public:
  explicit CorruptRows(std::string_view sort) : sort_(sort) {}

  void Note(const absl::Status& status) {
    if (status.ok()) return;
    if (rows_++ == 0) first_ = status;
  }

  // Nothing where all is well.
  absl::Status Report(const std::string& run, rocks::CheckReport& report) const {
    if (rows_ == 0) return absl::OkStatus();
    v1::FsckFinding finding = rocks::Finding(
        v1::FSCK_KIND_RUN, absl::StrCat(std::string(sort_), ": ", first_.message(),
                                        rows_ == 1 ? "" : absl::StrCat(", and ", rows_ - 1, " more like it")));
    finding.set_run(run);
    return report.Find(std::move(finding));
  }

 private:
  const std::string_view sort_;
  std::uint64_t rows_ = 0;
  absl::Status first_;
};

// Reads a database once.
class DatabaseCheck {
 public:
  DatabaseCheck(const rocks::Database& database, rocks::CheckReport& report)
      : database_(database), report_(report) {}

  absl::Status Run() {
    // The runs last: one that begins meanwhile may be known without its rows, but not the other way round.
    NoteReported();
    absl::Status status = CheckNamed(kProgress, reported_);
    if (status.ok()) status = CheckNamed(kPlaces, reported_);
    if (status.ok()) status = NoteStarts();
    if (status.ok()) status = CheckNamed(kDescriptions, runs_);
    if (status.ok()) status = CheckReported();
    return status.ok() ? CheckRuns() : status;
  }

 private:
  void NoteReported() {
    for (const Sort& sort : kRows) {
      const absl::StatusOr<std::vector<std::string>> names = NamesIn(database_, sort.family, KindOf(sort));
      if (names.ok()) reported_.insert(names->begin(), names->end());  // what cannot be read is found below
    }
  }

  static std::string KindOf(const Sort& sort) {
    std::string kind = sort.prefix("");
    kind.pop_back();  // the zero
    return kind;
  }

  // Rows whose keys are a prefix and NAME; adds the names to `names`.
  absl::Status CheckNamed(const Sort& sort, std::set<std::string>& names) {
    const std::string prefix = sort.prefix("");
    absl::Status stopped;
    const absl::Status scanned =
        database_.Scan(sort.family, prefix, [&](std::string_view key, std::string_view value) {
          const std::string& run = *names.emplace(key.substr(prefix.size())).first;
          report_.CountBytes(value.size());
          CorruptRows corrupt(sort.name);
          corrupt.Note(sort.check(key, value));
          return stopped = corrupt.Report(run, report_);
        });
    return stopped.ok() ? ReportScan(sort.name, scanned) : stopped;
  }

  absl::Status NoteStarts() {
    const auto note = [this](std::string_view, std::string_view name) {
      reported_.emplace(name);
      return absl::OkStatus();
    };
    return ReportScan("keys of starts", database_.Scan(Family::kRuns, kIdempotencyPrefix, note));
  }

  absl::Status ReportScan(std::string_view sort, const absl::Status& scanned) {
    if (scanned.ok()) return scanned;
    return report_.Find(rocks::Finding(v1::FSCK_KIND_STORE,
                                       absl::StrCat("runs, ", std::string(sort), ": ", scanned.message())));
  }

  absl::Status CheckReported() {
    for (const std::string& run : reported_) {
      if (runs_.contains(run)) continue;
      v1::FsckFinding finding =
          rocks::Finding(v1::FSCK_KIND_RUN, "something was reported of it, but there is no such run");
      finding.set_run(run);
      ABSL_RETURN_IF_ERROR(report_.Find(std::move(finding)));
    }
    return absl::OkStatus();
  }

  absl::Status CheckRuns() {
    v1::FsckSummary& summary = report_.summary();
    for (const std::string& run : runs_) {
      ABSL_RETURN_IF_ERROR(report_.Tell("runs", summary.runs(), runs_.size()));
      summary.set_runs(summary.runs() + 1);
      for (const Sort& sort : kRows) {
        ABSL_RETURN_IF_ERROR(CheckRows(sort, run));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckRows(const Sort& sort, const std::string& run) {
    CorruptRows corrupt(sort.name);
    corrupt.Note(
        database_.Scan(sort.family, sort.prefix(run), [&](std::string_view key, std::string_view value) {
          report_.CountBytes(value.size());
          corrupt.Note(sort.check(key, value));
          return absl::OkStatus();
        }));
    return corrupt.Report(run, report_);
  }

  const rocks::Database& database_;
  rocks::CheckReport& report_;
  std::set<std::string> reported_;  // runs that rows name
  std::set<std::string> runs_;      // runs that have a description
};

}  // namespace

absl::Status Fsck(const rocks::Database& database, rocks::CheckReport& report) {
  return DatabaseCheck(database, report).Run();
}

}  // namespace packtrain::runs
