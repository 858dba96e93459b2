#include "trainer/kernels/early_launch.cuh"
#include "trainer/kernels/softplus_of_float.cuh"
#include "trainer/kernels/table_filters.cuh"
#include "trainer/kernels/table_layers.cuh"

namespace packtrain::trainer {
namespace {

constexpr int kGraphThreads = 128;

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

}  // namespace

cudaError_t EnqueueTableSchNet(const TableSchNetSizes& sizes, const TableSchNetMatrices<const float>& weights,
                               const TableSchNetGraphs& graphs, const EdgeList& list, const TableEdges& edges,
                               const TableSchNetStates& states, float* predictions, const StreamPair& streams) {
  const Pass pass = {sizes, weights, graphs, edges, states, streams};
  return IsSmall(sizes) ? EnqueueForward<kFewNodes>(pass, list, predictions)
                        : EnqueueForward<kManyNodes>(pass, list, predictions);
}

}  // namespace packtrain::trainer
