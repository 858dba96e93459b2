#include "server/batches/source_ids.h"

#include <cstddef>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"

namespace packtrain::batches {

absl::StatusOr<std::vector<std::string>> ReadSourceIds(const storage::Dataset& dataset,
                                                       std::span<const std::uint32_t> graphs) {
  std::vector<std::string> ids(graphs.size());
  const auto keep_id = [&](std::size_t k, const records::RecordView& record) {
    ids[k] = std::string(record.source_id());
    return absl::OkStatus();
  };
  ABSL_RETURN_IF_ERROR(dataset.ReadRecords(graphs, keep_id));
  return ids;
}

}  // namespace packtrain::batches
