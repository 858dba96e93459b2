#include "client/ingest/input_list.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

namespace fs = std::filesystem;

absl::Status CheckNames(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (!IsUtf8(file)) return absl::InvalidArgumentError(absl::StrCat(file, ": the file's name is not UTF-8"));
  }
  return absl::OkStatus();
}

// Of the files at any depth; nothing where they cannot be counted, since this is for progress.
std::uint64_t BytesOfFolder(const std::string& folder) {
  std::uint64_t total = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_regular_file(error) && !error) total += entry->file_size(error);
  }
  return total;
}

}  // namespace

absl::StatusOr<std::unique_ptr<InputList>> InputList::Create(const Format& format,
                                                             const std::vector<std::string>& paths,
                                                             const ReadOptions& options) {
  FoundFiles found;
  if (format.open_folder != nullptr) {
    found.files = paths;
  } else {
    ABSL_ASSIGN_OR_RETURN(found, FindFiles(paths, format.extensions));
  }
  ABSL_RETURN_IF_ERROR(CheckNames(found.files));
  std::unique_ptr<InputList> list(new InputList(format, std::move(found), options));
  ABSL_RETURN_IF_ERROR(list->Measure());
  return list;
}

InputList::InputList(const Format& format, FoundFiles found, const ReadOptions& options)
    : format_(format), found_(std::move(found)), options_(options) {}

absl::Status InputList::Measure() {
  for (const std::string& file : found_.files) {
    std::error_code error;
    const fs::file_type type = fs::status(file, error).type();
    if (!error && type == fs::file_type::regular) total_bytes_ += fs::file_size(file, error);
    if (error) return absl::NotFoundError(absl::StrCat(file, ": ", error.message()));
    if (type == fs::file_type::directory) total_bytes_ += BytesOfFolder(file);
    can_restart_ = can_restart_ && (type == fs::file_type::regular || type == fs::file_type::directory);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<GraphReader>> InputList::Next() {
  while (true) {
    if (archive_ != nullptr) {
      absl::StatusOr<std::unique_ptr<GraphReader>> reader = OpenMember();
      if (!reader.ok() || *reader != nullptr) return reader;
    }
    ABSL_RETURN_IF_ERROR(Close());
    if (next_ == found_.files.size()) return nullptr;
    path_ = found_.files[next_++];
    if (format_.open_folder != nullptr) return OpenFolder();
    std::unique_ptr<ByteSource> file;
    ABSL_RETURN_IF_ERROR(OpenFile(&file));
    if (file != nullptr) return format_.open_graphs(std::move(file), options_);
  }
}

absl::StatusOr<std::unique_ptr<GraphReader>> InputList::OpenMember() {
  const absl::StatusOr<std::shared_ptr<PackedBytes>> member = archive_->Next();
  path_ = archive_->member_path();
  ABSL_RETURN_IF_ERROR(member.status());
  if (*member == nullptr) return nullptr;
  ABSL_RETURN_IF_ERROR((*member)->Fill());
  return format_.open_graphs(std::make_unique<ByteSource>(*member, archive_->budget()), options_);
}

absl::StatusOr<std::unique_ptr<GraphReader>> InputList::OpenFolder() {
  ABSL_ASSIGN_OR_RETURN(folder_, InputFolder::Open(path_, format_.extensions, options_.limits));
  return format_.open_folder(*folder_, options_);
}

// Leaves `file` null where it is an archive.
absl::Status InputList::OpenFile(std::unique_ptr<ByteSource>* file) {
  ABSL_ASSIGN_OR_RETURN(file_, DiskFile::Open(path_));
  ABSL_ASSIGN_OR_RETURN(FileOrArchive opened, OpenFileOrArchive(file_, format_.extensions, options_.limits));
  *file = std::move(opened.file);
  archive_ = std::move(opened.archive);
  return absl::OkStatus();
}

absl::Status InputList::Close() {
  if (archive_ != nullptr && archive_->passed_over().count > 0) passed_over_.push_back(archive_->passed_over());
  archive_.reset();
  if (const std::shared_ptr<DiskFile> file = std::exchange(file_, nullptr)) {
    ABSL_ASSIGN_OR_RETURN(v1::SourceFile source, file->Describe());
    ABSL_RETURN_IF_ERROR(AddSource(std::move(source)));
  }
  const std::unique_ptr<InputFolder> folder = std::exchange(folder_, nullptr);
  if (folder == nullptr) return absl::OkStatus();
  passed_over_.insert(passed_over_.end(), folder->passed_over().begin(), folder->passed_over().end());
  ABSL_ASSIGN_OR_RETURN(std::vector<v1::SourceFile> sources, folder->Describe());
  for (v1::SourceFile& source : sources) ABSL_RETURN_IF_ERROR(AddSource(std::move(source)));
  return absl::OkStatus();
}

absl::Status InputList::AddSource(v1::SourceFile source) {
  closed_bytes_ += source.bytes();
  const std::size_t number = sources_.size();
  if (number < first_sources_.size() && first_sources_[number].sha256() != source.sha256()) {
    return FileHasChanged(source.name());
  }
  ABSL_RETURN_IF_ERROR(CheckDigest(options_.digests.get(), source.name(), source.sha256()));
  sources_.push_back(std::move(source));
  return absl::OkStatus();
}

absl::Status InputList::Restart() {
  ABSL_RETURN_IF_ERROR(Close());
  if (!can_restart_) return absl::FailedPreconditionError("a pipe cannot be read a second time");
  if (first_sources_.empty()) first_sources_ = sources_;
  sources_.clear();
  passed_over_.clear();
  closed_bytes_ = 0;
  next_ = 0;
  return absl::OkStatus();
}

std::uint64_t InputList::consumed_bytes() const {
  std::uint64_t open_bytes = 0;
  if (file_ != nullptr) open_bytes = file_->consumed_bytes();
  if (folder_ != nullptr) open_bytes = folder_->consumed_bytes();
  return closed_bytes_ + open_bytes;
}

std::vector<PassedOver> InputList::passed_over() const {
  std::vector<PassedOver> all = found_.passed_over;
  all.insert(all.end(), passed_over_.begin(), passed_over_.end());
  return all;
}

}  // namespace packtrain::ingest
