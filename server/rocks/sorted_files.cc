#include "server/rocks/sorted_files.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/rocks/instance.h"
#include "server/rocks/rocks_status.h"

namespace packtrain::rocks {
namespace {

// How much a file takes in between two looks at the free space.
constexpr std::uint64_t kSpaceCheckBytes = 1 << 20;

// Whether what is written leaves the system's page cache. It is read again soon: by the ingest and whoever
// opens the data set.
constexpr bool kDropsFromPageCache = false;

// Of each file that is not ended; there are two at a time at the most.
constexpr std::size_t kBufferBytes = 256 << 10;

rocksdb::EnvOptions WritingOptions() {
  rocksdb::EnvOptions options;
  options.writable_file_max_buffer_size = kBufferBytes;
  return options;
}

// Of files outside the database, which go on being written while it is opened again.
rocksdb::Options OptionsOf(const Database& database, const Instance& instance, FamilyId family) {
  rocksdb::Options options = instance.db().GetOptions(instance.handle(family));
  options.env = database.env();
  return options;
}

// Reads both ends of a file that is not taken in yet.
absl::Status CheckEnds(const Database& database, const SortedFile& file) {
  rocksdb::SstFileReader reader(OptionsOf(database, *database.instance(), file.family));
  rocksdb::Status status = reader.Open(file.path);
  if (!status.ok()) return ToStatus(status, absl::StrCat("reading ", file.path));
  const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(rocksdb::ReadOptions()));
  it->SeekToFirst();
  bool whole = it->Valid() && it->key() == file.first_key;
  if (whole) it->SeekToLast();
  whole = whole && it->Valid() && it->key() == file.last_key;
  if (whole) return absl::OkStatus();
  if (!it->status().ok()) return ToStatus(it->status(), absl::StrCat("reading ", file.path));
  return absl::DataLossError(absl::StrCat(file.path, " does not hold what was written"));
}

// Finds both ends in the database, for the case that they had left the cache again.
absl::Status CheckTakenIn(const Database& database, const SortedFile& file) {
  for (const std::string& key : {file.first_key, file.last_key}) {
    ABSL_ASSIGN_OR_RETURN(const auto value, database.Get(file.family, key));
    if (!value) return absl::UnavailableError(absl::StrCat("taking in ", file.path, ": it is not there"));
  }
  return absl::OkStatus();
}

rocksdb::IngestExternalFileOptions IngestOptions() {
  rocksdb::IngestExternalFileOptions options;
  // The files lie on the same disk: taking them in costs a rename, not a copy.
  options.move_files = true;
  // The files stay as they were written and synced.
  options.write_global_seqno = false;
  // Nobody may see part of an ingest, and nobody can: nothing names the keys before a later write.
  options.snapshot_consistency = false;
  return options;
}

// One argument for the files of each family, which lie together.
std::vector<rocksdb::IngestExternalFileArg> Arguments(const Instance& instance,
                                                      const std::vector<SortedFile>& files) {
  std::vector<rocksdb::IngestExternalFileArg> arguments;
  for (const SortedFile& file : files) {
    rocksdb::ColumnFamilyHandle* const family = instance.handle(file.family);
    if (arguments.empty() || arguments.back().column_family != family) {
      arguments.emplace_back().column_family = family;
      arguments.back().options = IngestOptions();
    }
    arguments.back().external_files.push_back(file.path);
  }
  return arguments;
}

}  // namespace

struct SortedFileWriter::OpenFile {
  OpenFile(const Database& database, FamilyId family, std::string file_path)
      : path(std::move(file_path)),
        instance(database.instance()),
        writer(WritingOptions(), OptionsOf(database, *instance, family), instance->handle(family),
               kDropsFromPageCache) {}

  absl::StatusOr<std::uint64_t> End() {
    rocksdb::ExternalSstFileInfo written;
    const rocksdb::Status status = writer.Finish(&written);
    if (!status.ok()) return ToStatus(status, absl::StrCat("writing ", path));
    return written.file_size;
  }

  const std::string path;
  const std::shared_ptr<Instance> instance;  // whose family the writer refers to
  rocksdb::SstFileWriter writer;
};

std::string SortedFilePath(const std::string& stem, std::size_t number) {
  return absl::StrCat(stem, "-", number, ".sst");
}

SortedFileWriter::SortedFileWriter(std::shared_ptr<Database> database, FamilyId family, std::string stem,
                                   std::uint64_t file_bytes)
    : SortedFileWriter(std::move(database), family, std::move(stem), file_bytes, {}) {}

SortedFileWriter::SortedFileWriter(std::shared_ptr<Database> database, FamilyId family, std::string stem,
                                   std::uint64_t file_bytes, std::vector<SortedFile> files)
    : database_(std::move(database)),
      family_(family),
      stem_(std::move(stem)),
      file_bytes_(file_bytes),
      files_(std::move(files)) {}

SortedFileWriter::~SortedFileWriter() {
  open_file_.reset();
  if (leaves_files_) return;
  std::error_code ignored;  // what stays is reclaimed when the store is opened next
  for (const SortedFile& file : files_) std::filesystem::remove(file.path, ignored);
}

absl::Status SortedFileWriter::BeginFile(std::string_view first_key) {
  ABSL_RETURN_IF_ERROR(database_->reserve().Require(kSpaceCheckBytes));
  const std::string path = SortedFilePath(stem_, files_.size());
  open_file_ = std::make_unique<OpenFile>(*database_, family_, path);
  files_.push_back({family_, path, std::string(first_key), ""});
  return ToStatus(open_file_->writer.Open(path), absl::StrCat("creating ", path));
}

absl::Status SortedFileWriter::RequireSpace(std::uint64_t bytes) {
  unchecked_bytes_ += bytes;
  if (unchecked_bytes_ < kSpaceCheckBytes) return absl::OkStatus();
  return database_->reserve().Require(std::exchange(unchecked_bytes_, 0));
}

absl::Status SortedFileWriter::Add(std::string_view key, std::string_view value) {
  if (failure_.ok()) failure_ = TryAdd(key, value);
  return failure_;
}

absl::Status SortedFileWriter::TryAdd(std::string_view key, std::string_view value) {
  if (open_file_ == nullptr) {
    ABSL_RETURN_IF_ERROR(BeginFile(key));
  }
  ABSL_RETURN_IF_ERROR(RequireSpace(key.size() + value.size()));
  const rocksdb::Status status = open_file_->writer.Put(key, value);
  if (!status.ok()) return ToStatus(status, absl::StrCat("writing ", files_.back().path));
  files_.back().last_key = key;
  if (open_file_->writer.FileSize() < file_bytes_) return absl::OkStatus();
  return std::exchange(open_file_, nullptr)->End().status();
}

absl::StatusOr<std::uint64_t> SortedFileWriter::EndFile() {
  ABSL_ASSIGN_OR_RETURN(const FileEnd end, TakeFile());
  absl::StatusOr<std::uint64_t> bytes = end();
  failure_ = bytes.status();
  return bytes;
}

absl::StatusOr<SortedFileWriter::FileEnd> SortedFileWriter::TakeFile() {
  ABSL_RETURN_IF_ERROR(failure_);
  if (open_file_ == nullptr) return FileEnd([] { return std::uint64_t{0}; });
  // What the file still buffers in memory.
  ABSL_RETURN_IF_ERROR(database_->reserve().Require(kSpaceCheckBytes));
  return FileEnd([file = std::shared_ptr<OpenFile>(std::move(open_file_))] { return file->End(); });
}

absl::StatusOr<std::vector<SortedFile>> SortedFileWriter::Finish() {
  ABSL_RETURN_IF_ERROR(EndFile().status());
  return files_;
}

absl::Status ReadSortedFile(const Database& database, FamilyId family, const std::string& path,
                            Database::Visitor visit) {
  rocksdb::SstFileReader reader(OptionsOf(database, *database.instance(), family));
  const std::string reading = absl::StrCat("reading ", path);
  const rocksdb::Status opened = reader.Open(path);
  if (!opened.ok()) return ToStatus(opened, reading);
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(options));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    ABSL_RETURN_IF_ERROR(visit(it->key().ToStringView(), it->value().ToStringView()));
  }
  return ToStatus(it->status(), reading);
}

absl::Status Ingest(Database& database, const std::vector<SortedFile>& files) {
  ABSL_RETURN_IF_ERROR(database.reserve().Require(0));
  for (const SortedFile& file : files) ABSL_RETURN_IF_ERROR(CheckEnds(database, file));
  const absl::Status taken = database.Make(/*frees=*/false, "taking in sorted files", [&](Instance& instance) {
    return instance.db().IngestExternalFiles(Arguments(instance, files));
  });
  ABSL_RETURN_IF_ERROR(taken);
  for (const SortedFile& file : files) ABSL_RETURN_IF_ERROR(CheckTakenIn(database, file));
  return absl::OkStatus();
}

}  // namespace packtrain::rocks
