#include "trainer/data/expand_batch.h"

#include <algorithm>
#include <cub/block/block_scan.cuh>

namespace packtrain::trainer {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

constexpr int kLocateThreads = 1024;
constexpr int kExpandThreads = 256;
constexpr int kSortThreads = kSortWarps * kWarp;
// Enough to fill any card; larger batches go round.
constexpr std::int64_t kMaxBlocks = 4096;
// Graphs up to this size are sorted with counts in shared memory.
constexpr int kSharedNodes = 512;

__device__ int Lane() { return static_cast<int>(threadIdx.x) % kWarp; }

// Entries of the ascending `sorted` below `bound`. All lanes of a warp ask for the same and get the answer.
template <typename T>
__device__ int CountBelow(const T* sorted, int count, unsigned bound) {
  int first = 0;
  while (count > 0) {
    const int stride = (count - 1) / kWarp + 1;
    const int probe = Lane() * stride;
    const bool below = probe < count && static_cast<unsigned>(sorted[first + probe]) < bound;
    const int probes = __popc(__ballot_sync(kAllLanes, below));
    if (probes == 0) break;
    const int known = (probes - 1) * stride + 1;
    first += known;
    count = min(stride - 1, count - known);
  }
  return first;
}

// A graph's part of the real nodes and edges.
struct Place {
  int graph;
  int first_node;
  int nodes;
  int first_edge;
  int edges;
};

__device__ Place PlaceOf(const BatchScratch& scratch, int graph) {
  const int node = scratch.node_start[graph], edge = scratch.edge_start[graph];
  return {graph, node, scratch.node_start[graph + 1] - node, edge, scratch.edge_start[graph + 1] - edge};
}

// Every graph has a node, so starts ascend strictly.
__device__ Place PlaceOfNode(const BatchScratch& scratch, int graphs, int node) {
  return PlaceOf(scratch, CountBelow(scratch.node_start, graphs, static_cast<unsigned>(node) + 1) - 1);
}

// Positions of the edges that end in one node.
struct Row {
  int begin;
  int end;
};

// Edges that are not sent: by receiver, then sender, each node with all others of its graph. A node ends as
// many edges as it begins, so both orders start alike.
class FullEdges {
 public:
  explicit FullEdges(const CompactBatch&) {}

  __device__ Row RowOf(const Place& place, int local) const {
    const int begin = place.first_edge + local * (place.nodes - 1);
    return {begin, begin + place.nodes - 1};
  }

  __device__ void Write(const Place& place, int local, Row row, const ExpandedBatch& out) const {
    if (Lane() == 0) out.sender_start[place.first_node + local] = row.begin;
    for (int edge = row.begin + Lane(); edge < row.end; edge += kWarp) {
      const int index = edge - row.begin;
      const int other = index + (index >= local);
      out.senders[edge] = place.first_node + other;
      out.receivers[edge] = place.first_node + local;
      out.by_sender[edge] = RowOf(place, other).begin + local - (local > other);
    }
  }
};

// Edges as they were sent; SortBySender makes their other order.
template <typename T>
class StoredEdges {
 public:
  explicit StoredEdges(const CompactBatch& batch)
      : senders_(static_cast<const T*>(batch.senders)), receivers_(static_cast<const T*>(batch.receivers)) {}

  __device__ Row RowOf(const Place& place, int local) const {
    const T* receivers = receivers_ + place.first_edge;
    const auto receiver = static_cast<unsigned>(local);
    const int begin = CountBelow(receivers, place.edges, receiver);
    const int size = CountBelow(receivers + begin, place.edges - begin, receiver + 1);
    return {place.first_edge + begin, place.first_edge + begin + size};
  }

  __device__ void Write(const Place& place, int local, Row row, const ExpandedBatch& out) const {
    for (int edge = row.begin + Lane(); edge < row.end; edge += kWarp) {
      out.senders[edge] = place.first_node + static_cast<int>(senders_[edge]);
      out.receivers[edge] = place.first_node + local;
    }
  }

 private:
  const T* senders_;
  const T* receivers_;
};

template <typename Edges>
__device__ void WriteNode(const Place& place, int node, const Edges& edges, const ExpandedBatch& out) {
  const int local = node - place.first_node;
  const Row row = edges.RowOf(place, local);
  if (Lane() == 0) {
    out.graph_of_node[node] = place.graph;
    out.in_degree[node] = static_cast<float>(max(1, row.end - row.begin));
    out.receiver_start[node] = row.begin;
  }
  edges.Write(place, local, row, out);
}

// Called by one lane of a warp.
__device__ void PadNode(const CompactBatch& in, int node, const ExpandedBatch& out) {
  out.graph_of_node[node] = out.graphs - 1;
  out.in_degree[node] = 1;
  out.receiver_start[node] = in.edges;
  out.sender_start[node] = in.edges;
}

// Element `at` of [padded graphs, count].
__device__ void WriteTarget(const CompactBatch& in, const TargetColumns& targets, std::int64_t at) {
  const TargetColumn chosen = targets.chosen[at % targets.count];
  const std::int64_t graph = at / targets.count;
  const bool real = graph < in.graphs;
  const double value = real ? targets.y[graph * targets.columns + chosen.column] : 0;
  const bool known = real && !isnan(value);
  targets.weights[at] = known ? 1 : 0;
  targets.targets[at] = known ? static_cast<float>((value - chosen.mean) / chosen.scale) : 0;
}

// The word of a real element.
__device__ std::uint32_t WordOf(const RowField& field, std::int64_t at) {
  switch (field.element_bytes) {
    case 1: {
      const std::uint8_t element = static_cast<const std::uint8_t*>(field.from)[at];
      return field.class_of == nullptr ? element : static_cast<std::uint32_t>(field.class_of[element]);
    }
    case 2:
      return static_cast<const std::uint16_t*>(field.from)[at];
    default:
      return static_cast<const std::uint32_t*>(field.from)[at];
  }
}

// `thread` of `threads` takes every `threads`-th word.
__device__ void WriteField(const RowField& field, std::int64_t thread, std::int64_t threads) {
  for (std::int64_t at = thread; at < field.padded; at += threads) {
    field.to[at] = at < field.real ? WordOf(field, at) : 0;
  }
}

__device__ void PadEdge(const CompactBatch& in, int edge, const ExpandedBatch& out) {
  const int node = in.nodes + (edge - in.edges) % (out.nodes - in.nodes);
  out.senders[edge] = node;
  out.receivers[edge] = node;
}

__device__ void WriteTotals(const CompactBatch& in, const ExpandedBatch& out) {
  out.real[0] = in.graphs;
  out.real[1] = in.nodes;
  out.real[2] = in.edges;
  out.receiver_start[out.nodes] = in.edges;
  out.sender_start[out.nodes] = in.edges;
}

// A warp for each node, a thread for each graph, padding edge and word of an input.
template <typename Edges>
__global__ void __launch_bounds__(kExpandThreads)
    Expand(CompactBatch in, BatchInputs inputs, BatchScratch scratch, Edges edges, ExpandedBatch out) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t node = thread / kWarp; node < out.nodes; node += threads / kWarp) {
    if (node < in.nodes) {
      WriteNode(PlaceOfNode(scratch, in.graphs, node), node, edges, out);
    } else if (Lane() == 0) {
      PadNode(in, node, out);
    }
  }
  for (std::int64_t graph = thread; graph < out.graphs; graph += threads) {
    out.n_node[graph] = graph < in.graphs ? static_cast<int>(in.n_node[graph]) : 0;
  }
  const std::int64_t targets = std::int64_t{out.graphs} * inputs.targets.count;
  for (std::int64_t at = thread; at < targets; at += threads) WriteTarget(in, inputs.targets, at);
  for (std::int64_t edge = in.edges + thread; edge < out.edges; edge += threads) PadEdge(in, edge, out);
  for (int field = 0; field < inputs.rows.count; ++field)
    WriteField(inputs.rows.fields[field], thread, threads);
  if (thread == 0) WriteTotals(in, out);
}

// One block. Both sums stay below 2^31, so one word holds them.
__global__ void __launch_bounds__(kLocateThreads) Locate(CompactBatch in, BatchScratch scratch) {
  using Scan = cub::BlockScan<std::uint64_t, kLocateThreads>;
  __shared__ typename Scan::TempStorage storage;
  std::uint64_t before_tile = 0;
  for (int tile = 0; tile <= in.graphs; tile += kLocateThreads) {
    const int graph = tile + static_cast<int>(threadIdx.x);
    const bool real = graph < in.graphs;
    std::uint64_t sum = real ? std::uint64_t{in.n_node[graph]} << 32 | in.n_edge[graph] : 0, in_tile = 0;
    Scan(storage).ExclusiveSum(sum, sum, in_tile);
    sum += before_tile;
    if (graph <= in.graphs) {
      scratch.node_start[graph] = static_cast<std::int32_t>(sum >> 32);
      scratch.edge_start[graph] = static_cast<std::int32_t>(sum & 0xffffffffu);
    }
    before_tile += in_tile;
    __syncthreads();
  }
}

// Orders one graph's edges by sender, those of one sender by position. Each warp takes a part of the edges, in
// order, and a place of its own among each sender's. All threads of a block make each call, in this order.
template <typename T>
class SortBySender {
 public:
  // `sends`, [kSortWarps, nodes], is for the block alone.
  __device__ SortBySender(const CompactBatch& in, const Place& place, std::int32_t* sends,
                          const ExpandedBatch& out)
      : place_(place),
        senders_(static_cast<const T*>(in.senders) + place.first_edge),
        sends_(sends),
        sends_of_warp_(sends + std::size_t(threadIdx.x / kWarp) * place.nodes),
        by_sender_(out.by_sender + place.first_edge),
        sender_start_(out.sender_start + place.first_node) {
    const int part = (place.edges / kSortThreads + 1) * kWarp;
    begin_ = min(part * (static_cast<int>(threadIdx.x) / kWarp), place.edges);
    end_ = begin_ + min(part, place.edges - begin_);
  }

  // Only sums of the additions are read, so their order does not show.
  __device__ void Count() {
    for (std::int64_t i = threadIdx.x; i < std::int64_t{kSortWarps} * place_.nodes; i += kSortThreads)
      sends_[i] = 0;
    __syncthreads();
    for (int edge = begin_ + Lane(); edge < end_; edge += kWarp) atomicAdd(&sends_of_warp_[senders_[edge]], 1);
    __syncthreads();
  }

  // Makes each count the place, in the graph's order, of the next edge that the warp has from the node.
  __device__ void Start() {
    using Scan = cub::BlockScan<int, kSortThreads>;
    __shared__ typename Scan::TempStorage storage;
    int before_tile = 0;
    for (int tile = 0; tile < place_.nodes; tile += kSortThreads) {
      const int node = tile + static_cast<int>(threadIdx.x);
      int start = node < place_.nodes ? SendsOf(node) : 0, in_tile = 0;
      Scan(storage).ExclusiveSum(start, start, in_tile);
      if (node < place_.nodes) StartNode(node, before_tile + start);
      before_tile += in_tile;
      __syncthreads();
    }
  }

  __device__ void Write() {
    for (int first = begin_; first < end_; first += kWarp) {
      const int edge = first + Lane();
      const unsigned active = __ballot_sync(kAllLanes, edge < end_);
      if (edge < end_) WriteEdge(edge, active);
      __syncwarp();
    }
    __syncthreads();
  }

 private:
  __device__ int SendsOf(int node) const {
    int sum = 0;
    for (int warp = 0; warp < kSortWarps; ++warp) sum += sends_[std::size_t(warp) * place_.nodes + node];
    return sum;
  }

  __device__ void StartNode(int node, int start) {
    sender_start_[node] = place_.first_edge + start;
    for (int warp = 0; warp < kSortWarps; ++warp) {
      std::int32_t& sends = sends_[std::size_t(warp) * place_.nodes + node];
      const int count = sends;
      sends = start;
      start += count;
    }
  }

  // The lanes of `active` call it, each with its own edge, in order.
  __device__ void WriteEdge(int edge, unsigned active) {
    std::int32_t& next = sends_of_warp_[senders_[edge]];
    const unsigned same = __match_any_sync(active, static_cast<unsigned>(senders_[edge]));
    const int before = __popc(same & ((1u << Lane()) - 1));
    const int start = next;
    __syncwarp(active);
    by_sender_[start + before] = place_.first_edge + edge;
    if (before == 0) next = start + __popc(same);
  }

  const Place place_;
  const T* const senders_;
  std::int32_t* const sends_;
  std::int32_t* const sends_of_warp_;
  std::int32_t* const by_sender_;
  std::int32_t* const sender_start_;
  int begin_;  // of this warp's edges
  int end_;
};

// A block for each graph.
template <typename T>
__global__ void __launch_bounds__(kSortThreads) Sort(CompactBatch in, BatchScratch scratch, ExpandedBatch out) {
  __shared__ std::int32_t shared[kSortWarps * kSharedNodes];
  for (int graph = blockIdx.x; graph < in.graphs; graph += gridDim.x) {
    const Place place = PlaceOf(scratch, graph);
    std::int32_t* const large = scratch.sends_of_warp + std::size_t{kSortWarps} * place.first_node;
    SortBySender<T> sort(in, place, place.nodes <= kSharedNodes ? shared : large, out);
    sort.Count();
    sort.Start();
    sort.Write();
  }
}

unsigned BlocksFor(std::int64_t threads) {
  const std::int64_t blocks = (threads + kExpandThreads - 1) / kExpandThreads;
  return static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, kMaxBlocks));
}

template <typename Edges>
void LaunchExpand(const CompactBatch& batch, const BatchInputs& inputs, const BatchScratch& scratch,
                  const ExpandedBatch& out, cudaStream_t stream) {
  const std::int64_t for_nodes = std::int64_t{out.nodes} * kWarp;
  const unsigned blocks = BlocksFor(std::max<std::int64_t>({for_nodes, out.graphs, out.edges - batch.edges}));
  Expand<<<blocks, kExpandThreads, 0, stream>>>(batch, inputs, scratch, Edges(batch), out);
}

template <typename T>
void LaunchStored(const CompactBatch& batch, const BatchInputs& inputs, const BatchScratch& scratch,
                  const ExpandedBatch& out, cudaStream_t stream) {
  LaunchExpand<StoredEdges<T>>(batch, inputs, scratch, out, stream);
  if (batch.graphs == 0) return;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(batch.graphs, kMaxBlocks));
  Sort<T><<<blocks, kSortThreads, 0, stream>>>(batch, scratch, out);
}

}  // namespace

cudaError_t LocateGraphs(const CompactBatch& batch, const BatchScratch& scratch, cudaStream_t stream) {
  Locate<<<1, kLocateThreads, 0, stream>>>(batch, scratch);
  return cudaGetLastError();
}

cudaError_t ExpandBatch(const CompactBatch& batch, const BatchInputs& inputs, const BatchScratch& scratch,
                        const ExpandedBatch& out, cudaStream_t stream) {
  switch (batch.endpoint_bytes) {
    case 0:
      LaunchExpand<FullEdges>(batch, inputs, scratch, out, stream);
      break;
    case 1:
      LaunchStored<std::uint8_t>(batch, inputs, scratch, out, stream);
      break;
    case 2:
      LaunchStored<std::uint16_t>(batch, inputs, scratch, out, stream);
      break;
    default:
      LaunchStored<std::uint32_t>(batch, inputs, scratch, out, stream);
      break;
  }
  return cudaGetLastError();
}

}  // namespace packtrain::trainer
