#include "trainer/kernels/table_edges.cuh"

#include "trainer/kernels/table_cells.cuh"

// By cell, edges are sorted by counting: how many of its cell come before an edge within its chunk, how many in
// earlier chunks, and how many have earlier cells.
namespace packtrain::trainer {
namespace {

constexpr int kPlaced = 256;  // edges of a block of PlaceEdges
constexpr int kChunk = 512;   // and of one that sorts
constexpr int kNoCell = -1;
// Of SumChunks, a block's cells, and the parts of their chunks that are added up side by side.
constexpr int kCellsAtOnce = 32;
constexpr int kParts = 32;

int ChunksOf(int edges) { return (edges + kChunk - 1) / kChunk; }

__device__ int CellOrNone(float place) { return IsBehindTable(place) ? kNoCell : CellOf(place); }

__device__ float PlaceOf(const EdgeList& list, int edge) {
  return __ldg(list.distances + edge) * kTableRowsPerAngstrom;
}

__global__ void __launch_bounds__(kPlaced) PlaceEdges(EdgeList list, TableEdges out) {
  const int edge = static_cast<int>(blockIdx.x) * kPlaced + static_cast<int>(threadIdx.x);
  if (edge >= list.real[2]) return;
  const int sent = __ldg(list.by_sender + edge);
  out.incoming[edge] = {__ldg(list.senders + edge), PlaceOf(list, edge)};
  out.outgoing[edge] = {__ldg(list.receivers + sent), PlaceOf(list, sent)};
}

// A block's number is that of its chunk.
__global__ void __launch_bounds__(kChunk) Rank(EdgeList list, TableEdges out) {
  __shared__ int4 quads[kChunk / 4];
  int* cells = reinterpret_cast<int*>(quads);
  const auto in_chunk = static_cast<int>(threadIdx.x), chunk = static_cast<int>(blockIdx.x);
  const int edge = chunk * kChunk + in_chunk;
  const int cell = edge < list.real[2] ? CellOrNone(PlaceOf(list, edge)) : kNoCell;
  std::int32_t* counts = out.counts + std::int64_t{chunk} * kTableCells;
  for (int other = in_chunk; other < kTableCells; other += kChunk) counts[other] = 0;
  cells[in_chunk] = cell;
  __syncthreads();
  if (cell == kNoCell) return;
  int before = 0, same = 0;
  for (int quad = 0; quad < kChunk / 4; ++quad) {
    const int4 others = quads[quad];
    const int is_same[] = {others.x == cell, others.y == cell, others.z == cell, others.w == cell};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      same += is_same[i];
      before += 4 * quad + i < in_chunk ? is_same[i] : 0;
    }
  }
  out.ranks[edge] = before;
  if (before == same - 1) counts[cell] = same;
}

// Turns the counts of each cell into those of earlier chunks, and writes the whole behind the last chunk.
__global__ void __launch_bounds__(kCellsAtOnce* kParts) SumChunks(int chunks, std::int32_t* counts) {
  __shared__ int sums[kParts][kCellsAtOnce];
  const int cell = static_cast<int>(blockIdx.x) * kCellsAtOnce + static_cast<int>(threadIdx.x);
  const auto part = static_cast<int>(threadIdx.y);
  const int length = (chunks + kParts - 1) / kParts;
  const int first = min(part * length, chunks), end = min(first + length, chunks);
  int sum = 0;
  if (cell < kTableCells) {
    for (int chunk = first; chunk < end; ++chunk) sum += counts[std::int64_t{chunk} * kTableCells + cell];
  }
  sums[part][threadIdx.x] = sum;
  __syncthreads();
  if (cell >= kTableCells) return;
  int before = 0;
  for (int other = 0; other < part; ++other) before += sums[other][threadIdx.x];
  if (part == kParts - 1) counts[std::int64_t{chunks} * kTableCells + cell] = before + sum;
  for (int chunk = first; chunk < end; ++chunk) {
    std::int32_t& count = counts[std::int64_t{chunk} * kTableCells + cell];
    const int own = count;
    count = before;
    before += own;
  }
}

// Of each cell, how many edges have earlier ones; all threads of a block call it.
__device__ void SumCells(const std::int32_t* totals, int (&starts)[2 * kChunk]) {
  const auto thread = static_cast<int>(threadIdx.x);
  int own[2];
  for (int i = 0; i < 2; ++i) {
    const int cell = 2 * thread + i;
    own[i] = cell < kTableCells ? totals[cell] : 0;
  }
  // Sums of pairs, up to and with each.
  __shared__ int pairs[kChunk];
  int sum = own[0] + own[1];
  pairs[thread] = sum;
  for (int reach = 1; reach < kChunk; reach *= 2) {
    __syncthreads();
    const int earlier = thread >= reach ? pairs[thread - reach] : 0;
    __syncthreads();
    sum += earlier;
    pairs[thread] = sum;
  }
  starts[2 * thread] = sum - own[0] - own[1];
  starts[2 * thread + 1] = sum - own[1];
  __syncthreads();
}

static_assert(kTableCells < 2 * kChunk);

__global__ void __launch_bounds__(kChunk) SortByCell(EdgeList list, TableEdges out) {
  __shared__ int starts[2 * kChunk];
  const auto in_chunk = static_cast<int>(threadIdx.x), chunk = static_cast<int>(blockIdx.x);
  SumCells(out.counts + std::int64_t{gridDim.x} * kTableCells, starts);
  if (chunk == 0) {
    for (int cell = in_chunk; cell <= kTableCells; cell += kChunk) out.cell_start[cell] = starts[cell];
  }
  const int edge = chunk * kChunk + in_chunk;
  if (edge >= list.real[2]) return;
  const float place = PlaceOf(list, edge);
  const int cell = CellOrNone(place);
  if (cell == kNoCell) return;
  const int at = starts[cell] + out.counts[std::int64_t{chunk} * kTableCells + cell] + out.ranks[edge];
  out.by_cell[at] = {__ldg(list.senders + edge), __ldg(list.receivers + edge), place, 0};
}

}  // namespace

std::int64_t CountsSize(int edges) { return (std::int64_t{ChunksOf(edges)} + 1) * kTableCells; }

cudaError_t EnqueuePlaceEdges(const EdgeList& list, const TableEdges& out, cudaStream_t stream) {
  if (list.edges == 0) return cudaSuccess;
  PlaceEdges<<<static_cast<unsigned>((list.edges + kPlaced - 1) / kPlaced), kPlaced, 0, stream>>>(list, out);
  return cudaGetLastError();
}

cudaError_t EnqueueSortEdges(const EdgeList& list, const TableEdges& out, cudaStream_t stream) {
  if (list.edges == 0)
    return cudaMemsetAsync(out.cell_start, 0, (kTableCells + 1) * sizeof(std::int32_t), stream);
  const int chunks = ChunksOf(list.edges);
  const auto blocks = static_cast<unsigned>(chunks);
  Rank<<<blocks, kChunk, 0, stream>>>(list, out);
  SumChunks<<<(kTableCells + kCellsAtOnce - 1) / kCellsAtOnce, dim3(kCellsAtOnce, kParts), 0, stream>>>(
      chunks, out.counts);
  SortByCell<<<blocks, kChunk, 0, stream>>>(list, out);
  return cudaGetLastError();
}

}  // namespace packtrain::trainer
