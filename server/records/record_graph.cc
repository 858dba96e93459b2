#include "server/records/record_graph.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "server/edges/full.h"
#include "server/edges/working_memory.h"

namespace packtrain::records {
namespace {

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename T>
void Widen(std::span<const std::byte> bytes, std::vector<std::uint32_t>& out) {
  edges::MakeRoom(out, bytes.size() / sizeof(T));
  out.resize(bytes.size() / sizeof(T));
  for (std::size_t k = 0; k < out.size(); ++k) {
    T value;
    std::memcpy(&value, bytes.data() + k * sizeof(T), sizeof(T));
    out[k] = value;
  }
}

void Widen(std::span<const std::byte> bytes, std::uint8_t width, std::vector<std::uint32_t>& out) {
  if (width == 1) return Widen<std::uint8_t>(bytes, out);
  if (width == 2) return Widen<std::uint16_t>(bytes, out);
  return Widen<std::uint32_t>(bytes, out);
}

// Whether all edge fields of `to` are in `from`.
bool HasEdgeFields(const RecordLayout& from, const RecordLayout& to) {
  return std::ranges::all_of(to.fields(), [&](const RecordLayout::Field& field) {
    return field.scope != v1::FIELD_SCOPE_EDGE || from.FindField(field.name).has_value();
  });
}

}  // namespace

RecordGraph::RecordGraph(const RecordLayout& from, const RecordLayout& to)
    : keeps_edges_(from.stores_edges() && to.stores_edges() && HasEdgeFields(from, to)),
      full_edges_(!to.stores_edges()) {
  for (const RecordLayout::Field& field : to.fields()) {
    const bool left_out = field.scope == v1::FIELD_SCOPE_EDGE && !keeps_edges_;
    sources_.push_back(left_out ? std::nullopt : from.FindField(field.name));
  }
}

GraphView RecordGraph::Of(const RecordView& record) {
  fields_.clear();
  for (const std::optional<std::size_t> source : sources_) {
    fields_.push_back(source ? TextOf(record.field(*source)) : std::string_view());
  }
  GraphView graph;
  graph.n_node = record.n_node();
  graph.fields = fields_;
  graph.source_id = record.source_id();
  if (full_edges_) graph.n_edge = edges::FullEdgeCount(graph.n_node).value_or(0);
  if (!keeps_edges_) return graph;
  Widen(record.senders(), record.endpoint_bytes(), senders_);
  Widen(record.receivers(), record.endpoint_bytes(), receivers_);
  graph.n_edge = record.n_edge();
  graph.senders = senders_;
  graph.receivers = receivers_;
  return graph;
}

}  // namespace packtrain::records
