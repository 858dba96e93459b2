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
  const std::uint8_t* z = nullptr;        // [nodes]
  const float* pos = nullptr;             // [nodes, 3]
  const double* y = nullptr;              // [graphs, columns]
  int endpoint_bytes = 0;                 // 1, 2 or 4; 0: all ordered pairs of distinct nodes, not sent
  const void* senders = nullptr;          // [edges], local to their graph; sorted by receiver, then sender
  const void* receivers = nullptr;        // [edges]
};

// How targets and classes follow from `y` and `z`.
struct BatchMeaning {
  int column = 0;   // of `y`
  int columns = 1;  // of `y`
  double mean = 0;
  double scale = 1;
  const std::int32_t* class_of = nullptr;  // [256] by atomic number
};

// What the launches of one batch hand on: where graphs begin, and counts of the sort by sender.
struct BatchScratch {
  std::int32_t* node_start = nullptr;     // [graphs + 1]
  std::int32_t* edge_start = nullptr;     // [graphs + 1]
  std::int32_t* sends_of_warp = nullptr;  // [kSortWarps, nodes]; only where endpoints are sent
};
inline constexpr int kSortWarps = 8;

// The members of GraphTensors, of the padded shape (graphs, nodes, edges).
struct ExpandedBatch {
  int graphs = 0;
  int nodes = 0;
  int edges = 0;
  std::int32_t* classes = nullptr;
  float* positions = nullptr;
  std::int32_t* senders = nullptr;
  std::int32_t* receivers = nullptr;
  std::int32_t* graph_of_node = nullptr;
  std::int32_t* n_node = nullptr;
  float* target = nullptr;
  float* weight = nullptr;
  float* in_degree = nullptr;
  std::int32_t* receiver_start = nullptr;
  std::int32_t* by_sender = nullptr;
  std::int32_t* sender_start = nullptr;
  std::int32_t* real = nullptr;
};

// Enqueues the sums over the graphs before each one. Reads only the counts of `batch`, writes only the starts.
cudaError_t LocateGraphs(const CompactBatch& batch, const BatchScratch& scratch, cudaStream_t stream);

// Enqueues the rest, behind LocateGraphs: one launch, and one more where endpoints were sent. Equal batches
// give equal bytes. Entries of `by_sender` behind the real edges are left as they are.
cudaError_t ExpandBatch(const CompactBatch& batch, const BatchMeaning& meaning, const BatchScratch& scratch,
                        const ExpandedBatch& out, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_EXPAND_BATCH_H_
