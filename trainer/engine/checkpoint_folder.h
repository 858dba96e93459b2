// Where a training keeps its checkpoint.
#ifndef PACKTRAIN_TRAINER_ENGINE_CHECKPOINT_FOLDER_H_
#define PACKTRAIN_TRAINER_ENGINE_CHECKPOINT_FOLDER_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace packtrain::trainer {

// A folder that holds one checkpoint, `checkpoint.bin`, always a whole one: a write takes its place only once
// it is on the disk. Used by one thread of one process. Failures are the system's and name the file.
class CheckpointFolder {
 public:
  // Makes the folder where there is none. Fails where it cannot be written to.
  static absl::StatusOr<CheckpointFolder> Open(const std::string& path);

  // Of the checkpoint.
  std::string file() const { return (path_ / "checkpoint.bin").string(); }

  // The bytes of the checkpoint; nullopt: there is none.
  absl::StatusOr<std::optional<std::string>> Read() const;

  // Durable when it returns OK. After a failure, or when killed, the former checkpoint is there, or this one.
  absl::Status Write(std::string_view bytes) const;

  // Renames the checkpoint to `checkpoint.bin.before`, over an older one of that name; whether there was one.
  absl::StatusOr<bool> SetAside() const;

 private:
  explicit CheckpointFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_CHECKPOINT_FOLDER_H_
