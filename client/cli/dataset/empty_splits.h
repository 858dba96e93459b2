// Splits that were asked for and got no graph.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_EMPTY_SPLITS_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_EMPTY_SPLITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// A line of each split of `dataset` that is empty, but for those whose share of `permille` (train, val, test)
// is 0. Without `permille` the splits were listed, and all of them count.
std::vector<std::string> NotesOfEmptySplits(const v1::Dataset& dataset,
                                            const std::vector<std::uint32_t>& permille);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_EMPTY_SPLITS_H_
