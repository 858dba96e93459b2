// Cuts an epoch's order in chunks that do not know of each other.
#ifndef PACKTRAIN_SERVER_BATCHING_CHUNKED_CUT_H_
#define PACKTRAIN_SERVER_BATCHING_CHUNKED_CUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/batching/batch_list.h"
#include "server/batching/plan_request.h"
#include "server/batching/policy_kind.h"

namespace packtrain::batching {

// Cuts each `chunk_graphs` graphs of the order by themselves, the last chunk perhaps fewer, so that each chunk
// has a last batch of its own; the batches come in the order of the chunks. Chunks are the tasks of
// `parallel_for`, which cannot change the result. Beside the result, memory is taken for as many chunks as are
// cut at one time, not for a second order. `chunk_graphs` is at least 1.
BatchList CutInChunks(const BatchPolicy& policy, std::vector<std::uint32_t> order, const GraphSizes& sizes,
                      std::size_t chunk_graphs, const ParallelFor& parallel_for);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_CHUNKED_CUT_H_
