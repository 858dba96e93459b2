#include "client/ingest/source_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ingest/origin.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamesKept = 5;

fs::path WithoutPacking(const fs::path& name) {
  const fs::path extension = name.extension();
  return extension == ".gz" || extension == ".xz" ? name.stem() : name;
}

// `found` has the files of one folder.
absl::StatusOr<FoundFiles> Finished(FoundFiles found, const std::string& folder, const std::error_code& error,
                                    std::span<const std::string_view> extensions) {
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  if (found.files.empty()) {
    return absl::NotFoundError(absl::StrCat(folder, ": the folder holds no ", NamesOf(extensions), " file"));
  }
  std::sort(found.files.begin(), found.files.end());
  if (found.passed_over.front().count == 0) found.passed_over.clear();
  return found;
}

absl::StatusOr<FoundFiles> FilesOfFolder(const std::string& folder,
                                         std::span<const std::string_view> extensions) {
  FoundFiles found;
  found.passed_over.emplace_back().path = folder;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    const std::string name = entry->path().filename().string();
    if (HasExtension(name, extensions)) {
      found.files.push_back(entry->path().string());
    } else {
      found.passed_over.front().Add(name);
    }
  }
  return Finished(std::move(found), folder, error, extensions);
}

}  // namespace

absl::Status FileHasChanged(const std::string& path) {
  return absl::AbortedError(absl::StrCat(path, ": the file has changed while it was read"));
}

absl::Status CheckDigest(const FileDigests* digests, const std::string& path, const std::string& sha256) {
  if (digests == nullptr) return absl::OkStatus();
  const auto found = digests->find(path);
  return found == digests->end() || found->second == sha256 ? absl::OkStatus() : FileHasChanged(path);
}

void PassedOver::Add(const std::string& name) {
  if (++count <= kNamesKept) names.push_back(name);
}

bool HasExtension(std::string_view name, std::span<const std::string_view> extensions) {
  const fs::path file = fs::path(name).filename();
  if (file.string().starts_with("._")) return false;
  const fs::path unpacked = WithoutPacking(file);
  const std::string name_alone = unpacked.string(), extension = unpacked.extension().string();
  return extensions.empty() || std::any_of(extensions.begin(), extensions.end(), [&](std::string_view wanted) {
           return wanted == extension || wanted == name_alone;
         });
}

std::string NamesOf(std::span<const std::string_view> extensions) {
  std::vector<std::string> names;
  for (const std::string_view extension : extensions) {
    names.push_back(absl::StrCat(extension.starts_with('.') ? "*" : "", std::string(extension)));
  }
  return absl::StrJoin(names, " or ");
}

absl::StatusOr<FoundFiles> FindFiles(const std::vector<std::string>& paths,
                                     std::span<const std::string_view> extensions) {
  FoundFiles all;
  for (const std::string& path : paths) {
    std::error_code error;
    if (extensions.empty() || !fs::is_directory(path, error)) {
      all.files.push_back(path);
      continue;
    }
    ABSL_ASSIGN_OR_RETURN(const FoundFiles found, FilesOfFolder(path, extensions));
    all.files.insert(all.files.end(), found.files.begin(), found.files.end());
    all.passed_over.insert(all.passed_over.end(), found.passed_over.begin(), found.passed_over.end());
  }
  return all;
}

absl::StatusOr<FoundFiles> FindFilesBelow(const std::string& folder,
                                          std::span<const std::string_view> extensions,
                                          std::uint64_t max_files) {
  FoundFiles found;
  found.passed_over.emplace_back().path = folder;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    const std::string name = entry->path().lexically_relative(folder).generic_string();
    if (HasExtension(name, extensions)) {
      found.files.push_back(name);
    } else {
      found.passed_over.front().Add(name);
    }
    if (found.files.size() + found.passed_over.front().count > max_files) {
      return RefusedWhole(
          folder, "too_many_members",
          absl::StrCat("there are more than ", max_files, " files in the folder (--max-members)"));
    }
  }
  return Finished(std::move(found), folder, error, extensions);
}

std::string StemOf(const std::string& path) {
  return WithoutPacking(fs::path(path).filename()).stem().string();
}

}  // namespace packtrain::ingest
