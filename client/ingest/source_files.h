// Which files an import reads, and what it keeps of them.
#ifndef PACKTRAIN_CLIENT_INGEST_SOURCE_FILES_H_
#define PACKTRAIN_CLIENT_INGEST_SOURCE_FILES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/byte_source.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// Files stand for themselves; a folder stands for the files right in it that end in one of `extensions`
// (".xyz"), with or without .gz or .xz, by name. Without extensions a folder stands for itself. NOT_FOUND: no
// such folder, or a folder without such a file.
absl::StatusOr<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths,
                                                   std::span<const std::string_view> extensions);

// The files below a folder, at any depth, that end in one of `extensions`, relative to it and by name. Links to
// folders are not followed. NOT_FOUND as above.
absl::StatusOr<std::vector<std::string>> FindFilesBelow(const std::string& folder,
                                                        std::span<const std::string_view> extensions);

// "folder/a.b.xyz.gz" -> "a.b", which names a graph that is alone in its file.
std::string StemOf(const std::string& path);

// Reads what is left of the file and describes it as it lies on disk. Nothing may be read afterwards.
absl::StatusOr<v1::SourceFile> DescribeFile(ByteSource& source);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_SOURCE_FILES_H_
