// What a user asks of an import, whatever the format.
#ifndef PACKTRAIN_CLIENT_INGEST_IMPORT_OPTIONS_H_
#define PACKTRAIN_CLIENT_INGEST_IMPORT_OPTIONS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/ingest/format.h"
#include "client/ingest/target_table.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

struct RandomSplit {
  std::array<std::uint32_t, 3> permille;  // train, val, test; they add up to 1000
  std::uint32_t seed = 0;
};

struct ImportOptions {
  std::vector<std::string> paths;  // at least one; files, and folders where the format has extensions
  ReadOptions read;
  std::uint64_t limit = 0;  // read this many records; 0: all
  // Names of the targets; empty: those that label_table.h finds, or all columns of numbers in `join`.
  std::vector<std::string> targets;
  // What is read is a part of a data set: other parts may have what it lacks of `targets` and of rows of
  // `join`.
  bool is_part = false;
  // Take targets from this table; `targets` of it is not used.
  std::optional<JoinOptions> join;
  bool missing_target_nan = false;  // otherwise a graph without a target is refused
  bool skip_refused = false;        // otherwise the first refusal ends the import
  bool number_duplicates = false;   // otherwise a repeated id is refused
  // A spec (proto/wire/edge_spec.h), or what the format calls its own edges; empty: the format's own where it
  // has edges, else "full".
  std::string edges;
  // How the nodes of each graph are to be numbered; unspecified: as they are read.
  v1::Renumbering renumber = v1::RENUMBERING_UNSPECIFIED;
  std::optional<RandomSplit> random_split;
  std::string split_file;  // empty: none; not beside `random_split`
  // For the lineage: the arguments, for people, and the version of the program.
  std::string command;
  std::string program_version;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_IMPORT_OPTIONS_H_
