#include "server/runs/stored_attempts.h"

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_records.h"

namespace packtrain::runs {
namespace {

using AttemptSink = absl::FunctionRef<void(const Reporter& reporter, const v1::StartRunRequest& request)>;

absl::Status ScanAttempts(const rocks::Database& database, std::string_view prefix, AttemptSink sink) {
  return database.Scan(Family::kRuns, prefix, [&sink](std::string_view key, std::string_view value) {
    ABSL_ASSIGN_OR_RETURN(const Reporter reporter, ReporterOfAttemptKey(key));
    v1::StartRunRequest request;
    ABSL_RETURN_IF_ERROR(ParseRecord(value, request));
    sink(reporter, request);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<analysis::OpenedAttempt>> ReadWithPrefix(const rocks::Database& database,
                                                                    std::string_view prefix) {
  std::vector<analysis::OpenedAttempt> attempts;
  ABSL_RETURN_IF_ERROR(
      ScanAttempts(database, prefix, [&attempts](const Reporter& reporter, const v1::StartRunRequest& request) {
        attempts.push_back({{reporter.rank, reporter.attempt}, request.first_step()});
      }));
  return attempts;
}

}  // namespace

absl::StatusOr<std::vector<analysis::OpenedAttempt>> ReadAttempts(const rocks::Database& database,
                                                                  std::string_view run) {
  return ReadWithPrefix(database, AttemptPrefix(run));
}

absl::StatusOr<std::vector<analysis::OpenedAttempt>> ReadAttemptsOfRank(const rocks::Database& database,
                                                                        std::string_view run,
                                                                        std::uint32_t rank) {
  return ReadWithPrefix(database, AttemptPrefix(run, rank));
}

absl::StatusOr<AttemptNumbers> FindAttempts(const rocks::Database& database, std::string_view run,
                                            std::uint32_t rank, std::string_view process_key) {
  AttemptNumbers found;
  const auto look = [&](const Reporter& reporter, const v1::StartRunRequest& request) {
    found.next = reporter.attempt + 1;
    const bool opened = !process_key.empty() && request.process_key() == process_key;
    if (opened && !found.of_process.has_value()) found.of_process = reporter.attempt;
  };
  ABSL_RETURN_IF_ERROR(ScanAttempts(database, AttemptPrefix(run, rank), look));
  return found;
}

absl::StatusOr<std::uint64_t> FirstStepOf(const rocks::Database& database, const Reporter& reporter) {
  ABSL_ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                        database.Get(Family::kRuns, AttemptKey(reporter)));
  if (!stored.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat("rank ", reporter.rank, " of run ", reporter.run,
                                                      " has no attempt ", reporter.attempt,
                                                      ": StartRun opens attempts"));
  }
  v1::StartRunRequest request;
  ABSL_RETURN_IF_ERROR(ParseRecord(*stored, request));
  return request.first_step();
}

absl::StatusOr<std::uint64_t> LostRecordsOf(const rocks::Database& database, const Reporter& reporter) {
  ABSL_ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                        database.Get(Family::kRuns, LostRecordsKey(reporter)));
  v1::ReportLostRecordsRequest lost;
  if (stored.has_value()) {
    ABSL_RETURN_IF_ERROR(ParseRecord(*stored, lost));
  }
  return lost.records();
}

absl::StatusOr<std::uint64_t> LostRecordsOfRun(const rocks::Database& database, std::string_view run) {
  std::uint64_t records = 0;
  ABSL_RETURN_IF_ERROR(database.Scan(Family::kRuns, LostRecordsPrefix(run),
                                     [&records](std::string_view, std::string_view value) {
                                       v1::ReportLostRecordsRequest lost;
                                       absl::Status status = ParseRecord(value, lost);
                                       records += lost.records();
                                       return status;
                                     }));
  return records;
}

}  // namespace packtrain::runs
