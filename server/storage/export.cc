#include "server/storage/export.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/records/graph_record.h"
#include "server/records/graph_validator.h"
#include "server/records/record_graph.h"
#include "server/records/utf8.h"
#include "server/storage/seal.h"

namespace packtrain::storage {
namespace {

constexpr std::uint64_t kBlockBytes = 1 << 20;
constexpr std::size_t kSplitGraphs = 1 << 17;
// Tags and lengths around what a block holds, at most.
constexpr std::uint64_t kFrameBytes = 1 << 10;
// Of an edge as columns: two varints of up to five bytes.
constexpr std::uint64_t kColumnBytesOfAnEdge = 10;
// Of a message: its graph with endpoints of four bytes each; the message, whose columns may have room for as
// much again; and its packed form.
constexpr std::uint64_t kCopiesOfAMessage = 4;
// Of a record: in its block, and in that as it was read, compressed.
constexpr std::uint64_t kCopiesOfARecord = 2;

// Gathers graphs into messages.
class BlockWriter {
 public:
  BlockWriter(const records::RecordLayout& layout, bool as_columns, std::uint64_t max_message_bytes,
              ExportSink sink)
      : layout_(layout),
        as_columns_(as_columns),
        max_graph_bytes_(max_message_bytes - std::min(max_message_bytes, kFrameBytes)),
        sink_(sink),
        graph_(layout, layout) {}

  absl::Status Add(std::size_t index, const records::RecordView& record) {
    const records::GraphView graph = graph_.Of(record);
    // As columns it would be text, of which the client could read no message.
    if (as_columns_ && !records::IsUtf8(graph.source_id)) {
      return absl::DataLossError(absl::StrCat("the source id of graph ", index, ", '",
                                              absl::CEscape({graph.source_id.data(), graph.source_id.size()}),
                                              "', is not UTF-8"));
    }
    const std::uint64_t bytes = as_columns_ ? ColumnBytes(record, graph) : record.bytes().size();
    if (bytes > max_graph_bytes_) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "graph ", index, " '", std::string(record.source_id()), "' takes ", bytes, " bytes, above the ",
          max_graph_bytes_, " of a message; packtraind --max-message-bytes is the limit"));
    }
    if (bytes_ + bytes > std::min(kBlockBytes, max_graph_bytes_)) {
      ABSL_RETURN_IF_ERROR(Flush());
    }
    bytes_ += bytes;
    if (as_columns_) {
      AddColumns(graph);
    } else {
      message_.mutable_block()->add_records(record.bytes().data(), record.bytes().size());
    }
    return absl::OkStatus();
  }

  absl::Status Flush() {
    if (bytes_ == 0) return absl::OkStatus();
    bytes_ = 0;
    return sink_(std::exchange(message_, {}));
  }

 private:
  static std::uint64_t ColumnBytes(const records::RecordView& record, const records::GraphView& graph) {
    return record.bytes().size() + kColumnBytesOfAnEdge * graph.senders.size() + graph.source_id.size() +
           records::kRecordHeaderBytes;
  }

  void AddColumns(const records::GraphView& graph) {
    v1::GraphBlock& block = *message_.mutable_columns();
    block.add_source_ids(std::string(graph.source_id));
    block.add_n_node(graph.n_node);
    if (layout_.stores_edges()) block.add_n_edge(graph.n_edge);
    block.mutable_senders()->Add(graph.senders.begin(), graph.senders.end());
    block.mutable_receivers()->Add(graph.receivers.begin(), graph.receivers.end());
    for (std::size_t k = 0; k < graph.fields.size(); ++k) {
      v1::Column& column = static_cast<int>(k) < block.columns_size()
                               ? *block.mutable_columns(static_cast<int>(k))
                               : *block.add_columns();
      column.set_field(layout_.fields()[k].name);
      column.mutable_data()->append(graph.fields[k]);
    }
  }

  const records::RecordLayout& layout_;
  const bool as_columns_;
  const std::uint64_t max_graph_bytes_;
  const ExportSink sink_;
  records::RecordGraph graph_;
  v1::ExportDatasetResponse message_;
  std::uint64_t bytes_ = 0;  // of message_
};

absl::Status ExportGraphs(const Dataset& dataset, const v1::ExportDatasetRequest& request,
                          std::uint64_t max_message_bytes, ExportSink sink) {
  if (request.first_graph() == dataset.n_node().size()) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(const records::RecordLayout layout,
                        records::RecordLayout::Create(dataset.description().schema()));
  BlockWriter writer(layout, request.as_columns(), max_message_bytes, sink);
  const absl::Status scanned = dataset.ScanRecords([&](std::size_t graph, const records::RecordView& record) {
    return graph < request.first_graph() ? absl::OkStatus() : writer.Add(graph, record);
  });
  return scanned.ok() ? writer.Flush() : scanned;
}

absl::Status ExportSplit(const Dataset& dataset, const std::string& name, ExportSink sink) {
  ABSL_ASSIGN_OR_RETURN(const std::span<const std::uint32_t> graphs, dataset.Split(name));
  for (std::size_t begin = 0; begin < graphs.size(); begin += kSplitGraphs) {
    v1::ExportDatasetResponse message;
    message.mutable_split()->set_split(name);
    const auto part = graphs.subspan(begin, std::min(kSplitGraphs, graphs.size() - begin));
    message.mutable_split()->mutable_graphs()->Add(part.begin(), part.end());
    ABSL_RETURN_IF_ERROR(sink(message));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::uint64_t> ExportBytes(const Dataset& dataset, std::uint64_t max_message_bytes) {
  const v1::Dataset& description = dataset.description();
  ABSL_ASSIGN_OR_RETURN(const records::RecordLayout layout,
                        records::RecordLayout::Create(description.schema()));
  // No graph has more of either.
  records::GraphView largest;
  largest.n_node = description.nodes().max();
  largest.n_edge = description.edges().max();
  const std::uint64_t record = records::RecordBytes(layout, largest) + records::kMaxSourceIdBytes;
  const std::uint64_t graph = record + kColumnBytesOfAnEdge * largest.n_edge + kFrameBytes;
  return 2 * description.SpaceUsedLong() + kCopiesOfARecord * record +
         kCopiesOfAMessage * std::clamp(graph, kBlockBytes, std::max(kBlockBytes, max_message_bytes));
}

absl::Status ExportDataset(const Dataset& dataset, const v1::ExportDatasetRequest& request,
                           std::uint64_t max_message_bytes, ExportSink sink) {
  if (request.first_graph() > dataset.n_node().size()) {
    return absl::OutOfRangeError(absl::StrCat("first_graph ", request.first_graph(), ": the data set has ",
                                              dataset.n_node().size(), " graphs"));
  }
  v1::ExportDatasetResponse header;
  *header.mutable_header()->mutable_dataset() = dataset.description();
  header.mutable_header()->set_first_graph(request.first_graph());
  ABSL_RETURN_IF_ERROR(sink(header));
  ABSL_RETURN_IF_ERROR(ExportGraphs(dataset, request, max_message_bytes, sink));
  for (const v1::Split& split : dataset.description().splits()) {
    if (split.name() == kAllSplit) continue;
    ABSL_RETURN_IF_ERROR(ExportSplit(dataset, split.name(), sink));
  }
  v1::ExportDatasetResponse end;
  end.mutable_end()->set_graphs(dataset.description().graphs());
  return sink(end);
}

}  // namespace packtrain::storage
