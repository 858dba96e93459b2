// Where a training keeps its checkpoint.
#ifndef PACKTRAIN_TRAINER_RUN_CHECKPOINT_FOLDER_H_
#define PACKTRAIN_TRAINER_RUN_CHECKPOINT_FOLDER_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/run/file_lock.h"

namespace packtrain::trainer {

// A folder that holds one checkpoint, `checkpoint.bin`, always a whole one: a write takes its place only once
// it is on the disk. One trainer at a time has it open; used by one thread. Failures are the system's and name
// the file.
class CheckpointFolder {
 public:
  // Makes the folder where there is none, and locks its `checkpoint.lock`. FAILED_PRECONDITION: another trainer
  // has it open; names its process and host. Fails where it cannot be written to.
  static absl::StatusOr<CheckpointFolder> Open(const std::string& path);

  // Of the checkpoint in folder `path`, whether it is open or not.
  static std::string FileIn(const std::filesystem::path& path) { return (path / "checkpoint.bin").string(); }
  std::string file() const { return FileIn(path_); }

  // The bytes of such a file; nullopt: there is none. DATA_LOSS: an empty file, or more than a checkpoint has.
  static absl::StatusOr<std::optional<std::string>> ReadFile(const std::string& file);
  absl::StatusOr<std::optional<std::string>> Read() const { return ReadFile(file()); }

  // Durable when it returns OK. After a failure, or when killed, the former checkpoint is there, or this one.
  absl::Status Write(std::string_view bytes) const;

  // Renames the checkpoint to `checkpoint.bin.before`, over an older one of that name; whether there was one.
  absl::StatusOr<bool> SetAside() const;

 private:
  CheckpointFolder(std::filesystem::path path, FileLock lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  FileLock lock_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_CHECKPOINT_FOLDER_H_
