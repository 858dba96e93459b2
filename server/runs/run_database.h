// The database of runs: its column families (run_keys.h says what they hold), and its format.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_DATABASE_H_
#define PACKTRAIN_SERVER_RUNS_RUN_DATABASE_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/rocks/database.h"

namespace packtrain::runs {

// `kFormat` holds the number of the format alone.
enum class Family : std::uint8_t { kFormat, kRuns, kSteps, kSamples };

// Creates the directory where it is missing. FAILED_PRECONDITION: another process has it open, or a newer
// version wrote it. Otherwise codes as rocks::Database::Open.
absl::StatusOr<std::unique_ptr<rocks::Database>> OpenRunDatabase(const std::string& directory,
                                                                 const rocks::DatabaseOptions& options);
// As rocks::Database::OpenForCheck.
absl::StatusOr<std::shared_ptr<const rocks::Database>> OpenRunDatabaseForCheck(
    const std::filesystem::path& directory);

// The distinct names in keys that are `prefix`, NAME, a zero and more, ascending. Reads one key for each.
absl::StatusOr<std::vector<std::string>> NamesIn(const rocks::Database& database, Family family,
                                                 std::string_view prefix);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_DATABASE_H_
