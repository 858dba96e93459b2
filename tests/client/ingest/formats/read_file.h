// Imports one file by its format, and keeps what came out of it.
#ifndef PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_READ_FILE_H_
#define PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_READ_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/ingest/format.h"
#include "client/ingest/import_options.h"
#include "client/ingest/ledger.h"

namespace packtrain::testing {

// A graph as it would be sent.
struct SentGraph {
  std::string id;
  std::string content;  // all of it but the id; equal for equal graphs

  bool operator==(const SentGraph&) const = default;
};

struct ReadResult {
  absl::Status status;            // why the import ended early
  std::vector<SentGraph> graphs;  // sent until then
  ingest::Ledger ledger;

  std::vector<std::string> Ids() const;
};

// Reads `options.paths` through the import pipeline. Whatever the format sends must be a block or records of
// the schema that it announced; anything else ends in INTERNAL.
ReadResult ReadBy(const ingest::Format& format, ingest::ImportOptions options);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_READ_FILE_H_
