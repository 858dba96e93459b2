#include "server/serving/source_ids.h"

#include <cstddef>

#include "absl/status/status.h"
#include "server/storage/graph_record.h"

namespace packtrain::serving {

absl::StatusOr<std::vector<std::string>> ReadSourceIds(const storage::Dataset& dataset,
                                                       std::span<const std::uint32_t> graphs) {
  absl::StatusOr<storage::RecordLayout> layout = storage::RecordLayout::Create(dataset.description().schema());
  if (!layout.ok()) return layout.status();
  std::vector<std::string> ids(graphs.size());
  const auto keep_id = [&](std::size_t k, std::span<const std::byte> bytes) {
    absl::StatusOr<storage::RecordView> record = storage::RecordView::Parse(*layout, bytes);
    if (record.ok()) ids[k] = std::string(record->source_id());
    return record.status();
  };
  if (absl::Status status = dataset.ReadRecords(graphs, keep_id); !status.ok()) return status;
  return ids;
}

}  // namespace packtrain::serving
