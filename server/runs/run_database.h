// The RocksDB database under RocksRunStore: three families of keys, and absl::Status.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_DATABASE_H_
#define PACKTRAIN_SERVER_RUNS_RUN_DATABASE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

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

// Any number of threads may use it.
class RunDatabase {
 public:
  // Creates the directory where it is missing. FAILED_PRECONDITION: another process has it open, or a
  // newer version wrote it. DATA_LOSS: corrupt.
  static absl::StatusOr<std::unique_ptr<RunDatabase>> Open(const std::string& directory);
  ~RunDatabase();

  // All or none. RESOURCE_EXHAUSTED: the disk is full; writing works again once it is not.
  absl::Status Write(const std::vector<KeyValue>& entries, Durability durability);

  // Calls `visit` with each key that starts with `prefix`, in order of bytes, as of the time of the call;
  // stops at the first status that is not OK and returns it.
  using Visitor = absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)>;
  absl::Status Scan(Family family, std::string_view prefix, Visitor visit) const;

 private:
  struct Handles;
  explicit RunDatabase(std::unique_ptr<Handles> handles);

  const std::unique_ptr<Handles> handles_;
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_DATABASE_H_
