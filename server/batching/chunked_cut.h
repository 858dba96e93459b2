// Cuts an epoch's order in independent chunks.
#ifndef PACKTRAIN_SERVER_BATCHING_CHUNKED_CUT_H_
#define PACKTRAIN_SERVER_BATCHING_CHUNKED_CUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/batching/batch_list.h"
#include "server/batching/plan_request.h"
#include "server/batching/policy_kind.h"

namespace packtrain::batching {

// Cuts each `chunk_graphs` consecutive graphs of the order on their own (the last chunk may have fewer), so
// that each chunk has a last batch of its own. The batches come in the order of the chunks. Chunks are the
// tasks of `parallel_for`, which cannot change the result. Besides the result, memory is needed for the chunks
// that are being cut, not for a second order. `chunk_graphs` is at least 1.
BatchList CutInChunks(const BatchPolicy& policy, std::vector<std::uint32_t> order, const GraphSizes& sizes,
                      std::size_t chunk_graphs, const ParallelFor& parallel_for);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_CHUNKED_CUT_H_
