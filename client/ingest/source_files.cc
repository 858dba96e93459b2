#include "client/ingest/source_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

namespace fs = std::filesystem;

bool IsXyz(fs::path name) {
  if (name.extension() == ".gz") name = name.stem();
  return name.extension() == ".xyz" || name.extension() == ".extxyz";
}

absl::StatusOr<std::vector<std::string>> FilesOfFolder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_regular_file(error) && IsXyz(entry->path())) files.push_back(entry->path().string());
  }
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  if (files.empty())
    return absl::NotFoundError(absl::StrCat(folder, ": the folder holds no *.xyz or *.extxyz file"));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindXyzFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    ABSL_ASSIGN_OR_RETURN(std::vector<std::string> found, FilesOfFolder(path));
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace packtrain::ingest
