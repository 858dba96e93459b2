// What `packtrain import` tells of an import that is done.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_IMPORT_REPORT_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_IMPORT_REPORT_H_

#include <cstdint>
#include <string>

#include "client/cli/command.h"
#include "client/ingest/ledger.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

struct ImportResult {
  v1::SealDatasetResponse sealed;
  std::uint64_t stored = 0;
  std::uint64_t continued_at = 0;  // graphs that were not sent again; 0: all were sent
  double seconds = 0;
};

// What was read, and what became of it.
Json JsonOf(const ingest::Ledger& ledger);
// A line for each remark and reason, for how rows and graphs of a join met, and for what became of labels.
std::string TextOf(const ingest::Ledger& ledger);

Json ToJson(const ImportResult& result, const ingest::Ledger& ledger);

std::string ToText(const ImportResult& result, const ingest::Ledger& ledger);

// Lists the first refused graphs. `listed` is where all of them can be read, or empty.
void NoteRefusals(const std::string& listed, const ingest::Ledger& ledger, Output& output);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_IMPORT_REPORT_H_
