#include "server/runs/run_database.h"

#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::runs {
namespace {

constexpr char kFormatKey[] = "format";
constexpr char kFormat[] = "1";

// Keys are read in order, whole runs of them: a larger block compresses better.
constexpr std::size_t kBlockBytes = 32 << 10;

rocks::DatabaseLayout Layout() {
  return {
      .families = {{.name = "default", .block_bytes = kBlockBytes},
                   // Texts, read whole when the store opens: unpacking must be fast.
                   {.name = "runs", .compression = rocks::Compression::kLz4, .block_bytes = kBlockBytes},
                   // Most of the bytes by far, columns of counters that shrink well.
                   {.name = "steps", .compression = rocks::Compression::kZstd, .block_bytes = kBlockBytes},
                   // Few, and mostly floats.
                   {.name = "samples", .compression = rocks::Compression::kLz4, .block_bytes = kBlockBytes}},
      .reading = "reading run database",
      .scanning = "reading run database",
      .writing = "writing to run database"};
}

absl::Status CheckFormat(rocks::Database& database) {
  ABSL_ASSIGN_OR_RETURN(const std::optional<std::string> found, database.Get(Family::kFormat, kFormatKey));
  if (!found) return database.Write({{Family::kFormat, kFormatKey, kFormat}}, rocks::Durability::kProcess);
  if (*found == kFormat) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("run database has format ", *found, ", this program reads format ", kFormat));
}

}  // namespace

absl::StatusOr<std::unique_ptr<rocks::Database>> OpenRunDatabase(const std::string& directory,
                                                                 const rocks::DatabaseOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return absl::FailedPreconditionError(absl::StrCat("cannot create ", directory, ": ", error.message()));
  }
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<rocks::Database> database,
                        rocks::Database::Open(directory, Layout(), options));
  ABSL_RETURN_IF_ERROR(CheckFormat(*database));
  return database;
}

absl::StatusOr<std::shared_ptr<const rocks::Database>> OpenRunDatabaseForCheck(
    const std::filesystem::path& directory) {
  return rocks::Database::OpenForCheck(directory, Layout());
}

absl::StatusOr<std::vector<std::string>> NamesIn(const rocks::Database& database, Family family,
                                                 std::string_view prefix) {
  std::vector<std::string> names;
  const auto take = [&](std::string_view key) -> absl::StatusOr<std::optional<std::string>> {
    const std::string_view rest = key.substr(prefix.size());
    names.emplace_back(rest.substr(0, rest.find('\0')));
    return absl::StrCat(std::string(prefix), names.back(), "\x01");
  };
  ABSL_RETURN_IF_ERROR(database.SkipScan(family, prefix, take));
  return names;
}

}  // namespace packtrain::runs
