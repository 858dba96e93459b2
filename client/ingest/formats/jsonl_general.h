// The general form of a graph as a line of JSON, whose keys README.md of the folder above has: "Lines of JSON".
// A file without edges in its first record brings none. Without a schema the first record says which fields
// there are.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_GENERAL_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_GENERAL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/formats/json_line.h"
#include "client/ingest/formats/jsonl_form.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

// A column of key `y`.
struct GeneralTarget {
  std::string name;
  std::string unit;
};

// What the records of a file in the general form hold.
struct GeneralLayout {
  GraphLayout graphs;
  std::vector<GeneralTarget> targets = {};
};

// The layout of the records that begin with this one. Refusals, such as "bad_schema".
absl::StatusOr<GeneralLayout> GeneralLayoutOf(JsonObject record);

std::unique_ptr<JsonlForm> NewGeneralForm(GeneralLayout layout, const ReadLimits& limits);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_GENERAL_H_
