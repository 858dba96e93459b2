#include "trainer/kernels/table_filters.cuh"

#include "trainer/kernels/gaussian_of_gap.cuh"
#include "trainer/kernels/row_products.cuh"
#include "trainer/kernels/softplus_of_float.cuh"
#include "trainer/kernels/table_cells.cuh"

namespace packtrain::trainer {
namespace {

constexpr int kBlockRows = 16;  // of a table
constexpr int kCentresAtOnce = 32;
constexpr float kMaxExponent = 20;
// Edges, in the order of their cells, that a thread adds up one after another.
constexpr int kRun = 32;
constexpr int kRunsOfBlock = 8;
constexpr int kInFlight = 4;

static_assert(kTableRows % kBlockRows == 0 && kTableChannels == kRowColumns);

int RunsOf(int edges) { return (edges + kRun - 1) / kRun; }
int SlotsOf(int edges) { return kTableCells + RunsOf(edges); }

// Vector of a thread in row `row` of the table of `layer`.
__device__ std::int64_t InTable(int layer, int row) {
  return (std::int64_t{layer} * kTableRows + row) * kRowVectors + threadIdx.x;
}

// The Gaussians of a block's rows, times W1. All threads of a block call it.
__device__ float4 MultiplyGaussians(const TableGaussians& gaussians, const float* filter_in, int first_row) {
  __shared__ float4 weights[kCentresAtOnce][kRowVectors];
  __shared__ float factors[kBlockRows][kCentresAtOnce];
  const float nearest = static_cast<float>(first_row) / kTableRowsPerAngstrom;
  const float furthest = static_cast<float>(first_row + kBlockRows - 1) / kTableRowsPerAngstrom;
  const float reach = sqrtf(gaussians.width * kMaxExponent);
  const int begin = max(static_cast<int>(ceilf((nearest - reach) / gaussians.spacing)), 0);
  const int end = min(static_cast<int>(floorf((furthest + reach) / gaussians.spacing)) + 1, gaussians.count);
  float4 sum = {};
  for (int first = begin; first < end; first += kCentresAtOnce) {
    __syncthreads();
    for (int i = ThreadOfBlock(); i < kCentresAtOnce * kRowVectors; i += kRowThreads) {
      const int centre = first + i / kRowVectors;
      weights[i / kRowVectors][i % kRowVectors] =
          centre < end ? Load<float4>(filter_in, std::int64_t{centre} * kRowVectors + i % kRowVectors)
                       : float4{};
    }
    for (int i = ThreadOfBlock(); i < kBlockRows * kCentresAtOnce; i += kRowThreads) {
      const int row = i / kCentresAtOnce, centre = i % kCentresAtOnce;
      const float gap = static_cast<float>(first_row + row) / kTableRowsPerAngstrom -
                        static_cast<float>(first + centre) * gaussians.spacing;
      factors[row][centre] = GaussianOf(gap, gaussians.width);
    }
    __syncthreads();
#pragma unroll 8
    for (int centre = 0; centre < kCentresAtOnce; ++centre) {
      sum = AddScaled(sum, factors[threadIdx.z][centre], weights[centre][threadIdx.x]);
    }
  }
  return sum;
}

// A block makes some rows of the table of one layer, one for each of its rows of threads.
__global__ void __launch_bounds__(kRowThreads)
    MakeTables(TableGaussians gaussians, const __grid_constant__ TableSchNetMatrices<const float> weights,
               TableSchNetStates states) {
  __shared__ Matrix filter_out;
  __shared__ Row rows[kBlockRows];
  const auto layer = static_cast<int>(blockIdx.y), first_row = static_cast<int>(blockIdx.x) * kBlockRows;
  const std::int64_t at = InTable(layer, first_row + static_cast<int>(threadIdx.z));
  CopyMatrix(filter_out, weights.layers[layer].filter_out, kRowColumns);
  const float4 first = MultiplyGaussians(gaussians, weights.layers[layer].filter_in, first_row);
  Store(states.filter_first, at, first);
  rows[threadIdx.z][threadIdx.x] = Map(SoftplusValue<float>(), first);
  WaitForCopies();
  __syncthreads();
  const float4 second = Multiply(rows[threadIdx.z], filter_out);
  Store(states.filter_second, at, second);
  Store(states.tables, at, Map(SoftplusValue<float>(), second));
}

// The edges of one cell within a run have a slot of their own, of kCubicRows rows: run and cell never descend
// from one edge to the next, and one of them ascends where the slot changes.
__device__ std::int64_t PartAt(int slots, int layer, int slot, int row) {
  return ((std::int64_t{layer} * slots + slot) * kCubicRows + row) * kRowVectors + threadIdx.x;
}

struct Run {
  int cell;
  float4 sums[kCubicRows];  // of the cell's rows
};

__device__ void StoreRun(const Run& run, int slots, int layer, int number, float* parts) {
#pragma unroll
  for (int row = 0; row < kCubicRows; ++row)
    Store(parts, PartAt(slots, layer, run.cell + number, row), run.sums[row]);
}

// The gradient of each row of a layer's table from each run. A row of threads has a run of edges.
__global__ void __launch_bounds__(kRowVectors* kRunsOfBlock)
    SumRuns(int layer, int slots, TableEdges edges, const float* sent, const float* d_sums, float* parts) {
  const int number = static_cast<int>(blockIdx.x) * kRunsOfBlock + static_cast<int>(threadIdx.y);
  const int begin = number * kRun, end = min(begin + kRun, edges.cell_start[kTableCells]);
  if (begin >= end) return;
  Run run = {CellOf(edges.by_cell[begin].place), {}};
  for (int first = begin; first < end; first += kInFlight) {
    PlacedEdge edge[kInFlight];
    float4 products[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) edge[i] = edges.by_cell[min(first + i, end - 1)];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      products[i] = Map(Product(), Load<float4>(sent, std::int64_t{edge[i].sender} * kRowVectors + threadIdx.x),
                        Load<float4>(d_sums, std::int64_t{edge[i].receiver} * kRowVectors + threadIdx.x));
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (first + i >= end) break;
      const int cell = CellOf(edge[i].place);
      if (cell != run.cell) {
        StoreRun(run, slots, layer, number, parts);
        run = {cell, {}};
      }
      const CubicWeights weights = WeightsAt(edge[i].place, cell);
#pragma unroll
      for (int row = 0; row < kCubicRows; ++row)
        run.sums[row] = AddScaled(run.sums[row], weights.of[row], products[i]);
    }
  }
  StoreRun(run, slots, layer, number, parts);
}

// The gradient of a row of a table from all runs of the cells that it belongs to.
__device__ float4 SumParts(int slots, const std::int32_t* cell_start, const float* parts, int layer, int row) {
  float4 sum = {};
  for (int of_cell = 0; of_cell < kCubicRows; ++of_cell) {
    const int cell = row - of_cell;
    if (cell < 0 || cell >= kTableCells) continue;
    const int begin = __ldg(cell_start + cell), end = __ldg(cell_start + cell + 1);
    if (begin == end) continue;
#pragma unroll 4
    for (int number = begin / kRun; number <= (end - 1) / kRun; ++number) {
      sum = Map(Sum(), sum, Load<float4>(parts, PartAt(slots, layer, cell + number, of_cell)));
    }
  }
  return sum;
}

__global__ void __launch_bounds__(kRowThreads)
    MakeTablesBackward(int slots, const std::int32_t* cell_start,
                       const __grid_constant__ TableSchNetMatrices<const float> weights,
                       TableSchNetStates states, TableSchNetGradients gradients) {
  __shared__ Matrix filter_out;
  __shared__ Row rows[kBlockRows];
  const auto layer = static_cast<int>(blockIdx.y);
  const int row = static_cast<int>(blockIdx.x) * kBlockRows + static_cast<int>(threadIdx.z);
  const std::int64_t at = InTable(layer, row);
  CopyMatrix(filter_out, weights.layers[layer].filter_out, kRowColumns);
  const float4 d_table = SumParts(slots, cell_start, gradients.table_parts, layer, row);
  const float4 d_second = Map(SoftplusGradient<float>(), Load<float4>(states.filter_second, at), d_table);
  Store(gradients.filter_second, at, d_second);
  rows[threadIdx.z][threadIdx.x] = d_second;
  WaitForCopies();
  __syncthreads();
  const float4 d_hidden = MultiplyTransposed(rows[threadIdx.z], filter_out);
  Store(gradients.filter_first, at,
        Map(SoftplusGradient<float>(), Load<float4>(states.filter_first, at), d_hidden));
}

dim3 BlocksOfTables(int layers) { return dim3(kTableRows / kBlockRows, static_cast<unsigned>(layers)); }

}  // namespace

std::int64_t TablePartSize(const TableSchNetSizes& sizes) {
  return std::int64_t{sizes.layers} * SlotsOf(sizes.edges) * kCubicRows * kTableChannels;
}

cudaError_t EnqueueTables(const TableSchNetSizes& sizes, const TableSchNetMatrices<const float>& weights,
                          const TableSchNetStates& states, cudaStream_t stream) {
  MakeTables<<<BlocksOfTables(sizes.layers), ThreadsOfRows<kBlockRows>(), 0, stream>>>(sizes.gaussians, weights,
                                                                                       states);
  return cudaGetLastError();
}

cudaError_t EnqueueTableParts(const TableSchNetSizes& sizes, int layer, const TableEdges& edges,
                              const TableSchNetStates& states, const TableSchNetGradients& gradients,
                              cudaStream_t stream) {
  if (sizes.edges == 0) return cudaSuccess;
  const int blocks = (RunsOf(sizes.edges) + kRunsOfBlock - 1) / kRunsOfBlock;
  const std::int64_t before = std::int64_t{layer} * sizes.nodes * kTableChannels;
  SumRuns<<<static_cast<unsigned>(blocks), dim3(kRowVectors, kRunsOfBlock), 0, stream>>>(
      layer, SlotsOf(sizes.edges), edges, states.sent + before, gradients.sums + before, gradients.table_parts);
  return cudaGetLastError();
}

cudaError_t EnqueueTablesBackward(const TableSchNetSizes& sizes,
                                  const TableSchNetMatrices<const float>& weights, const TableEdges& edges,
                                  const TableSchNetStates& states, const TableSchNetGradients& gradients,
                                  cudaStream_t stream) {
  MakeTablesBackward<<<BlocksOfTables(sizes.layers), ThreadsOfRows<kBlockRows>(), 0, stream>>>(
      SlotsOf(sizes.edges), edges.cell_start, weights, states, gradients);
  return cudaGetLastError();
}

}  // namespace packtrain::trainer
