// What the source called the graphs of a data set.
#ifndef PACKTRAIN_SERVER_BATCHES_SOURCE_IDS_H_
#define PACKTRAIN_SERVER_BATCHES_SOURCE_IDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/graph_store.h"

namespace packtrain::batches {

// Source ids of `graphs`, in their order, read from the store. DATA_LOSS: a record is corrupt.
absl::StatusOr<std::vector<std::string>> ReadSourceIds(const storage::Dataset& dataset,
                                                       std::span<const std::uint32_t> graphs);

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_SOURCE_IDS_H_
