#include "server/records/record_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace packtrain::records {
namespace {

template <typename T>
T NodeAt(std::string_view nodes, std::size_t edge) {
  T node;
  std::memcpy(&node, nodes.data() + edge * sizeof(T), sizeof(T));
  return node;
}

// Whether all endpoints, of T, are below `n_node`, the edges by receiver and then sender, and their bandwidth
// is `bandwidth`. Looks at all edges: loops that end early take a branch for each.
template <typename T>
bool AreSound(std::string_view senders, std::string_view receivers, std::uint32_t n_node,
              std::uint32_t bandwidth) {
  const std::size_t edges = senders.size() / sizeof(T);
  T last = 0, widest = 0;
  for (std::size_t edge = 0; edge < edges; ++edge) {
    const T sender = NodeAt<T>(senders, edge), receiver = NodeAt<T>(receivers, edge);
    const T high = std::max(sender, receiver), low = std::min(sender, receiver);
    last = std::max(last, high);
    widest = std::max(widest, static_cast<T>(high - low));
  }
  T unordered = 0;
  for (std::size_t edge = 1; edge < edges; ++edge) {
    const T sender = NodeAt<T>(senders, edge - 1), receiver = NodeAt<T>(receivers, edge - 1);
    const T next_sender = NodeAt<T>(senders, edge), next_receiver = NodeAt<T>(receivers, edge);
    unordered |= static_cast<T>(receiver > next_receiver) |
                 (static_cast<T>(receiver == next_receiver) & static_cast<T>(sender > next_sender));
  }
  return last < n_node && widest == bandwidth && unordered == 0;
}

}  // namespace

bool RecordCheck::IsAsStored(const RecordView& record) {
  if (!TakeSections(record) || !HasSoundEdges(record)) return false;
  // Without the edges, which are checked: as they are, the validator would need each of them widened.
  const GraphView graph{.n_node = record.n_node(),
                        .n_edge = record.n_edge(),
                        .senders = {},
                        .receivers = {},
                        .fields = std::span(sections_).first(layout_.fields().size()),
                        .source_id = record.source_id()};
  return !validator_.Check(graph).has_value();
}

bool RecordCheck::TakeSections(const RecordView& record) {
  sections_.clear();
  bool gaps_are_zero = true;
  record.ForEachSection([&](std::span<const std::byte> bytes) {
    const std::string_view section(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    sections_.push_back(section);
    for (std::size_t at = section.size(); at < AlignedRecordBytes(section.size()); ++at)
      gaps_are_zero &= section.data()[at] == 0;
  });
  return gaps_are_zero;
}

bool RecordCheck::HasSoundEdges(const RecordView& record) const {
  const std::string_view senders = sections_[layout_.fields().size()],
                         receivers = sections_[layout_.fields().size() + 1];
  const std::uint32_t n_node = record.n_node(), bandwidth = record.bandwidth();
  switch (record.endpoint_bytes()) {
    case 0:  // all edges, which are not stored
      return bandwidth == n_node - 1;
    case 1:
      return AreSound<std::uint8_t>(senders, receivers, n_node, bandwidth);
    case 2:
      return AreSound<std::uint16_t>(senders, receivers, n_node, bandwidth);
    default:
      return AreSound<std::uint32_t>(senders, receivers, n_node, bandwidth);
  }
}

}  // namespace packtrain::records
