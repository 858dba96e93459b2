// What a store of graphs has sealed, in a file beside its database, SEALED. A start compares the two: a data
// set that the file names and the database does not know any more is lost, which the database alone could not
// tell.
//
//   packtrain sealed 1
//   current NAME VERSION             what the bare NAME means, by name
//   sealed NAME VERSION GRAPHS BYTES   each version that is not deleted, by name and version
//   crc32c HEX                       of all lines before it
//
// A seal is in the database before it is in the file, and a deletion is in the file before it is in the
// database. So a kill in between leaves a file that names less than the database, never more, and never looks
// like a loss.
#ifndef PACKTRAIN_SERVER_STORAGE_SEALED_LIST_H_
#define PACKTRAIN_SERVER_STORAGE_SEALED_LIST_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/base/mutex.h"
#include "server/rocks/database.h"
#include "server/storage/seal.h"

namespace packtrain::storage {

// Any number of threads may use it, one at a time may change it.
class SealedList {
 public:
  // The file of a store in `folder`.
  static std::filesystem::path FileIn(const std::filesystem::path& folder);

  // Compares the file with the database, and brings it up to date where it can be written; made where it is
  // missing or damaged, which the log tells.
  static std::shared_ptr<SealedList> Open(const std::filesystem::path& file, const rocks::Database& database);

  // The same for a check, which writes nothing. DATA_LOSS: the file is damaged.
  static absl::StatusOr<std::shared_ptr<SealedList>> OpenForCheck(const std::filesystem::path& file,
                                                                  const rocks::Database& database);

  // What is in the database now, and what its name means. A file that cannot be written is tried again by the
  // next change.
  void Add(const v1::Dataset& sealed);
  // A bare NAME has another meaning.
  void MakeCurrent(const std::string& name, const std::string& version);

  // What a deletion is about to remove, and what the name means afterwards; "" where nothing is left of it.
  // Synced. RESOURCE_EXHAUSTED, UNAVAILABLE: the file cannot be written, and stays as it was.
  absl::Status Remove(const std::vector<v1::Dataset>& deleted, const std::string& current);

  // Lost versions of what `reference` names, by version; nullopt: of all. Of each the name, the version, and
  // the number of its graphs and bytes are known.
  std::vector<v1::Dataset> Lost(const std::optional<DatasetReference>& reference) const;
  // DATA_LOSS, which names it: the version that `reference` means is lost.
  absl::Status Check(const DatasetReference& reference) const;

  // Calls `watcher` with whether any is lost, now and whenever that may have changed.
  void Watch(std::function<void(bool any_lost)> watcher);

 private:
  using Version = std::pair<std::string, std::string>;  // name, version
  struct Content {
    std::map<Version, v1::Dataset> sealed;
    std::map<std::string, std::string> current;  // by name
  };

  SealedList(std::filesystem::path file, Content content, std::set<Version> lost);
  static absl::StatusOr<Content> ReadDatabase(const rocks::Database& database);
  static absl::StatusOr<std::optional<Content>> ReadFile(const std::filesystem::path& file);
  static std::shared_ptr<SealedList> Compare(const std::filesystem::path& file, std::optional<Content> written,
                                             Content stored);
  static std::string Encode(const Content& content);
  static absl::StatusOr<Content> Decode(std::string_view text);

  bool IsLost(const Version& version) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return lost_.contains(version);
  }
  absl::Status Write(const Content& content) const;
  void WriteAndTell();

  const std::filesystem::path file_;

  mutable base::Mutex mutex_;
  Content content_ ABSL_GUARDED_BY(mutex_);
  std::set<Version> lost_ ABSL_GUARDED_BY(mutex_);
  std::function<void(bool any_lost)> watcher_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_SEALED_LIST_H_
