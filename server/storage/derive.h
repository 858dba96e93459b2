// Data sets made out of stored ones.
#ifndef PACKTRAIN_SERVER_STORAGE_DERIVE_H_
#define PACKTRAIN_SERVER_STORAGE_DERIVE_H_

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/edges/working_memory.h"
#include "server/storage/graph_store.h"

namespace packtrain::storage {

// Called after each graph with the bytes of memory held so far; an error ends the work with that error.
using DeriveProgress = absl::FunctionRef<absl::Status(std::uint64_t memory_bytes)>;

// Bytes of memory that reading one graph of `source` takes, and putting it back into the order of its source.
absl::StatusOr<std::uint64_t> SourceGraphBytes(const Dataset& source);

// Stages every graph of `source`, in order, with the request's edges and numbering, in `store`. Where edges are
// built, nodes that were renumbered by the edges before are put back into the order of their source first, and
// `source_node` is left out. What is staged and sealed by SealOfDerived is what an import of the same graphs
// with these edges and this numbering gives. INVALID_ARGUMENT: the request names neither edges nor a split nor
// a numbering, the edges cannot be built from the fields (edge_filler.h), or those of a graph cannot, which the
// message names, or the nodes cannot be renumbered (node_renumbering.h). Otherwise codes as
// Dataset::ScanRecords and DatasetWriter::Append. `take`: as of ImportSession::Begin, beside SourceGraphBytes.
absl::StatusOr<std::unique_ptr<DatasetWriter>> StageDerived(GraphStore& store, const Dataset& source,
                                                            const v1::DeriveDatasetRequest& request,
                                                            DeriveProgress progress,
                                                            edges::WorkingMemory::Take take = nullptr);

// Seals it under the request's name, with its split or else that of `source`. The lineage names `source` and
// its files; the rest of it is the caller's.
v1::SealDatasetRequest SealOfDerived(const Dataset& source, const v1::DeriveDatasetRequest& request);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_DERIVE_H_
