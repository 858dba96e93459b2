// The launches of table_edges.cu: edges as kernels read them that interpolate in tables of distances.
#ifndef PACKTRAIN_TRAINER_KERNELS_TABLE_EDGES_CUH_
#define PACKTRAIN_TRAINER_KERNELS_TABLE_EDGES_CUH_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/table_rows.h"

namespace packtrain::trainer {

// A cell is where the same kCubicRows rows are the nearest; it has the number of the first of them.
inline constexpr int kTableCells = kTableRows - kCubicRows + 1;

// An edge at one of its ends: the node at the other one, and the distance in rows of a table.
struct alignas(8) TableEdge {
  std::int32_t node;
  float place;
};

struct alignas(16) PlacedEdge {
  std::int32_t sender;
  std::int32_t receiver;
  float place;
  std::int32_t unused;  // for a size that is read at once
};

// The edges of a batch, of which padded ones are left out.
struct EdgeList {
  int edges = 0;                            // E
  const float* distances = nullptr;         // [E], angstrom
  const std::int32_t* senders = nullptr;    // [E]
  const std::int32_t* receivers = nullptr;  // [E]
  const std::int32_t* by_sender = nullptr;  // [E]
  const std::int32_t* real = nullptr;       // [3]
};

// In device memory.
struct TableEdges {
  TableEdge* incoming = nullptr;       // [E], in the order of EdgeList
  TableEdge* outgoing = nullptr;       // [E], in the order of by_sender
  PlacedEdge* by_cell = nullptr;       // [E], those within the table by cell, then in the order of EdgeList
  std::int32_t* cell_start = nullptr;  // [kTableCells + 1], where the edges of a cell begin in by_cell
  std::int32_t* ranks = nullptr;       // [E], scratch
  std::int32_t* counts = nullptr;      // CountsSize(E), scratch
};

// Elements.
std::int64_t CountsSize(int edges);

// Writes incoming and outgoing of `out`.
cudaError_t EnqueuePlaceEdges(const EdgeList& list, const TableEdges& out, cudaStream_t stream);

// Writes by_cell and cell_start of `out`. A distance beyond the table has no cell, and no filter.
cudaError_t EnqueueSortEdges(const EdgeList& list, const TableEdges& out, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_TABLE_EDGES_CUH_
