// The data items of a record of an SDF file: what stands between "M  END" and "$$$$".
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_SDF_DATA_ITEMS_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_SDF_DATA_ITEMS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace packtrain::ingest {

// "> <name>", and the lines that follow; views into the record.
struct DataItem {
  std::string_view name;
  std::string_view text;  // without blank lines behind it
  std::size_t line = 0;   // on which it begins, of the lines, from 1
};

// Lines end in "\n". A blank line ends an item where another one follows; otherwise it belongs to the text.
// Refusal "bad_property": a line that begins an item without a name, or lines in front of all items; `line` is
// then that line, from 1.
absl::Status ReadDataItems(std::string_view lines, std::vector<DataItem>* items, std::size_t* line);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_SDF_DATA_ITEMS_H_
