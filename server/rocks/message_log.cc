#include "server/rocks/message_log.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <string>
#include <string_view>
#include <utility>

namespace packtrain::rocks {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// A file that says of every write that it was done.
class LossyFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  explicit LossyFile(std::unique_ptr<FSWritableFile> file) : FSWritableFileOwnerWrapper(std::move(file)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return Forget(target()->Append(data, options, debug));
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verification, IODebugContext* debug) override {
    return Forget(target()->Append(data, options, verification, debug));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
    return Forget(target()->Flush(options, debug));
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    return Forget(target()->Close(options, debug));
  }

 private:
  static IOStatus Forget(const IOStatus& status) {
    status.PermitUncheckedError();
    return IOStatus::OK();
  }
};

class LossyFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit LossyFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base) : FileSystemWrapper(base) {}

  const char* Name() const override { return "LossyFileSystem"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus status = target()->NewWritableFile(path, options, file, debug);
    if (status.ok() && std::string_view(path).substr(path.rfind('/') + 1).starts_with("LOG")) {
      *file = std::make_unique<LossyFile>(std::move(*file));
    }
    return status;
  }

  // Not the wrapper's, which takes the file from `base`.
  IOStatus NewLogger(const std::string& path, const IOOptions& options, std::shared_ptr<rocksdb::Logger>* log,
                     IODebugContext* debug) override {
    return FileSystem::NewLogger(path, options, log, debug);  // NOLINT(bugprone-parent-virtual-call)
  }
};

class LossyEnv : public rocksdb::EnvWrapper {
 public:
  explicit LossyEnv(Env* base) : EnvWrapper(base) {
    file_system_ = std::make_shared<LossyFileSystem>(base->GetFileSystem());
    system_clock_ = base->GetSystemClock();
  }
};

}  // namespace

std::unique_ptr<rocksdb::Env> LoseMessages(rocksdb::Env* base) {
  return std::make_unique<LossyEnv>(base == nullptr ? rocksdb::Env::Default() : base);
}

}  // namespace packtrain::rocks
