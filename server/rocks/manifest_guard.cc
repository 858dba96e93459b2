#include "server/rocks/manifest_guard.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
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

// Whether the last record of the manifest may or may not be there.
using Doubt = std::shared_ptr<std::atomic<bool>>;

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

class GuardedManifest : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  GuardedManifest(std::unique_ptr<FSWritableFile> file, Doubt doubt)
      : FSWritableFileOwnerWrapper(std::move(file)), doubt_(std::move(doubt)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return Note(target()->Append(data, options, debug));
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verification, IODebugContext* debug) override {
    return Note(target()->Append(data, options, verification, debug));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
    return Note(target()->Flush(options, debug));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Note(target()->Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Note(target()->Fsync(options, debug));
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    return Note(target()->Close(options, debug));
  }

 private:
  IOStatus Note(IOStatus status) {
    if (!status.ok()) *doubt_ = true;
    return status;
  }

  const Doubt doubt_;
};

class GuardedFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit GuardedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base) : FileSystemWrapper(base) {}

  const char* Name() const override { return "GuardedFileSystem"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus status = target()->NewWritableFile(path, options, file, debug);
    if (status.ok() && FileName(path).starts_with("MANIFEST-")) {
      *file = std::make_unique<GuardedManifest>(std::move(*file), doubt_);
    }
    return status;
  }

  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    IOStatus status = target()->RenameFile(from, to, options, debug);
    if (status.ok() && FileName(to) == "CURRENT") *doubt_ = false;  // it names the new manifest
    return status;
  }

  IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) override {
    if (*doubt_ && FileName(path).ends_with(".sst")) return IOStatus::Busy(path, "the manifest may name it");
    return target()->DeleteFile(path, options, debug);
  }

 private:
  const Doubt doubt_ = std::make_shared<std::atomic<bool>>(false);
};

class GuardedEnv : public rocksdb::EnvWrapper {
 public:
  explicit GuardedEnv(Env* base) : EnvWrapper(base) {
    file_system_ = std::make_shared<GuardedFileSystem>(base->GetFileSystem());
    system_clock_ = base->GetSystemClock();
  }
};

}  // namespace

std::unique_ptr<rocksdb::Env> GuardManifest(rocksdb::Env* base) {
  return std::make_unique<GuardedEnv>(base == nullptr ? rocksdb::Env::Default() : base);
}

}  // namespace packtrain::rocks
