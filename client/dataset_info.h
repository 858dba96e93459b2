// What a trainer needs to know of a data set before it asks for batches.
#ifndef PACKTRAIN_CLIENT_DATASET_INFO_H_
#define PACKTRAIN_CLIENT_DATASET_INFO_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/connection.h"
#include "proto/wire/batch_layout.h"
#include "proto/wire/batch_spec.h"

namespace packtrain::client {

// Mean, population deviation and median of one target over the graphs of a split that have it.
struct TargetStatistics {
  std::string target;
  std::string unit;
  std::uint64_t count = 0;
  double mean = 0;
  double stddev = 0;
  // Absent: no graph has it, or the data set was sealed before this was counted.
  std::optional<double> median = std::nullopt;
};

struct SplitInfo {
  std::string name;
  std::uint64_t graphs = 0;
  std::vector<TargetStatistics> targets;  // in the order of the columns of field `y`
  // Mean of ln(d + 1) over the nodes, where d edges end in the node; absent: there is no node, or the data set
  // was sealed before this was counted.
  std::optional<double> mean_log_degree = std::nullopt;
};

// One field of each graph, node or edge.
struct FieldInfo {
  std::string name;
  std::uint64_t width = 1;  // values a row
  // Of values that stand for words: their number, and in how many of the graphs that were read each was found.
  // The latter is empty where that was not counted.
  std::uint64_t words = 0;
  std::vector<std::uint64_t> graphs_with_word = {};
  std::string words_hash = {};  // equal where the words and their order are; empty: there are none
};

struct DatasetInfo {
  std::string reference;  // NAME@VERSION
  std::uint64_t graphs = 0;
  std::vector<SplitInfo> splits;       // always "all"; train, val, test where there are splits
  std::vector<std::uint32_t> classes;  // distinct atomic numbers, ascending
  std::vector<FieldInfo> fields;

  // Null: the data set has none of that name.
  const SplitInfo* FindSplit(std::string_view name) const;
  const FieldInfo* FindField(std::string_view name) const;
};

absl::StatusOr<DatasetInfo> GetDatasetInfo(Connection& connection, const std::string& dataset);

// The part of a plan that a trainer reads.
struct PlanInfo {
  std::uint64_t steps = 0;
  std::uint64_t batches = 0;
  wire::Shape budget;  // (M, N, E), with the blocks of supergraphs; zeros for static
  std::string fingerprint;
};

// RESOURCE_EXHAUSTED: a batch would need more than `max_batch_bytes` of the connection.
absl::StatusOr<PlanInfo> GetPlanInfo(Connection& connection, const std::string& dataset,
                                     const wire::BatchSpec& spec, std::uint64_t epoch,
                                     std::uint32_t world_size);

// The source ids of the graphs of batch `index` of epoch 0 of a world of one rank, in the batch's order.
absl::StatusOr<std::vector<std::string>> GetSourceIds(Connection& connection, const std::string& dataset,
                                                      const wire::BatchSpec& spec, std::uint64_t index);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_DATASET_INFO_H_
