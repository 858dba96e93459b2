#include "tests/testing/faulty_disk.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/base/mutex.h"

namespace packtrain::testing {

using rocksdb::FileOptions;
using rocksdb::FSDirectory;
using rocksdb::FSRandomAccessFile;
using rocksdb::FSSequentialFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

static bool NeedsSpace(std::string_view operation) {
  return operation == "write" || operation == "flush" || operation == "sync" || operation == "link";
}

struct FaultyDisk::State {
  // Counts one operation and says what becomes of it.
  IOStatus Next(const char* operation, const std::string& path) {
    const std::string file = std::filesystem::path(path).filename().string();
    const base::MutexLock lock(mutex);
    if (file.starts_with("LOG")) {
      const bool fails = messages_fail && std::string_view(operation) == "write";
      return fails ? IOStatus::NoSpace(file, "injected") : IOStatus::OK();
    }
    if (full && NeedsSpace(operation)) return IOStatus::NoSpace(file, "injected");
    if (!left.has_value()) return IOStatus::OK();
    if (*left > 0) {
      --*left;
      return IOStatus::OK();
    }
    if (duration == Duration::kOnce) left.reset();
    const std::string what = std::string(operation) + " " + file;
    if (failed.empty()) failed = what;
    return fault == Fault::kNoSpace ? IOStatus::NoSpace(what, "injected") : IOStatus::IOError(what, "injected");
  }

  mutable base::Mutex mutex;
  std::optional<std::uint64_t> left ABSL_GUARDED_BY(mutex);  // operations that still succeed; none: all do
  Fault fault ABSL_GUARDED_BY(mutex) = Fault::kIoError;
  Duration duration ABSL_GUARDED_BY(mutex) = Duration::kOnce;
  std::string failed ABSL_GUARDED_BY(mutex);
  bool messages_fail ABSL_GUARDED_BY(mutex) = false;
  bool full ABSL_GUARDED_BY(mutex) = false;
};

namespace {

using State = std::shared_ptr<FaultyDisk::State>;

class FaultySequentialFile : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  FaultySequentialFile(std::unique_ptr<FSSequentialFile> file, std::string path, State state)
      : FSSequentialFileOwnerWrapper(std::move(file)), path_(std::move(path)), state_(std::move(state)) {}

  IOStatus Read(std::size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) override {
    IOStatus status = state_->Next("read", path_);
    return status.ok() ? target()->Read(n, options, result, scratch, debug) : status;
  }

 private:
  const std::string path_;
  const State state_;
};

class FaultyRandomAccessFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  FaultyRandomAccessFile(std::unique_ptr<FSRandomAccessFile> file, std::string path, State state)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), path_(std::move(path)), state_(std::move(state)) {}

  IOStatus Read(std::uint64_t offset, std::size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) const override {
    IOStatus status = state_->Next("read", path_);
    return status.ok() ? target()->Read(offset, n, options, result, scratch, debug) : status;
  }

  // Each request is an operation of its own.
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, std::size_t count, const IOOptions& options,
                     IODebugContext* debug) override {
    for (rocksdb::FSReadRequest* request = requests; request != requests + count; ++request) {
      request->status = Read(request->offset, request->len, options, &request->result, request->scratch, debug);
    }
    return IOStatus::OK();
  }

  IOStatus Prefetch(std::uint64_t offset, std::size_t n, const IOOptions& options,
                    IODebugContext* debug) override {
    IOStatus status = state_->Next("prefetch", path_);
    return status.ok() ? target()->Prefetch(offset, n, options, debug) : status;
  }

 private:
  const std::string path_;
  const State state_;
};

class FaultyWritableFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultyWritableFile(std::unique_ptr<FSWritableFile> file, std::string path, State state)
      : FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)), state_(std::move(state)) {}

  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = state_->Next("write", path_);
    return status.ok() ? target()->Append(data, options, debug) : status;
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = state_->Next("truncate", path_);
    return status.ok() ? target()->Truncate(size, options, debug) : status;
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = state_->Next("close", path_);
    const IOStatus closed = target()->Close(options, debug);
    return status.ok() ? closed : status;
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = state_->Next("flush", path_);
    return status.ok() ? target()->Flush(options, debug) : status;
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return state_->Next("sync", path_); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return state_->Next("sync", path_); }
  IOStatus RangeSync(std::uint64_t, std::uint64_t, const IOOptions&, IODebugContext*) override {
    return state_->Next("sync", path_);
  }

 private:
  const std::string path_;
  const State state_;
};

class FaultyDirectory : public rocksdb::FSDirectoryWrapper {
 public:
  FaultyDirectory(std::unique_ptr<FSDirectory> directory, std::string path, State state)
      : FSDirectoryWrapper(std::move(directory)), path_(std::move(path)), state_(std::move(state)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return state_->Next("sync", path_); }
  IOStatus FsyncWithDirOptions(const IOOptions&, IODebugContext*, const rocksdb::DirFsyncOptions&) override {
    return state_->Next("sync", path_);
  }

 private:
  const std::string path_;
  const State state_;
};

class FaultyFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit FaultyFileSystem(State state)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), state_(std::move(state)) {}

  const char* Name() const override { return "FaultyFileSystem"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* file, IODebugContext* debug) override {
    return Open<FaultySequentialFile>(path, file,
                                      [&] { return target()->NewSequentialFile(path, options, file, debug); });
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file, IODebugContext* debug) override {
    return Open<FaultyRandomAccessFile>(
        path, file, [&] { return target()->NewRandomAccessFile(path, options, file, debug); });
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    return Open<FaultyWritableFile>(path, file,
                                    [&] { return target()->NewWritableFile(path, options, file, debug); });
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    return Open<FaultyWritableFile>(path, file,
                                    [&] { return target()->ReopenWritableFile(path, options, file, debug); });
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path, const FileOptions& options,
                             std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    return Open<FaultyWritableFile>(
        path, file, [&] { return target()->ReuseWritableFile(path, old_path, options, file, debug); });
  }
  // Not the wrapper's, which takes the file from the system.
  IOStatus NewLogger(const std::string& path, const IOOptions& options, std::shared_ptr<rocksdb::Logger>* log,
                     IODebugContext* debug) override {
    return FileSystem::NewLogger(path, options, log, debug);  // NOLINT(bugprone-parent-virtual-call)
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* directory, IODebugContext* debug) override {
    return Open<FaultyDirectory>(path, directory,
                                 [&] { return target()->NewDirectory(path, options, directory, debug); });
  }

  IOStatus FileExists(const std::string& path, const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = state_->Next("look for", path);
    return status.ok() ? target()->FileExists(path, options, debug) : status;
  }
  IOStatus GetChildren(const std::string& path, const IOOptions& options, std::vector<std::string>* names,
                       IODebugContext* debug) override {
    IOStatus status = state_->Next("list", path);
    return status.ok() ? target()->GetChildren(path, options, names, debug) : status;
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, std::uint64_t* size,
                       IODebugContext* debug) override {
    IOStatus status = state_->Next("measure", path);
    return status.ok() ? target()->GetFileSize(path, options, size, debug) : status;
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = state_->Next("delete", path);
    return status.ok() ? target()->DeleteFile(path, options, debug) : status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    IOStatus status = state_->Next("rename", from);
    return status.ok() ? target()->RenameFile(from, to, options, debug) : status;
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* debug) override {
    IOStatus status = state_->Next("link", from);
    return status.ok() ? target()->LinkFile(from, to, options, debug) : status;
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions& options,
                              IODebugContext* debug) override {
    IOStatus status = state_->Next("create", path);
    return status.ok() ? target()->CreateDirIfMissing(path, options, debug) : status;
  }
  IOStatus LockFile(const std::string& path, const IOOptions& options, rocksdb::FileLock** lock,
                    IODebugContext* debug) override {
    IOStatus status = state_->Next("lock", path);
    return status.ok() ? target()->LockFile(path, options, lock, debug) : status;
  }

 private:
  template <typename Faulty, typename File, typename OpenFile>
  IOStatus Open(const std::string& path, std::unique_ptr<File>* file, OpenFile open) {
    if (IOStatus status = state_->Next("open", path); !status.ok()) return status;
    IOStatus status = open();
    if (status.ok()) *file = std::make_unique<Faulty>(std::move(*file), path, state_);
    return status;
  }

  const State state_;
};

// RocksDB sleeps a second after a flush that failed.
class SleeplessClock : public rocksdb::SystemClockWrapper {
 public:
  using SystemClockWrapper::SystemClockWrapper;
  const char* Name() const override { return "SleeplessClock"; }
  void SleepForMicroseconds(int) override {}
};

class FaultyEnv : public rocksdb::EnvWrapper {
 public:
  explicit FaultyEnv(const State& state) : EnvWrapper(Default()) {
    file_system_ = std::make_shared<FaultyFileSystem>(state);
    system_clock_ = std::make_shared<SleeplessClock>(Default()->GetSystemClock());
  }
};

}  // namespace

std::array<FaultCase, 3> FaultCases() {
  return {FaultCase{"IoErrorOnce", Fault::kIoError, Duration::kOnce},
          FaultCase{"IoErrorUntilHealed", Fault::kIoError, Duration::kUntilHealed},
          FaultCase{"NoSpaceUntilHealed", Fault::kNoSpace, Duration::kUntilHealed}};
}

FaultyDisk::FaultyDisk() : state_(std::make_shared<State>()), env_(std::make_unique<FaultyEnv>(state_)) {}

FaultyDisk::~FaultyDisk() = default;

rocksdb::Env* FaultyDisk::env() { return env_.get(); }

void FaultyDisk::Fail(std::uint64_t n, Fault fault, Duration duration) {
  const base::MutexLock lock(state_->mutex);
  state_->left = n;
  state_->fault = fault;
  state_->duration = duration;
  state_->failed.clear();
}

void FaultyDisk::FailMessages() {
  const base::MutexLock lock(state_->mutex);
  state_->messages_fail = true;
}

void FaultyDisk::FailWrites() {
  const base::MutexLock lock(state_->mutex);
  state_->full = true;
}

void FaultyDisk::Heal() {
  const base::MutexLock lock(state_->mutex);
  state_->left.reset();
  state_->full = false;
}

std::string FaultyDisk::Failed() const {
  const base::MutexLock lock(state_->mutex);
  return state_->failed;
}

}  // namespace packtrain::testing
