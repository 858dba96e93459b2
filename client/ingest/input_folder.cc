#include "client/ingest/input_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/disk_file.h"
#include "client/ingest/unpacked_folder.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

namespace fs = std::filesystem;

class FolderOnDisk final : public InputFolder {
 public:
  FolderOnDisk(std::string folder, FoundFiles found, std::uint64_t max_unpacked_bytes)
      : InputFolder(std::move(folder), std::move(found)), max_unpacked_bytes_(max_unpacked_bytes) {
    for (const std::string& name : names()) {
      std::error_code error;
      const std::uint64_t bytes = fs::file_size(fs::path(path()) / name, error);
      if (!error) total_bytes_ += bytes;
    }
  }

  absl::StatusOr<std::unique_ptr<ByteSource>> Open(std::string_view name) override {
    ABSL_RETURN_IF_ERROR(CheckName(name));
    ABSL_ASSIGN_OR_RETURN(std::shared_ptr<DiskFile> file, DiskFile::Open((fs::path(path()) / name).string()));
    opened_.try_emplace(std::string(name), file);
    return std::make_unique<ByteSource>(std::move(file), std::make_shared<UnpackBudget>(max_unpacked_bytes_));
  }

  std::uint64_t total_bytes() const override { return total_bytes_; }

  std::uint64_t consumed_bytes() const override {
    std::uint64_t bytes = 0;
    for (const auto& [name, file] : opened_) bytes += file->consumed_bytes();
    return bytes;
  }

  absl::StatusOr<std::vector<v1::SourceFile>> Describe() override {
    std::vector<v1::SourceFile> files;
    for (const auto& [name, file] : opened_) {
      ABSL_ASSIGN_OR_RETURN(files.emplace_back(), file->Describe());
    }
    return files;
  }

 private:
  const std::uint64_t max_unpacked_bytes_;
  std::uint64_t total_bytes_ = 0;
  std::map<std::string, std::shared_ptr<DiskFile>> opened_;  // the first time, by name
};

}  // namespace

InputFolder::InputFolder(std::string path, FoundFiles found)
    : path_(std::move(path)), found_(std::move(found)) {}

absl::Status InputFolder::CheckName(std::string_view name) const {
  if (std::binary_search(names().begin(), names().end(), name)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat((fs::path(path()) / name).string(), ": there is no such file"));
}

absl::StatusOr<std::unique_ptr<InputFolder>> InputFolder::Open(const std::string& path,
                                                               std::span<const std::string_view> extensions,
                                                               const ReadLimits& limits) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return UnpackFolder(path, extensions, limits);
  ABSL_ASSIGN_OR_RETURN(FoundFiles found, FindFilesBelow(path, extensions, limits.max_members));
  return std::make_unique<FolderOnDisk>(path, std::move(found), limits.max_unpacked_bytes);
}

}  // namespace packtrain::ingest
