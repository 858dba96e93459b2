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

// The same for people: without what is unknown.
std::string PlaceText(const Origin& origin);

// The place of what is of no line and no record: a file, an archive or a folder as a whole.
Origin WholeFile(std::string path);
bool IsWholeFile(const Origin& place);

// A refusal (refusal.h) with the place of what it refuses, unless it has one already; its message stays
// without. Any other status as it is.
absl::Status RefusedAt(const Origin& place, absl::Status status);
// A refusal of WholeFile(path); `reason` and `what` as Refusal takes them.
absl::Status RefusedWhole(std::string path, std::string_view reason, std::string_view what);
// The same, whatever place it has.
absl::Status RefusedElsewhere(const Origin& place, absl::Status status);

// Where the refusal of a record is: its own place, whose file and record are those of this record where it
// names none and is no whole file, or the place of the record.
Origin PlaceOf(const absl::Status& refusal, const Origin& record);

// A refusal with its place and the id of the graph in its message, as RefusalText has them; of a whole file
// without the id. One without a place stays as it is.
absl::Status WithPlace(const absl::Status& refusal, std::string_view id);
// The same, with a place as PlaceOf finds it.
absl::Status WithPlace(const absl::Status& refusal, const Origin& record, std::string_view id);

// "PLACE (ID)", without an empty id.
std::string PlaceText(std::string_view place, std::string_view id);

// "PLACE (ID): MESSAGE", without an empty id: what people are told of a refused graph.
std::string RefusalText(std::string_view place, std::string_view id, std::string_view message);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_ORIGIN_H_
