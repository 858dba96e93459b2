#include "client/ingest/input_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/source_files.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

namespace fs = std::filesystem;

class FolderOnDisk final : public InputFolder {
 public:
  FolderOnDisk(std::string path, std::vector<std::string> names, std::uint64_t max_unpacked_bytes)
      : InputFolder(std::move(path), std::move(names)), max_unpacked_bytes_(max_unpacked_bytes) {}

  absl::StatusOr<std::unique_ptr<ByteSource>> Open(std::string_view name) override {
    const std::string file = (fs::path(path()) / name).string();
    if (!std::binary_search(names().begin(), names().end(), name)) {
      return absl::NotFoundError(absl::StrCat(file, ": there is no such file"));
    }
    return ByteSource::Open(file, max_unpacked_bytes_);
  }

 private:
  const std::uint64_t max_unpacked_bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<InputFolder>> InputFolder::Open(const std::string& path,
                                                               std::span<const std::string_view> extensions,
                                                               const ReadLimits& limits) {
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> names, FindFilesBelow(path, extensions));
  return std::make_unique<FolderOnDisk>(path, std::move(names), limits.max_unpacked_bytes);
}

}  // namespace packtrain::ingest
