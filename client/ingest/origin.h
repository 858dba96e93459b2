// Where a record was read.
#ifndef PACKTRAIN_CLIENT_INGEST_ORIGIN_H_
#define PACKTRAIN_CLIENT_INGEST_ORIGIN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace packtrain::ingest {

struct Origin {
  std::string file;
  std::string record_word;   // what the file's format calls a record, such as "frame"
  std::uint64_t record = 0;  // in its file, from 1; 0: unknown
  std::uint64_t line = 0;    // on which it begins; 0: unknown

  friend bool operator==(const Origin&, const Origin&) = default;
};

// As "FILE:LINE: frame RECORD", the form in which origins travel with blocks of graphs.
std::string FormatOrigin(const Origin& origin);
// The reverse; any other text becomes the file.
Origin ParseOrigin(std::string_view text);

// The refusal with its place in front: "FILE:LINE: frame RECORD (ID): ", without an empty id.
absl::Status RefusedAt(const Origin& origin, std::string_view id, const absl::Status& refusal);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_ORIGIN_H_
