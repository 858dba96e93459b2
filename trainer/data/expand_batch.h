// A batch's compact sections, expanded, offset and padded on the device.
#ifndef PACKTRAIN_TRAINER_DATA_EXPAND_BATCH_H_
#define PACKTRAIN_TRAINER_DATA_EXPAND_BATCH_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace packtrain::trainer {

// Sections of a checked batch, as they came, of the real shape (graphs, nodes, edges). All pointers here and
// below are to device memory.
struct CompactBatch {
  int graphs = 0;
  int nodes = 0;
  int edges = 0;
  const std::uint32_t* n_node = nullptr;  // [graphs]
  const std::uint32_t* n_edge = nullptr;  // [graphs]
  int endpoint_bytes = 0;                 // 1, 2 or 4; 0: all ordered pairs of distinct nodes, not sent
  const void* senders = nullptr;          // [edges], local to their graph; sorted by receiver, then sender
  const void* receivers = nullptr;        // [edges]
};

// An input of the model: its real elements, and a word of 32 bits for each padded one. An element of one or two
// bytes is an unsigned integer, of four bytes whatever its word says. Words of the padding are 0.
struct RowField {
  const void* from = nullptr;
  std::uint32_t* to = nullptr;
  std::int64_t real = 0;    // elements
  std::int64_t padded = 0;  // words
  int element_bytes = 4;
  const std::int32_t* class_of = nullptr;  // [256], for elements of one byte: the words are its entries
};

struct RowFields {
  static constexpr int kMax = 12;

  // At most kMax.
  void Add(const RowField& field) { fields[count++] = field; }

  RowField fields[kMax];
  int count = 0;
};

// A column of the graphs' targets, and how it is normalised: (y - mean) / scale.
struct TargetColumn {
  int column = 0;
  double mean = 0;
  double scale = 1;
};

// The columns that a model learns.
struct TargetColumns {
  const double* y = nullptr;  // [graphs, columns]; null: there are no targets
  int columns = 1;
  const TargetColumn* chosen = nullptr;  // [count]
  int count = 0;
  float* targets = nullptr;  // [padded graphs, count]
  float* weights = nullptr;  // [padded graphs, count]
};

// What the launches of one batch hand on: where graphs begin, and counts of the sort by sender.
struct BatchScratch {
  std::int32_t* node_start = nullptr;     // [graphs + 1]
  std::int32_t* edge_start = nullptr;     // [graphs + 1]
  std::int32_t* sends_of_warp = nullptr;  // [kSortWarps, nodes]; only where endpoints are sent
};
inline constexpr int kSortWarps = 8;

// The topology and the orders of GraphTensors, of the padded shape (graphs, nodes, edges).
struct ExpandedBatch {
  int graphs = 0;
  int nodes = 0;
  int edges = 0;
  std::int32_t* senders = nullptr;
  std::int32_t* receivers = nullptr;
  std::int32_t* graph_of_node = nullptr;
  std::int32_t* n_node = nullptr;
  float* in_degree = nullptr;
  std::int32_t* receiver_start = nullptr;
  std::int32_t* by_sender = nullptr;
  std::int32_t* sender_start = nullptr;
  std::int32_t* real = nullptr;
};

// Enqueues the sums over the graphs before each one. Reads only the counts of `batch`, writes only the starts.
cudaError_t LocateGraphs(const CompactBatch& batch, const BatchScratch& scratch, cudaStream_t stream);

// What a model reads of a batch beside its topology.
struct BatchInputs {
  RowFields rows;
  TargetColumns targets;
};

// Enqueues the rest, after LocateGraphs: one launch, and one more where endpoints were sent. Equal batches
// give equal bytes. Entries of `by_sender` after the real edges are left as they are.
cudaError_t ExpandBatch(const CompactBatch& batch, const BatchInputs& inputs, const BatchScratch& scratch,
                        const ExpandedBatch& out, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_EXPAND_BATCH_H_
