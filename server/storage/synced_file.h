// Files beside a database, each written with the system's calls and synced.
#ifndef PACKTRAIN_SERVER_STORAGE_SYNCED_FILE_H_
#define PACKTRAIN_SERVER_STORAGE_SYNCED_FILE_H_

#include <filesystem>
#include <string_view>

#include "absl/status/status.h"

namespace packtrain::storage {

// RESOURCE_EXHAUSTED: no space. UNAVAILABLE: anything else. Any thread.

// Puts `text` into the place of the file, all or nothing.
absl::Status ReplaceFile(const std::filesystem::path& file, std::string_view text);

// Writes `text` behind the end of the file, which is made where it does not exist. A failure may leave a part
// of it.
absl::Status AppendToFile(const std::filesystem::path& file, std::string_view text);

// The names in it.
absl::Status SyncFolder(const std::filesystem::path& folder);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_SYNCED_FILE_H_
