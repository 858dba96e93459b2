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
// like a loss. A deletion that fails may be in the database all the same once that is opened again: its
// versions come back into the file only when they are seen there. What is lost is in no database, so it leaves
// the file last, when all else of its deletion is done.
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

// Any number of threads may use it. Those that ask do not wait for the file.
class SealedList {
 public:
  // The file of a store in `folder`.
  static std::filesystem::path FileIn(const std::filesystem::path& folder);

  // Compares the file with the database, and brings it up to date where it can be written; made where it is
  // missing or damaged, which the log tells.
  static std::shared_ptr<SealedList> Open(const std::filesystem::path& file,
                                          std::shared_ptr<const rocks::Database> database);

  // The same for a check, which writes nothing. DATA_LOSS: the file is damaged.
  static absl::StatusOr<std::shared_ptr<SealedList>> OpenForCheck(
      const std::filesystem::path& file, std::shared_ptr<const rocks::Database> database);

  // The changes. Between Withdraw and the end of its deletion there is no other.

  // What a write has put into the database, or found there, and what its name means now. A file that cannot be
  // written is tried again by the next change.
  void Add(const v1::Dataset& sealed);

  // To be called before a deletion's write, for the versions that are in the database. RESOURCE_EXHAUSTED,
  // UNAVAILABLE: the file cannot be written, and stays as it was. Where the deletion fails, the next Add or
  // Forget lists again what the database still has.
  absl::Status Withdraw(const std::vector<v1::Dataset>& versions);
  // To be called after that write, for all versions of the deletion, which are of one name and not none, the
  // lost ones among them; `current` is what the name means now, "" where nothing is left of it.
  // RESOURCE_EXHAUSTED, UNAVAILABLE: the file cannot be written, and what was lost stays known.
  absl::Status Forget(const std::vector<v1::Dataset>& deleted, const std::string& current);

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
    std::set<Version> lost;                      // of `sealed`; not in the file
  };

  SealedList(std::filesystem::path file, std::shared_ptr<const rocks::Database> database, Content content);
  static Version VersionOf(const v1::Dataset& dataset) { return {dataset.name(), dataset.version()}; }
  static absl::StatusOr<Content> ReadDatabase(const rocks::Database& database);
  static absl::StatusOr<std::optional<Content>> ReadFile(const std::filesystem::path& file);
  static Content Compare(std::optional<Content> written, Content stored);
  static void List(const v1::Dataset& dataset, Content& content);
  static std::string Encode(const Content& content);
  static absl::StatusOr<Content> Decode(std::string_view text);

  Content Copy() const;
  // A copy, and what the database has of withdrawn versions. To be called after a write to it has succeeded:
  // from then on it is certain what became of a deletion that failed.
  Content CopyWithWhatStayed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(changing_);
  absl::Status Write(const Content& content) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(changing_);
  // Logs where the file cannot be written.
  void TryToWrite(const Content& content) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(changing_);
  void WriteFirst();
  // Shows it to those that ask.
  void Publish(Content content) ABSL_EXCLUSIVE_LOCKS_REQUIRED(changing_);

  const std::filesystem::path file_;
  const std::shared_ptr<const rocks::Database> database_;

  base::Mutex changing_;  // held from a copy of the content to its publication, over the write of the file
  std::set<Version> withdrawn_ ABSL_GUARDED_BY(changing_);  // by deletions that are not known to be done

  mutable base::Mutex mutex_;  // held for moments
  Content content_ ABSL_GUARDED_BY(mutex_);
  std::function<void(bool any_lost)> watcher_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_SEALED_LIST_H_
