#include "server/records/graph_record.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_layout.h"
#include "server/edges/bandwidth.h"
#include "server/edges/full.h"
#include "server/edges/working_memory.h"
#include "server/records/schema.h"

namespace packtrain::records {
namespace {

static_assert(std::endian::native == std::endian::little, "records are copied as they lie in memory");

struct Header {
  std::uint16_t format;
  std::uint8_t endpoint_bytes;
  std::uint8_t flags;
  std::uint32_t n_node;
  std::uint32_t n_edge;
  std::uint32_t bandwidth;
  std::uint32_t record_bytes;
  std::uint32_t source_id_bytes;
  std::uint64_t encodings;
};
static_assert(sizeof(Header) == kRecordHeaderBytes);

// Of a record that is at least as long.
Header HeaderOf(const std::byte* record) {
  Header header;
  std::memcpy(&header, record, sizeof(header));
  return header;
}

std::uint8_t StoredEndpointBytes(const RecordLayout& layout, std::uint32_t n_node) {
  return layout.stores_edges() ? EndpointBytes(n_node) : 0;
}

// Cannot overflow: at most 64 fields of at most 2^32 rows of at most 2^19 bytes.
std::uint64_t SourceIdOffset(const RecordLayout& layout, std::uint32_t n_node, std::uint32_t n_edge) {
  std::uint64_t offset = kRecordHeaderBytes;
  for (const RecordLayout::Field& field : layout.fields()) {
    offset += AlignedRecordBytes(RowsOf(field.scope, n_node, n_edge) * field.row_bytes);
  }
  return offset + 2 * AlignedRecordBytes(std::uint64_t{n_edge} * StoredEndpointBytes(layout, n_node));
}

std::uint32_t BandwidthOf(const RecordLayout& layout, const GraphView& graph) {
  return layout.stores_edges() ? edges::Bandwidth(graph.senders, graph.receivers) : graph.n_node - 1;
}

bool EdgesAgree(const RecordLayout& layout, const GraphView& graph) {
  if (layout.stores_edges()) {
    return graph.senders.size() == graph.n_edge && graph.receivers.size() == graph.n_edge;
  }
  const absl::StatusOr<std::uint32_t> full = edges::FullEdgeCount(graph.n_node);
  return full.ok() && graph.n_edge == *full && graph.senders.empty() && graph.receivers.empty();
}

bool FieldsAgree(const RecordLayout& layout, const GraphView& graph) {
  if (graph.fields.size() != layout.fields().size()) return false;
  for (std::size_t k = 0; k < graph.fields.size(); ++k) {
    const RecordLayout::Field& field = layout.fields()[k];
    if (graph.fields[k].size() != RowsOf(field.scope, graph.n_node, graph.n_edge) * field.row_bytes)
      return false;
  }
  return true;
}

absl::Status CheckView(const RecordLayout& layout, const GraphView& graph) {
  if (graph.n_node == 0) return absl::InvalidArgumentError("a graph must have at least one node");
  if (!EdgesAgree(layout, graph)) return absl::InvalidArgumentError("the edges contradict the graph's counts");
  if (!FieldsAgree(layout, graph))
    return absl::InvalidArgumentError("the fields contradict the graph's counts");
  const std::uint64_t bytes = RecordBytes(layout, graph);
  if (bytes <= kMaxRecordBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the graph's record of ", bytes, " bytes is above the limit of ", kMaxRecordBytes));
}

template <typename T>
void WriteEndpoints(std::span<const std::uint32_t> nodes, char* to) {
  for (const std::uint32_t node : nodes) {
    const T value = static_cast<T>(node);
    std::memcpy(to, &value, sizeof(T));
    to += sizeof(T);
  }
}

void WriteEndpoints(std::span<const std::uint32_t> nodes, std::uint8_t width, char* to) {
  if (width == 1) return WriteEndpoints<std::uint8_t>(nodes, to);
  if (width == 2) return WriteEndpoints<std::uint16_t>(nodes, to);
  return WriteEndpoints<std::uint32_t>(nodes, to);
}

absl::Status Corrupt(std::string_view what) {
  return absl::DataLossError(absl::StrCat("damaged graph record: ", std::string(what)));
}

// Whether all sizes of the header add up to the record's, so that the source id is where it says.
bool AddsUp(const RecordLayout& layout, const Header& header, std::uint64_t size) {
  return header.record_bytes == size &&
         SourceIdOffset(layout, header.n_node, header.n_edge) + header.source_id_bytes == size;
}

absl::Status CheckHeader(const RecordLayout& layout, const Header& header, std::uint64_t size) {
  if (header.format != kRecordFormat) {
    return Corrupt(absl::StrCat("format ", header.format, ", this program reads format ", kRecordFormat));
  }
  if (header.record_bytes != size) return Corrupt("its length differs from the one it states");
  if (header.flags != 0 || header.encodings != 0) return Corrupt("unknown flags or encodings");
  if (header.n_node == 0) return Corrupt("no nodes");
  if (header.endpoint_bytes != StoredEndpointBytes(layout, header.n_node)) return Corrupt("endpoint width");
  if (header.bandwidth >= header.n_node) return Corrupt("bandwidth");
  if (!layout.stores_edges()) {
    const absl::StatusOr<std::uint32_t> full = edges::FullEdgeCount(header.n_node);
    if (!full.ok() || header.n_edge != *full) return Corrupt("edge count");
  }
  if (!AddsUp(layout, header, size)) return Corrupt("its counts don't add up to its length");
  return absl::OkStatus();
}

// Of a record whose header adds up.
std::string_view SourceIdOf(const Header& header, const std::byte* record) {
  return {reinterpret_cast<const char*>(record) + header.record_bytes - header.source_id_bytes,
          header.source_id_bytes};
}

// Whatever bytes a corrupt id may have, the message is text.
std::string Quoted(std::string_view source_id) {
  return absl::StrCat("'", absl::CEscape({source_id.data(), source_id.size()}), "'");
}

}  // namespace

RecordLayout::RecordLayout(std::vector<Field> fields, bool stores_edges)
    : fields_(std::move(fields)), stores_edges_(stores_edges) {}

absl::StatusOr<RecordLayout> RecordLayout::Create(const v1::Schema& schema) {
  ABSL_RETURN_IF_ERROR(CheckSchema(schema));
  std::vector<Field> fields;
  for (const v1::Field& field : schema.fields()) {
    const std::uint64_t row_bytes =
        RowElements(field) * wire::SizeOf(static_cast<wire::DType>(field.data_type()));
    fields.push_back({field.name(), field.scope(), field.data_type(), static_cast<std::uint32_t>(row_bytes)});
  }
  RecordLayout layout(std::move(fields), schema.edge_rule() == v1::EDGE_RULE_STORED);
  if (IsRenumbered(schema)) layout.source_node_ = layout.FindField(kSourceNodeField);
  return layout;
}

std::optional<std::size_t> RecordLayout::FindField(std::string_view name) const {
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    if (fields_[k].name == name) return k;
  }
  return std::nullopt;
}

std::uint8_t EndpointBytes(std::uint32_t n_node) {
  if (n_node <= 1u << 8) return 1;
  return n_node <= 1u << 16 ? 2 : 4;
}

std::uint64_t RecordBytes(const RecordLayout& layout, const GraphView& graph) {
  return SourceIdOffset(layout, graph.n_node, graph.n_edge) + graph.source_id.size();
}

absl::Status EncodeRecord(const RecordLayout& layout, const GraphView& graph, std::string& out) {
  ABSL_RETURN_IF_ERROR(CheckView(layout, graph));
  const Header header{.format = kRecordFormat,
                      .endpoint_bytes = StoredEndpointBytes(layout, graph.n_node),
                      .flags = 0,
                      .n_node = graph.n_node,
                      .n_edge = graph.n_edge,
                      .bandwidth = BandwidthOf(layout, graph),
                      .record_bytes = static_cast<std::uint32_t>(RecordBytes(layout, graph)),
                      .source_id_bytes = static_cast<std::uint32_t>(graph.source_id.size()),
                      .encodings = 0};
  edges::MakeRoom(out, header.record_bytes);
  out.assign(header.record_bytes, '\0');
  std::memcpy(out.data(), &header, sizeof(header));
  std::uint64_t offset = kRecordHeaderBytes;
  for (const std::string_view rows : graph.fields) {
    rows.copy(out.data() + offset, rows.size());
    offset = AlignedRecordBytes(offset + rows.size());
  }
  for (const std::span<const std::uint32_t> nodes : {graph.senders, graph.receivers}) {
    WriteEndpoints(nodes, header.endpoint_bytes, out.data() + offset);
    offset = AlignedRecordBytes(offset + nodes.size() * header.endpoint_bytes);
  }
  graph.source_id.copy(out.data() + offset, graph.source_id.size());
  return absl::OkStatus();
}

absl::StatusOr<RecordView> RecordView::Parse(const RecordLayout& layout, std::span<const std::byte> record) {
  if (record.size() < kRecordHeaderBytes) return Corrupt("shorter than its header");
  const Header header = HeaderOf(record.data());
  const absl::Status status = CheckHeader(layout, header, record.size());
  if (status.ok()) return OfParsed(layout, record.data());
  if (header.format != kRecordFormat || !AddsUp(layout, header, record.size())) return status;
  return absl::DataLossError(absl::StrCat(Quoted(SourceIdOf(header, record.data())), ": ", status.message()));
}

absl::StatusOr<RecordView> RecordView::Parse(const RecordLayout& layout, std::span<const std::byte> record,
                                             std::uint32_t n_node, std::uint32_t n_edge) {
  absl::StatusOr<RecordView> view = Parse(layout, record);
  if (!view.ok() || (view->n_node_ == n_node && view->n_edge_ == n_edge)) return view;
  return absl::DataLossError(absl::StrCat(Quoted(view->source_id_), " has ", view->n_node_, " nodes and ",
                                          view->n_edge_, " edges, the size index says ", n_node, " and ",
                                          n_edge));
}

RecordView RecordView::OfParsed(const RecordLayout& layout, const std::byte* record) {
  const Header header = HeaderOf(record);
  RecordView view;
  view.layout_ = &layout;
  view.bytes_ = {record, header.record_bytes};
  view.n_node_ = header.n_node;
  view.n_edge_ = header.n_edge;
  view.bandwidth_ = header.bandwidth;
  view.endpoint_bytes_ = header.endpoint_bytes;
  view.source_id_ = SourceIdOf(header, record);
  return view;
}

std::uint32_t RecordView::bandwidth_as_read() const {
  if (!layout_->source_node()) return bandwidth_;
  const std::span<const std::byte> nodes = source_nodes(), senders = this->senders(),
                                   receivers = this->receivers();
  std::uint32_t bandwidth = 0;
  for (std::size_t e = 0; e < n_edge_; ++e) {
    const std::uint32_t sender = NumberAt(senders, e, endpoint_bytes_);
    const std::uint32_t receiver = NumberAt(receivers, e, endpoint_bytes_);
    if (sender >= n_node_ || receiver >= n_node_) continue;
    const auto [low, high] =
        std::minmax({NumberAt(nodes, sender, kSourceNodeBytes), NumberAt(nodes, receiver, kSourceNodeBytes)});
    bandwidth = std::max(bandwidth, high - low);
  }
  return bandwidth;
}

std::span<const std::byte> RecordView::section(std::size_t k) const {
  std::span<const std::byte> found;
  ForEachSection([&](std::span<const std::byte> bytes) {
    if (k-- == 0) found = bytes;
  });
  return found;
}

}  // namespace packtrain::records
