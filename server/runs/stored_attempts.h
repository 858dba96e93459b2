// The attempts of a run, as the database holds them.
#ifndef PACKTRAIN_SERVER_RUNS_STORED_ATTEMPTS_H_
#define PACKTRAIN_SERVER_RUNS_STORED_ATTEMPTS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/analysis/counted_records.h"
#include "server/runs/run_database.h"
#include "server/runs/run_store.h"

namespace packtrain::runs {

absl::StatusOr<std::vector<analysis::OpenedAttempt>> ReadAttempts(const rocks::Database& database,
                                                                  std::string_view run);
absl::StatusOr<std::vector<analysis::OpenedAttempt>> ReadAttemptsOfRank(const rocks::Database& database,
                                                                        std::string_view run,
                                                                        std::uint32_t rank);

// Of one rank.
struct AttemptNumbers {
  std::optional<std::uint32_t> of_process;  // none for an empty or unknown key
  std::uint32_t next = 0;
};
absl::StatusOr<AttemptNumbers> FindAttempts(const rocks::Database& database, std::string_view run,
                                            std::uint32_t rank, std::string_view process_key);

// The first step of the reporter's attempt. FAILED_PRECONDITION: it has not been opened.
absl::StatusOr<std::uint64_t> FirstStepOf(const rocks::Database& database, const Reporter& reporter);

// The records that the reporter's attempt has lost, and those that all attempts of a run have lost.
absl::StatusOr<std::uint64_t> LostRecordsOf(const rocks::Database& database, const Reporter& reporter);
absl::StatusOr<std::uint64_t> LostRecordsOfRun(const rocks::Database& database, std::string_view run);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_STORED_ATTEMPTS_H_
