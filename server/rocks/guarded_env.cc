#include "server/rocks/guarded_env.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <functional>
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

// Makes of what a write gave what RocksDB is told of it.
using Verdict = std::function<IOStatus(IOStatus)>;

// A file each of whose writes is judged.
class JudgedFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  JudgedFile(std::unique_ptr<FSWritableFile> file, Verdict verdict)
      : FSWritableFileOwnerWrapper(std::move(file)), verdict_(std::move(verdict)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return verdict_(target()->Append(data, options, debug));
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verification, IODebugContext* debug) override {
    return verdict_(target()->Append(data, options, verification, debug));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
    return verdict_(target()->Flush(options, debug));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return verdict_(target()->Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return verdict_(target()->Fsync(options, debug));
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    return verdict_(target()->Close(options, debug));
  }

 private:
  const Verdict verdict_;
};

IOStatus Forgive(const IOStatus& status) {
  status.PermitUncheckedError();
  return IOStatus::OK();
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

class GuardedFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit GuardedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base) : FileSystemWrapper(base) {}

  const char* Name() const override { return "GuardedFileSystem"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus status = target()->NewWritableFile(path, options, file, debug);
    if (!status.ok()) return status;
    if (FileName(path).starts_with("LOG")) *file = std::make_unique<JudgedFile>(std::move(*file), Forgive);
    if (FileName(path).starts_with("MANIFEST-")) {
      *file = std::make_unique<JudgedFile>(std::move(*file), [doubt = doubt_](IOStatus written) {
        if (!written.ok()) *doubt = true;
        return written;
      });
    }
    return status;
  }

  // Not the wrapper's, which takes the file from `base`.
  IOStatus NewLogger(const std::string& path, const IOOptions& options, std::shared_ptr<rocksdb::Logger>* log,
                     IODebugContext* debug) override {
    return FileSystem::NewLogger(path, options, log, debug);  // NOLINT(bugprone-parent-virtual-call)
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
  // Whether the last record of the manifest may or may not be there; shared with the manifest's file.
  const std::shared_ptr<std::atomic<bool>> doubt_ = std::make_shared<std::atomic<bool>>(false);
};

class GuardedEnv : public rocksdb::EnvWrapper {
 public:
  explicit GuardedEnv(Env* base) : EnvWrapper(base) {
    file_system_ = std::make_shared<GuardedFileSystem>(base->GetFileSystem());
    system_clock_ = base->GetSystemClock();
  }
};

}  // namespace

std::unique_ptr<rocksdb::Env> GuardEnv(rocksdb::Env* base) {
  return std::make_unique<GuardedEnv>(base == nullptr ? rocksdb::Env::Default() : base);
}

}  // namespace packtrain::rocks
