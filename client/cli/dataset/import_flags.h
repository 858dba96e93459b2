// The flags of `packtrain import`: those of every import, and the own flags of the formats that have some.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_IMPORT_FLAGS_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_IMPORT_FLAGS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/cli/command.h"
#include "client/ingest/format.h"
#include "client/ingest/import_options.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// As parsed.
struct ImportFlags {
  std::string format;
  std::vector<std::string> paths;
  std::string name;
  std::string output;  // part to be written; empty: none, the graphs go to a server
  std::string edges;   // empty: not given
  v1::Renumbering renumber = v1::RENUMBERING_UNSPECIFIED;
  std::vector<std::string> targets;
  std::string join;
  std::string key;
  std::string missing_target = "refuse";
  std::vector<std::uint32_t> split_permille;
  std::uint32_t split_seed = 0;
  std::string split_file;
  std::string duplicate_ids = "refuse";
  std::uint64_t limit = 0;
  std::string on_error = "stop";
  std::string ledger;
  bool go_on = false;  // --continue
  ingest::ReadLimits limits;
  ingest::FormatFlagValues of_format;
};

// Adds the flags to `command`, which fills `flags` when it is parsed; `formats` and `flags` are borrowed.
void AddImportFlags(CLI::App& command, std::span<const ingest::Format> formats, ImportFlags& flags);

// What is wrong with flags that were parsed one by one; empty: nothing.
std::string CheckImportFlags(const CLI::App& command, const ingest::Format& format,
                             std::span<const ingest::Format> formats, const ImportFlags& flags);

ingest::ImportOptions ImportOptionsOf(const ImportFlags& flags, const GlobalOptions& global);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_IMPORT_FLAGS_H_
