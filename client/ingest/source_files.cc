#include "client/ingest/source_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

namespace fs = std::filesystem;

fs::path WithoutPacking(const fs::path& name) {
  const fs::path extension = name.extension();
  return extension == ".gz" || extension == ".xz" ? name.stem() : name;
}

bool HasExtension(const fs::path& name, std::span<const std::string_view> extensions) {
  const std::string extension = WithoutPacking(name).extension().string();
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

absl::Status NoFile(const std::string& folder, std::span<const std::string_view> extensions) {
  std::vector<std::string> names;
  for (const std::string_view extension : extensions)
    names.push_back(absl::StrCat("*", std::string(extension)));
  return absl::NotFoundError(
      absl::StrCat(folder, ": the folder holds no ", absl::StrJoin(names, " or "), " file"));
}

absl::StatusOr<std::vector<std::string>> FilesOfFolder(const std::string& folder,
                                                       std::span<const std::string_view> extensions) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_regular_file(error) && HasExtension(entry->path().filename(), extensions)) {
      files.push_back(entry->path().string());
    }
  }
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  if (files.empty()) return NoFile(folder, extensions);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths,
                                                   std::span<const std::string_view> extensions) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (extensions.empty() || !fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    ABSL_ASSIGN_OR_RETURN(std::vector<std::string> found, FilesOfFolder(path, extensions));
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

absl::StatusOr<std::vector<std::string>> FindFilesBelow(const std::string& folder,
                                                        std::span<const std::string_view> extensions) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_regular_file(error) && HasExtension(entry->path().filename(), extensions)) {
      names.push_back(entry->path().lexically_relative(folder).generic_string());
    }
  }
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  if (names.empty()) return NoFile(folder, extensions);
  std::sort(names.begin(), names.end());
  return names;
}

std::string StemOf(const std::string& path) {
  return WithoutPacking(fs::path(path).filename()).stem().string();
}

absl::StatusOr<v1::SourceFile> DescribeFile(ByteSource& source) {
  ABSL_ASSIGN_OR_RETURN(const FileDigest digest, source.Digest());
  v1::SourceFile file;
  file.set_name(source.path());
  file.set_bytes(digest.bytes);
  file.set_sha256(digest.sha256);
  return file;
}

}  // namespace packtrain::ingest
