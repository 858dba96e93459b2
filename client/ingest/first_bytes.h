// What the first bytes of a file, unpacked, say about it.
#ifndef PACKTRAIN_CLIENT_INGEST_FIRST_BYTES_H_
#define PACKTRAIN_CLIENT_INGEST_FIRST_BYTES_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace packtrain::ingest {

// As many as the functions below look at; fewer only where the file has no more.
inline constexpr std::size_t kFirstBytes = 512;

bool IsZip(std::string_view head);
bool IsTar(std::string_view head);

// The refusal "git_lfs_pointer", where that stands in place of the data.
absl::Status CheckNoLfsPointer(std::string_view head, const std::string& path);

// Refuses what holds no records, whatever the format: "git_lfs_pointer", "utf16_text", "unread_packing" and
// "archive" of ByteSource::Read. Messages name `path` and hold no byte of the file.
absl::Status CheckFirstBytes(std::string_view head, const std::string& path);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FIRST_BYTES_H_
