#include "server/storage/graph_store.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/storage/kept_imports.h"

namespace packtrain::storage {

absl::StatusOr<std::vector<std::uint32_t>> Dataset::ReadBandwidthsAsRead(
    std::span<const std::uint32_t> /*graphs*/) const {
  return absl::FailedPreconditionError(absl::StrCat(
      "data set ", wire::FullName(description()),
      " has no bandwidths, because its nodes are not renumbered: import or derive it with --renumber rcm"));
}

absl::StatusOr<GraphStore::KeptDataset> GraphStore::NewKeptDataset(const v1::Schema& schema,
                                                                   const v1::ImportHeader& header,
                                                                   ReadProgress /*progress*/) {
  if (header.continue_at() > 0) return KeptImportChanged(0);
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<DatasetWriter> writer, NewDataset(schema));
  return KeptDataset{std::move(writer), {}};
}

}  // namespace packtrain::storage
