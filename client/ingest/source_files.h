// Which files an import reads.
#ifndef PACKTRAIN_CLIENT_INGEST_SOURCE_FILES_H_
#define PACKTRAIN_CLIENT_INGEST_SOURCE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace packtrain::ingest {

// Files stand for themselves; a folder stands for the files right in it that are named *.xyz or *.extxyz, with
// or without .gz, by name. NOT_FOUND: no such file or folder, or a folder without such a file.
absl::StatusOr<std::vector<std::string>> FindXyzFiles(const std::vector<std::string>& paths);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_SOURCE_FILES_H_
