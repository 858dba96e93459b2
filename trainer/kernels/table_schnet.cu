#include "trainer/kernels/table_schnet.cuh"

#include "trainer/kernels/early_launch.cuh"
#include "trainer/kernels/row_products.cuh"
#include "trainer/kernels/softplus_of_float.cuh"
#include "trainer/kernels/table_cells.cuh"
#include "trainer/kernels/table_filters.cuh"
#include "trainer/kernels/weight_gradients.cuh"

// A block has a few nodes. One launch a layer and direction makes the sums over their edges and all products of
// rows that lie between these sums and the next ones, so that rows stay on the chip.
namespace packtrain::trainer {
namespace {

// Nodes of a block: so few that a small batch reaches all of a card.
constexpr int kFewNodes = 4, kManyNodes = 8;
constexpr int kNodesOfSmallBatch = 1200;
// Of a multiprocessor, so that 2,304 nodes run all at once on one of Hopper.
template <int kNodes>
constexpr int kBlocksAtOnce = kNodes == kFewNodes ? 2 : 3;
// Edges of a thread whose rows are loaded together, before any is used: the more, the more registers.
template <int kNodes>
constexpr int kInFlight = kNodes == kFewNodes ? 5 : 3;
constexpr int kGraphThreads = 128;

static_assert(kTableChannels == kRowColumns);

// A thread's node, and its vector in rows of the node.
struct NodeOfThread {
  int node;
  bool inside;
  bool sums;  // is of the slice that has the sum of all

  __device__ std::int64_t At() const { return std::int64_t{node} * kRowVectors + threadIdx.x; }
};

template <int kNodes>
__device__ NodeOfThread FindNode(int nodes) {
  const int node = static_cast<int>(blockIdx.x) * kNodes + static_cast<int>(threadIdx.z);
  return {node, node < nodes, threadIdx.y == 0};
}

__device__ float4 Interpolate(const float* table, float place) {
  const int cell = CellOf(place);
  const CubicWeights weights = WeightsAt(place, cell);
  float4 sum = {};
#pragma unroll
  for (int row = 0; row < kCubic; ++row) {
    sum = AddScaled(sum, weights.of[row],
                    Load<float4>(table, std::int64_t{cell + row} * kRowVectors + threadIdx.x));
  }
  return sum;
}

// What one slice adds of edges [first, end): every kSlices-th edge's row times its filter.
template <int kNodes>
__device__ float4 SumMessages(const TableEdge* edges, int first, int end, const float* rows,
                              const float* table) {
  constexpr int kSlices = kRowSlices / kNodes, kTogether = kInFlight<kNodes>;
  float4 sum = {};
  for (first += static_cast<int>(threadIdx.y); first < end; first += kTogether * kSlices) {
    TableEdge edge[kTogether];
    float4 messages[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) edge[i] = edges[min(first + i * kSlices, end - 1)];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      messages[i] = Map(Product(), Load<float4>(rows, std::int64_t{edge[i].node} * kRowVectors + threadIdx.x),
                        Interpolate(table, edge[i].place));
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (first + i * kSlices < end) sum = Map(Sum(), sum, messages[i]);
    }
  }
  return sum;
}

__device__ float4 Scaled(float factor, float4 x) {
  return {factor * x.x, factor * x.y, factor * x.z, factor * x.w};
}

__device__ float DegreeOf(const std::int32_t* receiver_start, int node) {
  return static_cast<float>(max(receiver_start[node + 1] - receiver_start[node], 1));
}

// The rows that enter the first layer.
struct Embedded {
  int nodes;
  const std::int32_t* classes;
  const float* embedding;
  const float* message;  // W3
  float* states;
  float* sent;
};

template <int kNodes>
__global__ void __launch_bounds__(kRowThreads) EmbedNodes(Embedded embedded) {
  extern __shared__ Matrix matrices[];
  __shared__ Row rows[kNodes];
  const NodeOfThread thread = FindNode<kNodes>(embedded.nodes);
  Row& row = rows[threadIdx.z];
  CopyMatrix(matrices[0], embedded.message, kRowColumns);
  if (thread.sums && thread.inside) {
    const std::int64_t from = std::int64_t{__ldg(embedded.classes + thread.node)} * kRowVectors + threadIdx.x;
    const float4 state = Load<float4>(embedded.embedding, from);
    Store(embedded.states, thread.At(), state);
    row[threadIdx.x] = state;
  }
  WaitForCopies();
  __syncthreads();
  const float4 sent = Multiply(row, matrices[0]);
  if (thread.sums && thread.inside) Store(embedded.sent, thread.At(), sent);
}

// One layer, and the product behind it: what is sent into the next layer, or what a node's output is made of.
struct Layer {
  int nodes;
  const std::int32_t* receiver_start;
  const TableEdge* incoming;
  const float* table;
  const float* sent;
  const float* states_before;
  const float* update_in;   // W4
  const float* update_out;  // W5
  const float* next;        // W3 of the next layer, or W6
  int next_columns;
  float* means;
  float* updates;
  float* states_after;
  float* next_rows;  // states_after times `next`
  // Of the last layer.
  const float* readout_out = nullptr;  // W7
  float* outputs = nullptr;
  int targets = 0;
};

// ssp of the node's row, times W7. `row` is of the block's node, and is there after a barrier.
__device__ void WriteOutputs(const Layer& layer, const NodeOfThread& thread, const Row& row) {
  if (!thread.sums || !thread.inside) return;
  const float* values = reinterpret_cast<const float*>(row);
  for (int target = static_cast<int>(threadIdx.x); target < layer.targets; target += kRowVectors) {
    float sum = 0;
    for (int i = 0; i < kTableReadoutWidth; ++i) {
      sum = fmaf(values[i], __ldg(layer.readout_out + i * layer.targets + target), sum);
    }
    layer.outputs[std::int64_t{thread.node} * layer.targets + target] = sum;
  }
}

template <int kNodes>
__global__ void __launch_bounds__(kRowThreads, kBlocksAtOnce<kNodes>) ForwardLayer(Layer layer) {
  extern __shared__ Matrix matrices[];
  __shared__ Row rows[kNodes];
  const NodeOfThread thread = FindNode<kNodes>(layer.nodes);
  const bool writes = thread.sums && thread.inside;
  Row& row = rows[threadIdx.z];
  CopyMatrix(matrices[0], layer.update_in, kRowColumns);
  CopyMatrix(matrices[1], layer.update_out, kRowColumns);
  CopyMatrix(matrices[2], layer.next, layer.next_columns);
  LetNextBegin();
  WaitForEarlier();
  float4 sum = {};
  if (thread.inside) {
    const int begin = layer.receiver_start[thread.node], end = layer.receiver_start[thread.node + 1];
    sum = SumMessages<kNodes>(layer.incoming, begin, end, layer.sent, layer.table);
  }
  WaitForCopies();
  sum = AddSlices(sum);
  if (thread.sums) {
    const float4 mean = Scaled(1 / (thread.inside ? DegreeOf(layer.receiver_start, thread.node) : 1.0f), sum);
    if (thread.inside) Store(layer.means, thread.At(), mean);
    row[threadIdx.x] = mean;
  }
  __syncthreads();
  const float4 update = Multiply(row, matrices[0]);
  if (writes) Store(layer.updates, thread.At(), update);
  if (thread.sums) row[threadIdx.x] = Map(SoftplusValue<float>(), update);
  __syncthreads();
  float4 state = Multiply(row, matrices[1]);
  if (writes) {
    state = Map(Sum(), state, Load<float4>(layer.states_before, thread.At()));
    Store(layer.states_after, thread.At(), state);
  }
  if (thread.sums) row[threadIdx.x] = state;
  __syncthreads();
  const float4 next = Multiply(row, matrices[2]);
  const int next_vectors = layer.next_columns / kWidth<float4>;
  if (writes && static_cast<int>(threadIdx.x) < next_vectors) {
    Store(layer.next_rows, std::int64_t{thread.node} * next_vectors + threadIdx.x, next);
  }
  if (layer.outputs == nullptr) return;
  if (thread.sums) row[threadIdx.x] = Map(SoftplusValue<float>(), next);
  __syncthreads();
  WriteOutputs(layer, thread, row);
}

// All threads of a block call it: the sum, in the same order whatever the values.
__device__ float SumOfBlock(float value) {
  __shared__ float sums[kGraphThreads];
  sums[threadIdx.x] = value;
  for (unsigned half = kGraphThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  __syncthreads();
  const float sum = sums[0];
  __syncthreads();
  return sum;
}

// The number of nodes before those of graph `graph`; exact, as there are less than 2^24 nodes.
__device__ int NodesBefore(const std::int32_t* n_node, int graph) {
  int nodes = 0;
  for (int i = static_cast<int>(threadIdx.x); i < graph; i += kGraphThreads) nodes += n_node[i];
  return static_cast<int>(SumOfBlock(static_cast<float>(nodes)));
}

// A block has a graph.
__global__ void __launch_bounds__(kGraphThreads)
    MeanOverNodes(const std::int32_t* n_node, const float* outputs, int targets, float* predictions) {
  const auto graph = static_cast<int>(blockIdx.x);
  const int begin = NodesBefore(n_node, graph), nodes = n_node[graph];
  WaitForEarlier();
  for (int target = 0; target < targets; ++target) {
    float sum = 0;
    for (int node = static_cast<int>(threadIdx.x); node < nodes; node += kGraphThreads) {
      sum += outputs[std::int64_t{begin + node} * targets + target];
    }
    sum = SumOfBlock(sum);
    if (threadIdx.x == 0) predictions[graph * targets + target] = sum / static_cast<float>(max(nodes, 1));
  }
}

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

// Launches a kernel of rows of nodes, with scratch for three matrices; `early`: see LaunchEarly.
template <int kNodes, typename... Arguments>
cudaError_t Launch(void (*kernel)(Arguments...), int nodes, bool early, cudaStream_t stream,
                   const Arguments&... arguments) {
  constexpr int kMemory = 3 * sizeof(Matrix);
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMemory);
  if (error != cudaSuccess) return error;
  if (nodes == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((nodes + kNodes - 1) / kNodes);
  if (early) return LaunchEarly(kernel, blocks, ThreadsOfRows<kNodes>(), kMemory, stream, arguments...);
  kernel<<<blocks, ThreadsOfRows<kNodes>(), kMemory, stream>>>(arguments...);
  return cudaGetLastError();
}

// What one step works on.
struct Pass {
  const TableSchNetSizes& sizes;
  const TableSchNetMatrices<const float>& weights;
  const TableSchNetGraphs& graphs;
  const TableEdges& edges;
  const TableSchNetStates& states;
  const StreamPair& streams;

  int last() const { return sizes.layers - 1; }
  // Of what a layer has for each node, and for each row of a table.
  template <typename Float>
  Float* OfNodes(Float* rows, int layer) const {
    return rows + std::int64_t{layer} * sizes.nodes * kTableChannels;
  }
  const float* Table(int layer) const {
    return states.tables + std::int64_t{layer} * kRowsOfTable * kTableChannels;
  }
};

Embedded EmbeddedOf(const Pass& pass) {
  return {.nodes = pass.sizes.nodes,
          .classes = pass.graphs.classes,
          .embedding = pass.weights.embedding,
          .message = pass.weights.layers[0].message,
          .states = pass.states.nodes,
          .sent = pass.states.sent};
}

Layer LayerOf(const Pass& pass, int i) {
  const TableSchNetMatrices<const float>& weights = pass.weights;
  Layer layer = {.nodes = pass.sizes.nodes,
                 .receiver_start = pass.graphs.receiver_start,
                 .incoming = pass.edges.incoming,
                 .table = pass.Table(i),
                 .sent = pass.OfNodes(pass.states.sent, i),
                 .states_before = pass.OfNodes(pass.states.nodes, i),
                 .update_in = weights.layers[i].update_in,
                 .update_out = weights.layers[i].update_out,
                 .next = weights.readout_in,
                 .next_columns = kTableReadoutWidth,
                 .means = pass.OfNodes(pass.states.means, i),
                 .updates = pass.OfNodes(pass.states.updates, i),
                 .states_after = pass.OfNodes(pass.states.nodes, i + 1),
                 .next_rows = pass.states.readout};
  if (i < pass.last()) {
    layer.next = weights.layers[i + 1].message;
    layer.next_columns = kTableChannels;
    layer.next_rows = pass.OfNodes(pass.states.sent, i + 1);
  } else {
    layer.readout_out = weights.readout_out;
    layer.outputs = pass.states.outputs;
    layer.targets = pass.sizes.targets;
  }
  return layer;
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

bool IsSmall(const TableSchNetSizes& sizes) { return sizes.nodes <= kNodesOfSmallBatch; }

Factor Values(const float* rows, int columns) { return {.values = rows, .columns = columns}; }
Factor Softplus(const float* rows, int columns) {
  return {.kind = FactorKind::kSoftplus, .values = rows, .columns = columns};
}

void AddTable(const Pass& pass, const TableSchNetGradients& scratch, const TableSchNetMatrices<float>::Layer& d,
              int i, WeightGradients& gradients) {
  const TableGaussians& gaussians = pass.sizes.gaussians;
  const std::int64_t before = std::int64_t{i} * kRowsOfTable * kTableChannels;
  gradients.Add({.factor = {.kind = FactorKind::kGaussians,
                            .columns = gaussians.count,
                            .step = 1 / kRowsPerAngstrom,
                            .spacing = gaussians.spacing,
                            .width = gaussians.width},
                 .d = scratch.filter_first + before,
                 .gradient = d.filter_in,
                 .rows = kRowsOfTable,
                 .d_columns = kTableChannels});
  gradients.Add({.factor = Softplus(pass.states.filter_first + before, kTableChannels),
                 .d = scratch.filter_second + before,
                 .gradient = d.filter_out,
                 .rows = kRowsOfTable,
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

cudaError_t EnqueueMeans(const Pass& pass, float* predictions) {
  if (pass.sizes.graphs == 0) return cudaSuccess;
  return LaunchEarly(MeanOverNodes, static_cast<unsigned>(pass.sizes.graphs), kGraphThreads, 0,
                     pass.streams.main, pass.graphs.n_node, static_cast<const float*>(pass.states.outputs),
                     pass.sizes.targets, predictions);
}

// The tables and the sorted edges, which only the backward pass reads, are made beside what nodes are made of.
template <int kNodes>
cudaError_t EnqueueForward(const Pass& pass, const EdgeList& list, float* predictions) {
  const StreamPair& streams = pass.streams;
  FirstError error;
  error(streams.Fork());
  error(EnqueueTables(pass.sizes, pass.weights, pass.states, streams.side));
  error(EnqueuePlaceEdges(list, pass.edges, streams.main));
  error(Launch<kNodes>(EmbedNodes<kNodes>, pass.sizes.nodes, /*early=*/false, streams.main, EmbeddedOf(pass)));
  error(streams.Join());
  error(streams.Fork());
  error(EnqueueSortEdges(list, pass.edges, streams.side));
  for (int i = 0; i < pass.sizes.layers; ++i)
    error(Launch<kNodes>(ForwardLayer<kNodes>, pass.sizes.nodes, /*early=*/i > 0, streams.main,
                         LayerOf(pass, i)));
  error(EnqueueMeans(pass, predictions));
  error(streams.Join());
  return error.first();
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

cudaError_t EnqueueTableSchNet(const TableSchNetSizes& sizes, const TableSchNetMatrices<const float>& weights,
                               const TableSchNetGraphs& graphs, const EdgeList& list, const TableEdges& edges,
                               const TableSchNetStates& states, float* predictions, const StreamPair& streams) {
  const Pass pass = {sizes, weights, graphs, edges, states, streams};
  return IsSmall(sizes) ? EnqueueForward<kFewNodes>(pass, list, predictions)
                        : EnqueueForward<kManyNodes>(pass, list, predictions);
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
