#include "server/storage/graph_store.h"

#include "proto/base/status_macros.h"
#include "server/storage/kept_imports.h"

namespace packtrain::storage {

absl::StatusOr<GraphStore::KeptDataset> GraphStore::NewKeptDataset(const v1::Schema& schema,
                                                                   const v1::ImportHeader& header,
                                                                   ReadProgress /*progress*/) {
  if (header.continue_at() > 0) return KeptImportChanged(0);
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<DatasetWriter> writer, NewDataset(schema));
  return KeptDataset{std::move(writer), {}};
}

}  // namespace packtrain::storage
