#include "server/node/store_check.h"

#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/rocks/database.h"
#include "server/rocks/folder_lock.h"
#include "server/rocks/verify_files.h"
#include "server/runs/fsck.h"
#include "server/runs/run_database.h"
#include "server/storage/fsck.h"
#include "server/storage/graph_database.h"
#include "server/storage/sealed_list.h"

namespace packtrain::node {
namespace {

namespace fs = std::filesystem;
using Files = std::vector<rocks::StoredFile>;

// Each file is read twice: by its checksums, and row by row.
absl::Status CheckFiles(const Files& files, rocks::CheckReport& report) {
  for (const rocks::StoredFile& file : files) report.Expect(2 * file.bytes);
  v1::FsckSummary& summary = report.summary();
  for (const rocks::StoredFile& file : files) {
    ABSL_RETURN_IF_ERROR(report.Tell("files", summary.files(), files.size()));
    summary.set_files(summary.files() + 1);
    report.CountBytes(file.bytes);
    const absl::Status verified = rocks::VerifyFile(file);
    if (verified.ok()) continue;
    v1::FsckFinding finding = rocks::Finding(v1::FSCK_KIND_FILE, std::string(verified.message()));
    finding.set_file(file.path.string());
    ABSL_RETURN_IF_ERROR(report.Find(std::move(finding)));
  }
  return absl::OkStatus();
}

absl::Status CheckLiveFiles(const rocks::Database& graphs, const rocks::Database& runs,
                            rocks::CheckReport& report) {
  const std::unique_ptr<rocks::LiveFiles> of_graphs = graphs.live_files(), of_runs = runs.live_files();
  ABSL_ASSIGN_OR_RETURN(Files files, of_graphs->List());
  ABSL_ASSIGN_OR_RETURN(Files more, of_runs->List());
  std::move(more.begin(), more.end(), std::back_inserter(files));
  return CheckFiles(files, report);
}

absl::Status CheckAll(storage::RocksGraphStore& graphs, runs::RocksRunStore& run_store,
                      rocks::CheckReport& report) {
  absl::Status status = CheckLiveFiles(graphs.database(), run_store.database(), report);
  if (status.ok()) status = storage::Fsck(graphs, report);
  return status.ok() ? runs::Fsck(run_store.database(), report) : status;
}

absl::Status ReportStore(const fs::path& folder, const absl::Status& status, rocks::CheckReport& report) {
  v1::FsckFinding finding = rocks::Finding(v1::FSCK_KIND_STORE, std::string(status.message()));
  finding.set_file(folder.string());
  return report.Find(std::move(finding));
}

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

using DatabasePtr = std::shared_ptr<const rocks::Database>;

// One of the two databases, while no server has it open.
absl::Status CheckDatabase(const fs::path& folder, rocks::CheckReport& report,
                           absl::StatusOr<DatabasePtr> (*open)(const fs::path& folder),
                           absl::FunctionRef<absl::Status(const DatabasePtr& database)> check) {
  if (!IsFolder(folder)) return ReportStore(folder, absl::NotFoundError("there is no such folder"), report);
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<rocks::FolderLock> lock,
                        rocks::FolderLock::TakeForReading(folder));
  Files files = rocks::JournalsIn(folder);
  const absl::StatusOr<DatabasePtr> database = open(folder);
  const Files sorted = database.ok() ? (*database)->sorted_files() : rocks::SortedFilesIn(folder);
  files.insert(files.end(), sorted.begin(), sorted.end());
  ABSL_RETURN_IF_ERROR(CheckFiles(files, report));
  return database.ok() ? check(*database) : ReportStore(folder, database.status(), report);
}

}  // namespace

StoreCheck CheckOf(storage::RocksGraphStore& graphs, runs::RocksRunStore& runs) {
  return [&graphs, &runs](rocks::CheckReport& report) { return CheckAll(graphs, runs, report); };
}

absl::Status CheckFolder(const fs::path& data, rocks::CheckReport& report) {
  const fs::path graphs = data / kGraphsFolder, runs = data / kRunsFolder;
  if (!IsFolder(graphs) && !IsFolder(runs)) {
    return absl::NotFoundError(absl::StrCat("--data ", data.string(), " holds no stores"));
  }
  const auto check_graphs = [&](const DatabasePtr& database) {
    return storage::Fsck(database, storage::SealedList::FileIn(graphs), report);
  };
  const auto check_runs = [&](const DatabasePtr& database) { return runs::Fsck(*database, report); };
  ABSL_RETURN_IF_ERROR(CheckDatabase(storage::RocksGraphStore::DatabaseFolder(graphs), report,
                                     storage::OpenGraphDatabaseForCheck, check_graphs));
  return CheckDatabase(runs, report, runs::OpenRunDatabaseForCheck, check_runs);
}

}  // namespace packtrain::node
