// The launches of table_schnet_forward.cu and table_schnet_backward.cu: SchNet whose filters are read off
// tables, forth and back.
#ifndef PACKTRAIN_TRAINER_KERNELS_TABLE_SCHNET_CUH_
#define PACKTRAIN_TRAINER_KERNELS_TABLE_SCHNET_CUH_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/edge_orders.cuh"
#include "trainer/kernels/side_stream.cuh"
#include "trainer/kernels/table_edges.cuh"

namespace packtrain::trainer {

// What the kernels take, and no others.
inline constexpr int kTableChannels = 64;      // C
inline constexpr int kTableReadoutWidth = 32;  // R
inline constexpr int kMaxTableLayers = 6;
inline constexpr int kMaxTableTargets = 64;
inline constexpr int kMaxTableClasses = 768;
inline constexpr int kMaxTableGaussians = 512;

// exp(-(d - c)^2 / width) for `count` centres c, every `spacing` from 0 on.
struct TableGaussians {
  int count = 0;
  float spacing = 0;
  float width = 0;
};

// The padded sizes; a node has rows of kTableChannels elements.
struct TableSchNetSizes {
  int graphs = 0;   // G
  int nodes = 0;    // N
  int edges = 0;    // E
  int layers = 0;   // L
  int classes = 0;  // rows of the embedding
  int targets = 0;  // T
  TableGaussians gaussians = {};
};

// Each of these at an address that is a multiple of 16, but for readout_out. Of a backward pass, their
// gradients.
template <typename Float>
struct TableSchNetMatrices {
  struct Layer {
    Float* filter_in = nullptr;   // W1 [Gaussians, C]
    Float* filter_out = nullptr;  // W2 [C, C]
    Float* message = nullptr;     // W3 [C, C]
    Float* update_in = nullptr;   // W4 [C, C]
    Float* update_out = nullptr;  // W5 [C, C]
  };
  Float* embedding = nullptr;  // [classes, C]
  Layer layers[kMaxTableLayers] = {};
  Float* readout_in = nullptr;   // W6 [C, R]
  Float* readout_out = nullptr;  // W7 [R, T]
};

struct TableSchNetGraphs {
  const std::int32_t* classes = nullptr;         // [N]
  const std::int32_t* graph_of_node = nullptr;   // [N]
  const std::int32_t* n_node = nullptr;          // [G]
  const std::int32_t* receiver_start = nullptr;  // [N + 1]
  const std::int32_t* sender_start = nullptr;    // [N + 1]
  const std::int32_t* real = nullptr;            // [3]
};

// What the forward pass leaves for the backward pass, all of it written.
struct TableSchNetStates {
  float* filter_first = nullptr;   // [L, rows, C], e W1 of the Gaussians e of a table's distances
  float* filter_second = nullptr;  // [L, rows, C], ssp(e W1) W2
  float* tables = nullptr;         // [L, rows, C]
  float* nodes = nullptr;          // [L + 1, N, C], before each layer and after the last
  float* sent = nullptr;           // [L, N, C], nodes W3
  float* means = nullptr;          // [L, N, C], of the messages to a node
  float* updates = nullptr;        // [L, N, C], means W4
  float* readout = nullptr;        // [N, R], of the last nodes by W6
  float* outputs = nullptr;        // [N, T], of each node
};

// Scratch of the backward pass.
struct TableSchNetGradients {
  float* table_parts = nullptr;    // TablePartSize(sizes)
  float* filter_first = nullptr;   // as in TableSchNetStates
  float* filter_second = nullptr;  // likewise, and so on
  float* nodes = nullptr;
  float* sent = nullptr;
  float* sums = nullptr;  // [L, N, C], of the messages to a node
  float* updates = nullptr;
  float* readout = nullptr;
  float* outputs = nullptr;
  float* products = nullptr;  // ProductPartSize(sizes)
};

// Elements.
std::int64_t TablePartSize(const TableSchNetSizes& sizes);
std::int64_t ProductPartSize(const TableSchNetSizes& sizes);

// Writes `edges`, `states` and predictions [G, T]: 0 for graphs without nodes. The order of additions follows
// from the sizes, the edges and their distances alone; nothing is atomic. Ends joined, as does the backward
// pass.
cudaError_t EnqueueTableSchNet(const TableSchNetSizes& sizes, const TableSchNetMatrices<const float>& weights,
                               const TableSchNetGraphs& graphs, const EdgeList& list, const TableEdges& edges,
                               const TableSchNetStates& states, float* predictions, const StreamPair& streams);

// Writes the gradients of `weights` of what has the gradient d_predictions [G, T] by the predictions.
cudaError_t EnqueueTableSchNetBackward(const TableSchNetSizes& sizes,
                                       const TableSchNetMatrices<const float>& weights,
                                       const TableSchNetGraphs& graphs, const TableEdges& edges,
                                       const TableSchNetStates& states, const float* d_predictions,
                                       const TableSchNetGradients& scratch,
                                       const TableSchNetMatrices<float>& d_weights, const StreamPair& streams);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_TABLE_SCHNET_CUH_
