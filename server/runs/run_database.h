// The RocksDB database under RocksRunStore: three families of keys, and absl::Status.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_DATABASE_H_
#define PACKTRAIN_SERVER_RUNS_RUN_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rocks/database_statistics.h"
#include "server/rocks/disk_reserve.h"
#include "server/rocks/verify_files.h"

namespace rocksdb {
class Env;
}

namespace packtrain::runs {

enum class Family { kRuns, kSteps, kSamples };

struct KeyValue {
  Family family = Family::kRuns;
  std::string key;
  std::string value;
};

enum class Durability {
  kProcess,  // survives a kill of the process
  kDisk,     // survives a power cut
};

struct RunDatabaseOptions {
  // Disk space that is left alone (disk_reserve.h).
  std::uint64_t reserve_bytes = rocks::kDefaultReserveBytes;
  // Count what the database does; see statistics().
  bool statistics = false;
  // Files and threads; null: the system's. Not owned.
  rocksdb::Env* env = nullptr;
};

// Any number of threads may use it.
//
// Codes: RESOURCE_EXHAUSTED where the disk is full down to the reserve (reading goes on, and so does writing
// once there is space), DATA_LOSS where what is stored is damaged, UNAVAILABLE for other failures of the disk.
class RunDatabase {
 public:
  // Creates the directory where it is missing. FAILED_PRECONDITION: another process has it open, or a newer
  // version wrote it.
  static absl::StatusOr<std::unique_ptr<RunDatabase>> Open(const std::string& directory,
                                                           const RunDatabaseOptions& options);
  // Opens what can be read of a database that nobody has open, for reading alone: each write fails. What is
  // damaged is passed over where RocksDB can; rocks::VerifyFile finds it.
  static absl::StatusOr<std::unique_ptr<RunDatabase>> OpenForCheck(const std::string& directory);
  ~RunDatabase();

  // All or none.
  absl::Status Write(const std::vector<KeyValue>& entries, Durability durability);

  // Calls `visit` with each key that starts with `prefix`, in order of bytes, as of the time of the call;
  // stops at the first status that is not OK and returns it.
  using Visitor = absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)>;
  absl::Status Scan(Family family, std::string_view prefix, Visitor visit) const;

  // The distinct names in keys that are `prefix`, NAME, a zero and more, ascending. Reads one key for each.
  absl::StatusOr<std::vector<std::string>> NamesIn(Family family, std::string_view prefix) const;

  rocks::DatabaseStatistics statistics() const;
  // What rocks::VerifyFile reads.
  std::unique_ptr<rocks::LiveFiles> live_files() const;
  std::vector<rocks::StoredFile> sorted_files() const;

 private:
  struct Handles;
  explicit RunDatabase(std::unique_ptr<Handles> handles);

  const std::unique_ptr<Handles> handles_;
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_DATABASE_H_
