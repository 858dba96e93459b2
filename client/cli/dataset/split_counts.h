// How many graphs each split holds, as commands tell that make splits.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_SPLIT_COUNTS_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_SPLIT_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>

#include "client/cli/command.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// Graphs by split.
struct SplitCounts {
  std::map<std::string, std::uint64_t> graphs;  // by the name of the split; empty: there are no splits
  std::uint64_t in_none = 0;
};

SplitCounts SplitsOf(const v1::Dataset& dataset);
// Of a part with so many graphs.
SplitCounts SplitsOf(const v1::SealDatasetRequest& part, std::uint64_t graphs);

// Adds `splits` and `in_no_split`, which is null where there are no splits.
void AddSplits(const SplitCounts& splits, Json* json);
// A line, or empty where there are no splits.
std::string TextOf(const SplitCounts& splits);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_SPLIT_COUNTS_H_
