// One graph as stored: bytes of a fixed layout, so that a section of a batch is filled by one memcpy for
// each graph and field.
//
// Format 1. Numbers are unsigned and little-endian, offsets count from the start of the record.
//
//   offset  bytes  what
//        0      2  format number, 1
//        2      1  bytes of a stored edge endpoint: 1, 2 or 4, the smallest that holds n_node - 1;
//                  0 where the schema's edges are not stored
//        3      1  flags; 0
//        4      4  n_node, at least 1
//        8      4  n_edge, counted even where edges are not stored
//       12      4  bandwidth: greatest |sender - receiver| over the edges, 0 without edges. Of renumbered
//       graphs
//                  that of the nodes as read follows from field `source_node` (schema.h) and the edges
//       16      4  bytes of the whole record
//       20      4  bytes of the source id
//       24      8  encodings, four bits a section from the lowest up: endpoints, then field 0, 1, .. 14.
//                  0: plain elements, which all sections beyond these have. Format 1 writes and takes 0 only
//       32         for each field of the schema, in its order: the rows, end to end. A node field has n_node
//                  rows, an edge field n_edge, a graph field 1. Image shifts of periodic edges are such an
//                  edge field, `shift`
//                  senders, n_edge of them, where edges are stored: by receiver, then sender
//                  receivers, likewise
//                  source id: UTF-8, not ended by a zero; the record ends with it
//
// Each field, the senders, the receivers and the source id start at the next multiple of 8; bytes between
// are 0. A record is read with the schema it was written for: it does not repeat it.
#ifndef PACKTRAIN_SERVER_RECORDS_GRAPH_RECORD_H_
#define PACKTRAIN_SERVER_RECORDS_GRAPH_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::records {

inline constexpr std::uint16_t kRecordFormat = 1;
inline constexpr std::size_t kRecordHeaderBytes = 32;
// Where each section starts, counted from the start of the record.
inline constexpr std::uint64_t kRecordAlignment = 8;
inline constexpr std::uint32_t kMaxRecordBytes = 1u << 30;

// Where the records of one schema have what. Immutable; any number of threads may use it.
class RecordLayout {
 public:
  struct Field {
    std::string name;
    v1::FieldScope scope;
    v1::DataType data_type;
    std::uint32_t row_bytes;
  };

  // INVALID_ARGUMENT: the schema fails CheckSchema (schema.h).
  static absl::StatusOr<RecordLayout> Create(const v1::Schema& schema);

  std::span<const Field> fields() const { return fields_; }
  // Position of a field in fields(), none where the schema has no such field.
  std::optional<std::size_t> FindField(std::string_view name) const;
  // Whether records hold endpoints; otherwise a graph has all n(n-1) edges.
  bool stores_edges() const { return stores_edges_; }
  // Position of `source_node` where the schema says `renumbered`, none otherwise.
  std::optional<std::size_t> source_node() const { return source_node_; }

 private:
  RecordLayout(std::vector<Field> fields, bool stores_edges);

  std::vector<Field> fields_;
  bool stores_edges_;
  std::optional<std::size_t> source_node_;
};

// Of a row of `source_node`.
inline constexpr std::size_t kSourceNodeBytes = sizeof(std::int32_t);

// Element `k` of unsigned numbers of 1, 2 or 4 bytes each, `width`: of endpoints and source nodes.
inline std::uint32_t NumberAt(std::span<const std::byte> numbers, std::size_t k, std::size_t width) {
  const auto read = [at = numbers.data() + k * width]<typename T>(T number) -> std::uint32_t {
    std::memcpy(&number, at, sizeof(number));
    return number;
  };
  if (width == 1) return read(std::uint8_t{});
  return width == 2 ? read(std::uint16_t{}) : read(std::uint32_t{});
}

// The smallest of 1, 2 and 4 bytes that holds every node index of a graph.
std::uint8_t EndpointBytes(std::uint32_t n_node);

// Rows of a field of this scope.
inline std::uint64_t RowsOf(v1::FieldScope scope, std::uint32_t n_node, std::uint32_t n_edge) {
  if (scope == v1::FIELD_SCOPE_NODE) return n_node;
  return scope == v1::FIELD_SCOPE_EDGE ? n_edge : 1;
}

// What `bytes` of a section take with the bytes in front of the next one.
constexpr std::uint64_t AlignedRecordBytes(std::uint64_t bytes) {
  return (bytes + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

// One graph in memory; everything is borrowed.
struct GraphView {
  std::uint32_t n_node = 0;
  std::uint32_t n_edge = 0;
  std::span<const std::uint32_t> senders;  // empty where edges are not stored
  std::span<const std::uint32_t> receivers;
  std::span<const std::string_view> fields;  // bytes of the rows of each field, in the layout's order
  std::string_view source_id;
};

// Bytes of the graph's record, which may exceed kMaxRecordBytes.
std::uint64_t RecordBytes(const RecordLayout& layout, const GraphView& graph);

// Replaces `out` by the graph's record. Edges must be sorted by receiver, then sender. INVALID_ARGUMENT: the
// view contradicts itself or the layout, or the record would be above kMaxRecordBytes.
absl::Status EncodeRecord(const RecordLayout& layout, const GraphView& graph, std::string& out);

// A checked look at one record. Borrows record and layout.
class RecordView {
 public:
  // DATA_LOSS: the bytes are no record of this layout; the message names the source id where the record's sizes
  // add up, so that it can be read. Every offset and size is checked; elements are not: endpoints and floats
  // are as the writer left them.
  static absl::StatusOr<RecordView> Parse(const RecordLayout& layout, std::span<const std::byte> record);
  // The same of a record that is known to be of so many nodes and edges. Also DATA_LOSS: it has others; the
  // message names the source id.
  static absl::StatusOr<RecordView> Parse(const RecordLayout& layout, std::span<const std::byte> record,
                                          std::uint32_t n_node, std::uint32_t n_edge);
  // The same of bytes that Parse took before, with this layout: checks nothing.
  static RecordView OfParsed(const RecordLayout& layout, const std::byte* record);

  // The whole record.
  std::span<const std::byte> bytes() const { return bytes_; }
  std::uint32_t n_node() const { return n_node_; }
  std::uint32_t n_edge() const { return n_edge_; }
  std::uint32_t bandwidth() const { return bandwidth_; }
  // Rows of field k of the layout. Not aligned unless the record is.
  std::span<const std::byte> field(std::size_t k) const { return section(k); }
  // Bytes of one endpoint; 0 where edges are not stored, and then senders and receivers are empty.
  std::uint8_t endpoint_bytes() const { return endpoint_bytes_; }
  std::span<const std::byte> senders() const { return section(layout_->fields().size()); }
  std::span<const std::byte> receivers() const { return section(layout_->fields().size() + 1); }
  std::string_view source_id() const { return source_id_; }
  // Rows of `source_node` of a renumbered graph, an I32 each; empty otherwise.
  std::span<const std::byte> source_nodes() const {
    return layout_->source_node() ? field(*layout_->source_node()) : std::span<const std::byte>();
  }
  // The bandwidth of a renumbered graph by the nodes' indices in its source; bandwidth() of any other. Edges
  // that end at no node do not count.
  std::uint32_t bandwidth_as_read() const;

  // Calls `visit(bytes)` for each field's rows in the layout's order, for the senders and for the receivers:
  // all of them in less time than two by the functions above, which walk the record each.
  template <typename Visit>
  void ForEachSection(Visit visit) const {
    const std::byte* at = bytes_.data() + kRecordHeaderBytes;
    const auto next = [&](std::uint64_t bytes) {
      visit(std::span(at, bytes));
      at += AlignedRecordBytes(bytes);
    };
    for (const RecordLayout::Field& field : layout_->fields()) {
      next(RowsOf(field.scope, n_node_, n_edge_) * field.row_bytes);
    }
    next(std::uint64_t{n_edge_} * endpoint_bytes_);
    next(std::uint64_t{n_edge_} * endpoint_bytes_);
  }

 private:
  RecordView() = default;

  std::span<const std::byte> section(std::size_t k) const;

  const RecordLayout* layout_ = nullptr;
  std::span<const std::byte> bytes_;
  std::uint32_t n_node_ = 0;
  std::uint32_t n_edge_ = 0;
  std::uint32_t bandwidth_ = 0;
  std::uint8_t endpoint_bytes_ = 0;
  std::string_view source_id_;
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_GRAPH_RECORD_H_
