#include "trainer/kernels/early_launch.cuh"
#include "trainer/kernels/softplus_of_float.cuh"
#include "trainer/kernels/table_filters.cuh"
#include "trainer/kernels/table_layers.cuh"
#include "trainer/kernels/weight_gradients.cuh"

namespace packtrain::trainer {
namespace {

// From the gradient of nodes' states to that of the sums of messages in the layer before them.
struct UpdateBackward {
  const std::int32_t* receiver_start;
  const float* update_in;   // W4
  const float* update_out;  // W5
  const float* updates;
  float* d_updates;
  float* d_sums;
};

// Matrices 0 and 1 are of the update.
__device__ void CopyMatrices(const UpdateBackward& update, Matrix* matrices) {
  CopyMatrix(matrices[0], update.update_out, kRowColumns);
  CopyMatrix(matrices[1], update.update_in, kRowColumns);
}

// `row` has the gradient of the node's state, and is there after a barrier.
__device__ void BackwardUpdate(const UpdateBackward& update, const NodeOfThread& thread, const Matrix* matrices,
                               Row& row) {
  __syncthreads();
  const float4 d_active = MultiplyTransposed(row, matrices[0]);
  if (thread.sums) {
    float4 d_update = {};
    if (thread.inside) {
      d_update = Map(SoftplusGradient<float>(), Load<float4>(update.updates, thread.At()), d_active);
      Store(update.d_updates, thread.At(), d_update);
    }
    row[threadIdx.x] = d_update;
  }
  __syncthreads();
  const float4 d_mean = MultiplyTransposed(row, matrices[1]);
  if (!thread.sums || !thread.inside) return;
  Store(update.d_sums, thread.At(), Scaled(1 / DegreeOf(update.receiver_start, thread.node), d_mean));
}

// From the predictions into the last layer.
struct ReadoutBackward {
  int nodes;
  int targets;
  const std::int32_t* graph_of_node;
  const std::int32_t* n_node;
  const std::int32_t* real;
  const float* d_predictions;
  const float* readout_in;   // W6
  const float* readout_out;  // W7
  const float* readout;
  float* d_outputs;
  float* d_readout;
  float* d_states;
};

// Columns [4 x, 4 x + 4) of the gradient of the node's row by W6, for thread x; writes that of its outputs.
__device__ float4 ReadOutBackward(const ReadoutBackward& back, const NodeOfThread& thread) {
  const auto x = static_cast<int>(threadIdx.x);
  if (x * kWidth<float4> >= kTableReadoutWidth) return {};
  const bool real = thread.node < back.real[1];
  const int graph = real ? back.graph_of_node[thread.node] : 0;
  const float share = real ? 1 / static_cast<float>(max(back.n_node[graph], 1)) : 0.0f;
  float4 d_active = {};
  for (int target = 0; target < back.targets; ++target) {
    const float d_output = real ? share * back.d_predictions[graph * back.targets + target] : 0.0f;
    if (x == 0) back.d_outputs[std::int64_t{thread.node} * back.targets + target] = d_output;
    const auto weight = [&](int i) {
      return __ldg(back.readout_out + (x * kWidth<float4> + i) * back.targets + target);
    };
    d_active = AddScaled(d_active, d_output, {weight(0), weight(1), weight(2), weight(3)});
  }
  constexpr int kVectors = kTableReadoutWidth / kWidth<float4>;
  const std::int64_t at = std::int64_t{thread.node} * kVectors + x;
  const float4 d_row = Map(SoftplusGradient<float>(), Load<float4>(back.readout, at), d_active);
  Store(back.d_readout, at, d_row);
  return d_row;
}

template <int kNodes>
__global__ void __launch_bounds__(kRowThreads, kBlocksAtOnce<kNodes>)
    BackwardReadout(ReadoutBackward back, UpdateBackward update) {
  extern __shared__ Matrix matrices[];
  __shared__ Row rows[kNodes];
  const NodeOfThread thread = FindNode<kNodes>(back.nodes);
  Row& row = rows[threadIdx.z];
  CopyMatrices(update, matrices);
  CopyMatrix(matrices[2], back.readout_in, kTableReadoutWidth);
  LetNextBegin();
  WaitForEarlier();
  if (thread.sums) row[threadIdx.x] = thread.inside ? ReadOutBackward(back, thread) : float4{};
  WaitForCopies();
  __syncthreads();
  const float4 d_state = MultiplyTransposed(row, matrices[2]);
  if (thread.sums) row[threadIdx.x] = d_state;
  if (thread.sums && thread.inside) Store(back.d_states, thread.At(), d_state);
  BackwardUpdate(update, thread, matrices, row);
}

// From the gradient of the sums of messages in one layer to that of the states before it.
struct LayerBackward {
  int nodes;
  const std::int32_t* sender_start;
  const TableEdge* outgoing;
  const float* table;
  const float* d_sums;
  const float* d_states_after;
  const float* message;  // W3
  float* d_sent;
  float* d_states_before;
};

// And on into the layer before, where there is one.
template <int kNodes, bool kHasLayerBefore>
__global__ void __launch_bounds__(kRowThreads, kBlocksAtOnce<kNodes>)
    BackwardLayer(LayerBackward back, UpdateBackward update) {
  extern __shared__ Matrix matrices[];
  __shared__ Row rows[kNodes];
  const NodeOfThread thread = FindNode<kNodes>(back.nodes);
  Row& row = rows[threadIdx.z];
  if constexpr (kHasLayerBefore) CopyMatrices(update, matrices);
  CopyMatrix(matrices[2], back.message, kRowColumns);
  LetNextBegin();
  WaitForEarlier();
  float4 sum = {};
  if (thread.inside) {
    const int begin = back.sender_start[thread.node], end = back.sender_start[thread.node + 1];
    sum = SumMessages<kNodes>(back.outgoing, begin, end, back.d_sums, back.table);
  }
  WaitForCopies();
  sum = AddSlices(sum);
  if (thread.sums) row[threadIdx.x] = sum;
  if (thread.sums && thread.inside) Store(back.d_sent, thread.At(), sum);
  __syncthreads();
  float4 d_state = MultiplyTransposed(row, matrices[2]);
  if (thread.sums && thread.inside) {
    d_state = Map(Sum(), d_state, Load<float4>(back.d_states_after, thread.At()));
    Store(back.d_states_before, thread.At(), d_state);
  }
  if (thread.sums) row[threadIdx.x] = d_state;
  if constexpr (kHasLayerBefore) BackwardUpdate(update, thread, matrices, row);
}

UpdateBackward UpdateBackwardOf(const Pass& pass, const TableSchNetGradients& scratch, int i) {
  return {.receiver_start = pass.graphs.receiver_start,
          .update_in = pass.weights.layers[i].update_in,
          .update_out = pass.weights.layers[i].update_out,
          .updates = pass.OfNodes(pass.states.updates, i),
          .d_updates = pass.OfNodes(scratch.updates, i),
          .d_sums = pass.OfNodes(scratch.sums, i)};
}

ReadoutBackward ReadoutBackwardOf(const Pass& pass, const TableSchNetGradients& scratch,
                                  const float* d_predictions) {
  return {.nodes = pass.sizes.nodes,
          .targets = pass.sizes.targets,
          .graph_of_node = pass.graphs.graph_of_node,
          .n_node = pass.graphs.n_node,
          .real = pass.graphs.real,
          .d_predictions = d_predictions,
          .readout_in = pass.weights.readout_in,
          .readout_out = pass.weights.readout_out,
          .readout = pass.states.readout,
          .d_outputs = scratch.outputs,
          .d_readout = scratch.readout,
          .d_states = pass.OfNodes(scratch.nodes, pass.sizes.layers)};
}

LayerBackward LayerBackwardOf(const Pass& pass, const TableSchNetGradients& scratch, int i) {
  return {.nodes = pass.sizes.nodes,
          .sender_start = pass.graphs.sender_start,
          .outgoing = pass.edges.outgoing,
          .table = pass.Table(i),
          .d_sums = pass.OfNodes(scratch.sums, i),
          .d_states_after = pass.OfNodes(scratch.nodes, i + 1),
          .message = pass.weights.layers[i].message,
          .d_sent = pass.OfNodes(scratch.sent, i),
          .d_states_before = pass.OfNodes(scratch.nodes, i)};
}

Factor Values(const float* rows, int columns) { return {.values = rows, .columns = columns}; }
Factor Softplus(const float* rows, int columns) {
  return {.kind = FactorKind::kSoftplus, .values = rows, .columns = columns};
}

void AddTable(const Pass& pass, const TableSchNetGradients& scratch, const TableSchNetMatrices<float>::Layer& d,
              int i, WeightGradients& gradients) {
  const TableGaussians& gaussians = pass.sizes.gaussians;
  const std::int64_t before = std::int64_t{i} * kTableRows * kTableChannels;
  gradients.Add({.factor = {.kind = FactorKind::kGaussians,
                            .columns = gaussians.count,
                            .step = 1 / kTableRowsPerAngstrom,
                            .spacing = gaussians.spacing,
                            .width = gaussians.width},
                 .d = scratch.filter_first + before,
                 .gradient = d.filter_in,
                 .rows = kTableRows,
                 .d_columns = kTableChannels});
  gradients.Add({.factor = Softplus(pass.states.filter_first + before, kTableChannels),
                 .d = scratch.filter_second + before,
                 .gradient = d.filter_out,
                 .rows = kTableRows,
                 .d_columns = kTableChannels});
}

// Of what makes filters.
WeightGradients GradientsOfTables(const Pass& pass, const TableSchNetGradients& scratch,
                                  const TableSchNetMatrices<float>& d) {
  WeightGradients gradients;
  for (int i = 0; i < pass.sizes.layers; ++i) AddTable(pass, scratch, d.layers[i], i, gradients);
  return gradients;
}

void AddLayer(const Pass& pass, const TableSchNetGradients& scratch, const TableSchNetMatrices<float>::Layer& d,
              int i, WeightGradients& gradients) {
  constexpr int kColumns = kTableChannels;
  const int nodes = pass.sizes.nodes;
  gradients.Add({.factor = Values(pass.OfNodes(pass.states.nodes, i), kColumns),
                 .d = pass.OfNodes(scratch.sent, i),
                 .gradient = d.message,
                 .rows = nodes,
                 .d_columns = kColumns});
  gradients.Add({.factor = Values(pass.OfNodes(pass.states.means, i), kColumns),
                 .d = pass.OfNodes(scratch.updates, i),
                 .gradient = d.update_in,
                 .rows = nodes,
                 .d_columns = kColumns});
  gradients.Add({.factor = Softplus(pass.OfNodes(pass.states.updates, i), kColumns),
                 .d = pass.OfNodes(scratch.nodes, i + 1),
                 .gradient = d.update_out,
                 .rows = nodes,
                 .d_columns = kColumns});
}

// Of what multiplies rows of nodes.
WeightGradients GradientsOfNodes(const Pass& pass, const TableSchNetGradients& scratch,
                                 const TableSchNetMatrices<float>& d) {
  const TableSchNetSizes& sizes = pass.sizes;
  WeightGradients gradients;
  for (int i = 0; i < sizes.layers; ++i) AddLayer(pass, scratch, d.layers[i], i, gradients);
  gradients.Add({.factor = {.kind = FactorKind::kOneHot, .ones = pass.graphs.classes, .columns = sizes.classes},
                 .d = scratch.nodes,
                 .gradient = d.embedding,
                 .rows = sizes.nodes,
                 .d_columns = kTableChannels});
  gradients.Add({.factor = Values(pass.OfNodes(pass.states.nodes, sizes.layers), kTableChannels),
                 .d = scratch.readout,
                 .gradient = d.readout_in,
                 .rows = sizes.nodes,
                 .d_columns = kTableReadoutWidth});
  gradients.Add({.factor = Softplus(pass.states.readout, kTableReadoutWidth),
                 .d = scratch.outputs,
                 .gradient = d.readout_out,
                 .rows = sizes.nodes,
                 .d_columns = sizes.targets});
  return gradients;
}

// A table's gradient needs the sums of messages of its layer alone, so it is made beside the layers before.
template <int kNodes>
cudaError_t EnqueueBackward(const Pass& pass, const TableSchNetGradients& scratch, const float* d_predictions,
                            const TableSchNetMatrices<float>& d_weights) {
  const StreamPair& streams = pass.streams;
  const int nodes = pass.sizes.nodes;
  FirstError error;
  error(Launch<kNodes>(BackwardReadout<kNodes>, nodes, /*early=*/true, streams.main,
                       ReadoutBackwardOf(pass, scratch, d_predictions),
                       UpdateBackwardOf(pass, scratch, pass.last())));
  for (int i = pass.last(); i >= 0; --i) {
    error(streams.Fork());
    error(EnqueueTableParts(pass.sizes, i, pass.edges, pass.states, scratch, streams.side));
    const LayerBackward back = LayerBackwardOf(pass, scratch, i);
    error(i > 0 ? Launch<kNodes>(BackwardLayer<kNodes, true>, nodes, /*early=*/true, streams.main, back,
                                 UpdateBackwardOf(pass, scratch, i - 1))
                : Launch<kNodes>(BackwardLayer<kNodes, false>, nodes, /*early=*/true, streams.main, back,
                                 UpdateBackward{}));
  }
  error(streams.Join());
  error(streams.Fork());
  const WeightGradients of_nodes = GradientsOfNodes(pass, scratch, d_weights);
  error(EnqueueWeightGradients(of_nodes, scratch.products, streams.side));
  error(EnqueueTablesBackward(pass.sizes, pass.weights, pass.edges, pass.states, scratch, streams.main));
  error(EnqueueWeightGradients(GradientsOfTables(pass, scratch, d_weights),
                               scratch.products + ProductPartSizeOf(of_nodes.tiles), streams.main));
  error(streams.Join());
  return error.first();
}

}  // namespace

std::int64_t ProductPartSize(const TableSchNetSizes& sizes) {
  const auto tiles = [](int columns) { return (columns + kProductColumns - 1) / kProductColumns; };
  return ProductPartSizeOf(sizes.layers * (tiles(sizes.gaussians.count) + 4) + tiles(sizes.classes) + 2);
}

cudaError_t EnqueueTableSchNetBackward(const TableSchNetSizes& sizes,
                                       const TableSchNetMatrices<const float>& weights,
                                       const TableSchNetGraphs& graphs, const TableEdges& edges,
                                       const TableSchNetStates& states, const float* d_predictions,
                                       const TableSchNetGradients& scratch,
                                       const TableSchNetMatrices<float>& d_weights, const StreamPair& streams) {
  const Pass pass = {sizes, weights, graphs, edges, states, streams};
  return IsSmall(sizes) ? EnqueueBackward<kFewNodes>(pass, scratch, d_predictions, d_weights)
                        : EnqueueBackward<kManyNodes>(pass, scratch, d_predictions, d_weights);
}

}  // namespace packtrain::trainer
