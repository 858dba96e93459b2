// The launches of table_filters.cu: the tables of SchNet's filters, and their gradient.
#ifndef PACKTRAIN_TRAINER_KERNELS_TABLE_FILTERS_CUH_
#define PACKTRAIN_TRAINER_KERNELS_TABLE_FILTERS_CUH_

#include "trainer/kernels/table_schnet.cuh"

namespace packtrain::trainer {

// Writes filter_first, filter_second and tables of `states`. Gaussians below e^-20 count as 0.
cudaError_t EnqueueTables(const TableSchNetSizes& sizes, const TableSchNetMatrices<const float>& weights,
                          const TableSchNetStates& states, cudaStream_t stream);

// Writes of one layer what `gradients` of its messages' sums give the rows of its table, in table_parts.
cudaError_t EnqueueTableParts(const TableSchNetSizes& sizes, int layer, const TableEdges& edges,
                              const TableSchNetStates& states, const TableSchNetGradients& gradients,
                              cudaStream_t stream);

// Writes filter_first and filter_second of `gradients`, of the table_parts of all layers.
cudaError_t EnqueueTablesBackward(const TableSchNetSizes& sizes,
                                  const TableSchNetMatrices<const float>& weights, const TableEdges& edges,
                                  const TableSchNetStates& states, const TableSchNetGradients& gradients,
                                  cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_TABLE_FILTERS_CUH_
