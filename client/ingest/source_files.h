// Which files an import reads.
#ifndef PACKTRAIN_CLIENT_INGEST_SOURCE_FILES_H_
#define PACKTRAIN_CLIENT_INGEST_SOURCE_FILES_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace packtrain::ingest {

// Hexadecimal SHA-256 of files, by path.
using FileDigests = std::map<std::string, std::string>;

// ABORTED: a file is not what it was when it was read before.
absl::Status FileHasChanged(const std::string& path);

// FileHasChanged: `digests`, which may be null, say that a file had another hash.
absl::Status CheckDigest(const FileDigests* digests, const std::string& path, const std::string& sha256);

// Files of a folder or an archive that are not of the format, by their endings.
struct PassedOver {
  void Add(const std::string& name);

  std::string path;  // of the folder or the archive
  std::uint64_t count = 0;
  std::vector<std::string> names;  // the first few
};

struct FoundFiles {
  std::vector<std::string> files;
  std::vector<PassedOver> passed_over;  // by folder that holds such files
};

// Whether a name ends in one of `extensions` (".xyz"), or is one ("POSCAR"), with or without .gz or .xz; true
// of all names where there are none. False of "._NAME", in which macOS keeps what it knows about a file NAME.
bool HasExtension(std::string_view name, std::span<const std::string_view> extensions);

// For messages: "*.xyz or *.extxyz".
std::string NamesOf(std::span<const std::string_view> extensions);

// Files stand for themselves; a folder stands for the files right in it that have one of `extensions`, by name.
// Without extensions a folder stands for itself. NOT_FOUND: no such folder, or a folder without such a file.
absl::StatusOr<FoundFiles> FindFiles(const std::vector<std::string>& paths,
                                     std::span<const std::string_view> extensions);

// The files below a folder, at any depth, that have one of `extensions`, relative to it and by name. Links to
// folders are not followed. NOT_FOUND as above; the refusal "too_many_members" where there are more than
// `max_files` of any kind.
absl::StatusOr<FoundFiles> FindFilesBelow(const std::string& folder,
                                          std::span<const std::string_view> extensions,
                                          std::uint64_t max_files);

// "folder/a.b.xyz.gz" -> "a.b", which names a graph that is alone in its file.
std::string StemOf(const std::string& path);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_SOURCE_FILES_H_
