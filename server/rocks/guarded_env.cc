#include "server/rocks/guarded_env.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

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

// Shared with the files that an env has opened.
using Flag = std::shared_ptr<std::atomic<bool>>;

// Maps the status of a write to the one that RocksDB is given.
using Verdict = std::function<IOStatus(IOStatus)>;

constexpr char kRetired[] = "the database has been opened again";

// A file that takes no more writes once its env is retired, and each of whose writes is judged.
class GuardedFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  GuardedFile(std::unique_ptr<FSWritableFile> file, Flag retired, Verdict verdict)
      : FSWritableFileOwnerWrapper(std::move(file)),
        retired_(std::move(retired)),
        verdict_(std::move(verdict)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return Do([&] { return target()->Append(data, options, debug); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verification, IODebugContext* debug) override {
    return Do([&] { return target()->Append(data, options, verification, debug); });
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    return Do([&] { return target()->Truncate(size, options, debug); });
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
    return Do([&] { return target()->Flush(options, debug); });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Do([&] { return target()->Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Do([&] { return target()->Fsync(options, debug); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    return verdict_(target()->Close(options, debug));
  }

 private:
  template <typename Operation>
  IOStatus Do(Operation operation) {
    return verdict_(*retired_ ? IOStatus::IOError(kRetired) : operation());
  }

  const Flag retired_;
  const Verdict verdict_;
};

IOStatus Forgive(const IOStatus& status) {
  status.PermitUncheckedError();
  return IOStatus::OK();
}

IOStatus Believe(IOStatus status) { return status; }

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

class GuardedFileSystem : public rocksdb::FileSystemWrapper {
 public:
  GuardedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, Flag retired)
      : FileSystemWrapper(base), retired_(std::move(retired)) {}

  const char* Name() const override { return "GuardedFileSystem"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    if (*retired_) return IOStatus::IOError(path, kRetired);
    IOStatus status = target()->NewWritableFile(path, options, file, debug);
    if (status.ok()) {
      *file = std::make_unique<GuardedFile>(std::move(*file), retired_, VerdictOn(FileName(path)));
    }
    return status;
  }

  // Of sorted files, RocksDB reopens those that it ingests, to sync them once more.
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    if (*retired_) return IOStatus::IOError(path, kRetired);
    if (FileName(path).ends_with(".sst")) return IOStatus::NotSupported(path, "it is synced");
    return target()->ReopenWritableFile(path, options, file, debug);
  }

  // Not the wrapper's, which takes the file from `base`.
  IOStatus NewLogger(const std::string& path, const IOOptions& options, std::shared_ptr<rocksdb::Logger>* log,
                     IODebugContext* debug) override {
    return FileSystem::NewLogger(path, options, log, debug);  // NOLINT(bugprone-parent-virtual-call)
  }

  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    if (*retired_) return IOStatus::IOError(from, kRetired);
    IOStatus status = target()->RenameFile(from, to, options, debug);
    if (status.ok() && FileName(to) == "CURRENT") *doubt_ = false;  // it names the new manifest
    return status;
  }

  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* debug) override {
    if (*retired_) return IOStatus::IOError(from, kRetired);
    return target()->LinkFile(from, to, options, debug);
  }

  IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) override {
    if (*retired_) return IOStatus::IOError(path, kRetired);
    if (*doubt_ && FileName(path).ends_with(".sst")) return IOStatus::Busy(path, "the manifest may name it");
    return target()->DeleteFile(path, options, debug);
  }

 private:
  Verdict VerdictOn(std::string_view name) const {
    if (name.starts_with("LOG")) return Forgive;
    if (!name.starts_with("MANIFEST-")) return Believe;
    return [doubt = doubt_](IOStatus written) {
      if (!written.ok()) *doubt = true;
      return written;
    };
  }

  const Flag retired_;
  // Whether the last record of the manifest may or may not be there; shared with the manifest's file.
  const Flag doubt_ = std::make_shared<std::atomic<bool>>(false);
};

class WrappedEnv : public rocksdb::EnvWrapper {
 public:
  WrappedEnv(Env* base, Flag retired) : EnvWrapper(base), retired_(std::move(retired)) {
    file_system_ = std::make_shared<GuardedFileSystem>(base->GetFileSystem(), retired_);
    system_clock_ = base->GetSystemClock();
  }

  // RocksDB calls some of these on the env itself, not on its file system.
  rocksdb::Status DeleteFile(const std::string& path) override {
    return *retired_ ? rocksdb::Status::IOError(path, kRetired) : EnvWrapper::DeleteFile(path);
  }
  rocksdb::Status RenameFile(const std::string& from, const std::string& to) override {
    return *retired_ ? rocksdb::Status::IOError(from, kRetired) : EnvWrapper::RenameFile(from, to);
  }

  rocksdb::Status LockFile(const std::string&, rocksdb::FileLock** lock) override {
    *lock = nullptr;
    return rocksdb::Status::OK();
  }
  rocksdb::Status UnlockFile(rocksdb::FileLock*) override { return rocksdb::Status::OK(); }

 private:
  const Flag retired_;
};

}  // namespace

GuardedEnv::GuardedEnv(rocksdb::Env* base)
    : retired_(std::make_shared<std::atomic<bool>>(false)),
      env_(std::make_unique<WrappedEnv>(base == nullptr ? rocksdb::Env::Default() : base, retired_)) {}

GuardedEnv::~GuardedEnv() = default;

}  // namespace packtrain::rocks
