#include <cmath>

#include "trainer/kernels/float_vector.cuh"
#include "trainer/kernels/neighbour_statistics.cuh"

namespace packtrain::trainer {
namespace {

// A thread owns one column (of vectors) of one node and walks the node's edges, which in molecules are few.
constexpr unsigned kThreads = 256;

struct Place {
  int node;
  int column;
  bool inside;
};

template <typename Vector>
__device__ Place FindPlace(const StatisticsSizes& sizes) {
  const auto vectors = static_cast<int>(sizes.columns / kWidth<Vector>);
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const auto node = static_cast<int>(thread / vectors);
  return {node, static_cast<int>(thread % vectors), node < sizes.nodes};
}

// Where row `row` of a node's `rows` rows of columns has its vector `column`.
template <typename Vector>
__device__ std::int64_t At(const StatisticsSizes& sizes, int node, int rows, int row, int column) {
  return (std::int64_t{node} * rows + row) * (sizes.columns / kWidth<Vector>)+column;
}

struct Least {
  __device__ float operator()(float a, float b) const { return fminf(a, b); }
};
struct Greatest {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct SquaredGap {
  __device__ float operator()(float a, float mean, float sum) const { return fmaf(a - mean, a - mean, sum); }
};
struct CountEqual {
  __device__ float operator()(float a, float b, float count) const { return a == b ? count + 1 : count; }
};
struct Scale {
  float factor;
  __device__ float operator()(float a) const { return a * factor; }
};
struct Deviation {
  __device__ float operator()(float variance) const {
    return variance > static_cast<float>(kLeastVariance) ? sqrtf(variance) : 0;
  }
};
struct Quotient {
  __device__ float operator()(float a, float b) const { return a / b; }
};
// The gradient that a deviation brings for each unit of distance from the mean.
struct Slope {
  float count;
  __device__ float operator()(float d_deviation, float variance) const {
    return variance > static_cast<float>(kLeastVariance) ? d_deviation / (sqrtf(variance) * count) : 0;
  }
};
// What one receiver brings to the gradient of x.
struct OfReceiver {
  __device__ float operator()(float x, float of_mean, float slope, float mean) const {
    return fmaf(slope, x - mean, of_mean);
  }
};
struct AddWhereEqual {
  __device__ float operator()(float sum, float x, float extreme, float gradient) const {
    return x == extreme ? sum + gradient : sum;
  }
};

template <typename Vector>
struct Statistics {
  Vector mean, min, max, variance;
};

// Edges whose sum is added up by itself first, so that roundings do not grow with the number of edges of a
// node.
constexpr int kChunkEdges = 64;

// add(edge, sum) is the sum with what the edge brings; over the edges from `first` to before `end`.
template <typename Vector, typename Add>
__device__ Vector SumOfEdges(int first, int end, Add add) {
  Vector total = {};
  for (int begin = first; begin < end; begin += kChunkEdges) {
    const int chunk_end = min(end, begin + kChunkEdges);
    Vector sum = {};
#pragma unroll 4
    for (int edge = begin; edge < chunk_end; ++edge) sum = add(edge, sum);
    total = Map(Sum(), total, sum);
  }
  return total;
}

// Of a node with edges `first` to before `end`, at least one.
template <typename Vector>
__device__ Statistics<Vector> StatisticsOf(const StatisticsSizes& sizes, const EdgesByReceiver& edges,
                                           int first, int end, int column, const float* sent) {
  const auto load = [&](int edge) {
    return Load<Vector>(sent, At<Vector>(sizes, __ldg(edges.senders + edge), 1, 0, column));
  };
  Statistics<Vector> of = {.mean = {}, .min = load(first), .max = load(first), .variance = {}};
  const Vector sum = SumOfEdges<Vector>(first, end, [&](int edge, Vector part) {
    const Vector x = load(edge);
    of.min = Map(Least(), of.min, x);
    of.max = Map(Greatest(), of.max, x);
    return Map(Sum(), part, x);
  });
  const float share = 1 / static_cast<float>(end - first);
  of.mean = Map(Scale{share}, sum);
  const Vector squares = SumOfEdges<Vector>(
      first, end, [&](int edge, Vector part) { return Map(SquaredGap(), load(edge), of.mean, part); });
  of.variance = Map(Scale{share}, squares);
  return of;
}

template <typename Vector>
__global__ void __launch_bounds__(kThreads) Forward(StatisticsSizes sizes, EdgesByReceiver edges,
                                                    const float* own, const float* sent, float* aggregates) {
  const Place place = FindPlace<Vector>(sizes);
  if (!place.inside) return;
  const int first = __ldg(edges.receiver_start + place.node),
            end = __ldg(edges.receiver_start + place.node + 1);
  const auto store = [&](int row, Vector value) {
    Store(aggregates, At<Vector>(sizes, place.node, kStatistics, row, place.column), value);
  };
  if (first == end) {
    for (int row = 0; row < kStatistics; ++row) store(row, Vector{});
    return;
  }
  const Statistics<Vector> of = StatisticsOf<Vector>(sizes, edges, first, end, place.column, sent);
  const Vector base = Load<Vector>(own, At<Vector>(sizes, place.node, 1, 0, place.column));
  store(0, Map(Sum(), base, of.mean));
  store(1, Map(Sum(), base, of.min));
  store(2, Map(Sum(), base, of.max));
  store(3, Map(Deviation(), of.variance));
}

// The rows of `spread`.
enum SpreadRow { kOfMean, kSlope, kMean, kMin, kOfMin, kMax, kOfMax };
static_assert(kOfMax + 1 == kSpreadRows);

// By receiver: d_own, and what the senders need to know of the node.
template <typename Vector>
__global__ void __launch_bounds__(kThreads)
    Spread(StatisticsSizes sizes, EdgesByReceiver edges, const float* sent, StatisticsGradients gradients) {
  const Place place = FindPlace<Vector>(sizes);
  if (!place.inside) return;
  const int first = __ldg(edges.receiver_start + place.node),
            end = __ldg(edges.receiver_start + place.node + 1);
  const std::int64_t own = At<Vector>(sizes, place.node, 1, 0, place.column);
  if (first == end) {  // no edge reads its spread
    Store(gradients.d_own, own, Vector{});
    return;
  }
  const auto d = [&](int row) {
    return Load<Vector>(gradients.d_aggregates, At<Vector>(sizes, place.node, kStatistics, row, place.column));
  };
  const auto store = [&](SpreadRow row, Vector value) {
    Store(gradients.spread, At<Vector>(sizes, place.node, kSpreadRows, row, place.column), value);
  };
  const Statistics<Vector> of = StatisticsOf<Vector>(sizes, edges, first, end, place.column, sent);
  Vector least = {}, greatest = {};
#pragma unroll 4
  for (int edge = first; edge < end; ++edge) {
    const Vector x = Load<Vector>(sent, At<Vector>(sizes, __ldg(edges.senders + edge), 1, 0, place.column));
    least = Map(CountEqual(), x, of.min, least);
    greatest = Map(CountEqual(), x, of.max, greatest);
  }
  const auto count = static_cast<float>(end - first);
  const Vector d_mean = d(0), d_min = d(1), d_max = d(2);
  Store(gradients.d_own, own, Map(Sum(), Map(Sum(), d_mean, d_min), d_max));
  store(kOfMean, Map(Scale{1 / count}, d_mean));
  store(kSlope, Map(Slope{count}, d(3), of.variance));
  store(kMean, of.mean);
  store(kMin, of.min);
  store(kOfMin, Map(Quotient(), d_min, least));
  store(kMax, of.max);
  store(kOfMax, Map(Quotient(), d_max, greatest));
}

// By sender: d_sent.
template <typename Vector>
__global__ void __launch_bounds__(kThreads)
    Gather(StatisticsSizes sizes, EdgesBySender edges, const float* sent, const float* spread, float* d_sent) {
  const Place place = FindPlace<Vector>(sizes);
  if (!place.inside) return;
  const int end = __ldg(edges.sender_start + place.node + 1);
  Vector sum = {}, x = {};
  int entry = __ldg(edges.sender_start + place.node);
  if (entry < end) x = Load<Vector>(sent, At<Vector>(sizes, place.node, 1, 0, place.column));
#pragma unroll 2
  for (; entry < end; ++entry) {
    const int receiver = __ldg(edges.receivers + __ldg(edges.by_sender + entry));
    const auto load = [&](SpreadRow row) {
      return Load<Vector>(spread, At<Vector>(sizes, receiver, kSpreadRows, row, place.column));
    };
    Vector of = Map(OfReceiver(), x, load(kOfMean), load(kSlope), load(kMean));
    of = Map(AddWhereEqual(), of, x, load(kMin), load(kOfMin));
    of = Map(AddWhereEqual(), of, x, load(kMax), load(kOfMax));
    sum = Map(Sum(), sum, of);
  }
  Store(d_sent, At<Vector>(sizes, place.node, 1, 0, place.column), sum);
}

template <typename Vector>
unsigned BlocksOf(const StatisticsSizes& sizes) {
  const std::int64_t threads = sizes.nodes * (sizes.columns / kWidth<Vector>);
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

template <typename Vector>
void LaunchBackward(const StatisticsSizes& sizes, const EdgesByReceiver& by_receiver,
                    const EdgesBySender& by_sender, const float* sent, const StatisticsGradients& gradients,
                    cudaStream_t stream) {
  const unsigned blocks = BlocksOf<Vector>(sizes);
  Spread<Vector><<<blocks, kThreads, 0, stream>>>(sizes, by_receiver, sent, gradients);
  Gather<Vector><<<blocks, kThreads, 0, stream>>>(sizes, by_sender, sent, gradients.spread, gradients.d_sent);
}

}  // namespace

cudaError_t EnqueueAggregateNeighbours(const StatisticsSizes& sizes, const EdgesByReceiver& edges,
                                       const float* own, const float* sent, float* aggregates,
                                       cudaStream_t stream) {
  if (sizes.nodes == 0 || sizes.columns == 0) return cudaSuccess;
  if (AreRowsOfVectors(sizes.columns, own, sent, aggregates)) {
    Forward<float4><<<BlocksOf<float4>(sizes), kThreads, 0, stream>>>(sizes, edges, own, sent, aggregates);
  } else {
    Forward<float><<<BlocksOf<float>(sizes), kThreads, 0, stream>>>(sizes, edges, own, sent, aggregates);
  }
  return cudaGetLastError();
}

cudaError_t EnqueueAggregateNeighboursBackward(const StatisticsSizes& sizes, const EdgesByReceiver& by_receiver,
                                               const EdgesBySender& by_sender, const float* sent,
                                               const StatisticsGradients& gradients, cudaStream_t stream) {
  if (sizes.nodes == 0 || sizes.columns == 0) return cudaSuccess;
  const bool wide = AreRowsOfVectors(sizes.columns, sent, gradients.d_aggregates, gradients.spread,
                                     gradients.d_own, gradients.d_sent);
  const auto launch = wide ? LaunchBackward<float4> : LaunchBackward<float>;
  launch(sizes, by_receiver, by_sender, sent, gradients, stream);
  return cudaGetLastError();
}

}  // namespace packtrain::trainer
