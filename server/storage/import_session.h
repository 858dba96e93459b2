// One DatasetService.ImportGraphs call, without the transport.
#ifndef PACKTRAIN_SERVER_STORAGE_IMPORT_SESSION_H_
#define PACKTRAIN_SERVER_STORAGE_IMPORT_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/edges/working_memory.h"
#include "server/records/block_reader.h"
#include "server/records/edge_filler.h"
#include "server/records/edge_order.h"
#include "server/records/graph_record.h"
#include "server/records/graph_validator.h"
#include "server/records/node_renumbering.h"
#include "server/records/record_check.h"
#include "server/records/record_graph.h"
#include "server/storage/graph_store.h"

namespace packtrain::storage {

// Bytes of the list of refused graphs that an import answers with.
inline constexpr std::uint64_t kMaxRefusedBytes = 32 << 20;

// Validates graphs and stages those that may be stored. Used by one thread. Destroying it, unless the writer
// was taken, drops what was staged, or keeps what the last Checkpoint made safe where the header has an
// identity.
class ImportSession {
 public:
  // Policies that are not specified mean stop, refuse and refuse. INVALID_ARGUMENT: an enum has a value that is
  // not known, or the schema breaks a rule (schema.h; edge_filler.h where edges are built, node_renumbering.h
  // where nodes are renumbered). The response lists refused graphs up to `max_refused_bytes`, and counts them
  // all. Where the header goes on with a kept import, codes and `progress` as GraphStore::NewKeptDataset, and
  // the response begins with what became of its graphs. `take` is called before the session holds more memory
  // for the work on a graph than before, with what memory_bytes() says from then on; a failure is that of Add,
  // which names the graph.
  static absl::StatusOr<std::unique_ptr<ImportSession>> Begin(
      GraphStore& store, const v1::ImportHeader& header, std::uint64_t max_refused_bytes = kMaxRefusedBytes,
      GraphStore::ReadProgress progress = [](std::uint64_t) { return absl::OkStatus(); },
      edges::WorkingMemory::Take take = nullptr);

  // Stages the graphs of a block. INVALID_ARGUMENT: the block contradicts itself, or a graph is bad and the
  // policy is to stop; otherwise codes as DatasetWriter::Append. After a failure only destroying is left.
  absl::Status Add(const v1::GraphBlock& block);

  // The same for graphs in the record format of the header's schema. INVALID_ARGUMENT: a record is none, or the
  // header sets build_edges or renumber.
  absl::Status Add(const v1::RecordBlock& block);
  // The same of their bytes.
  absl::Status Add(std::span<const std::string_view> records) { return added_ = AddAll(records); }

  // The same for one graph, with the fields of layout(); without edges where the header sets build_edges.
  absl::Status Add(const records::GraphView& graph) { return Receive(graph, {}); }

  // As DatasetWriter::Checkpoint, of all blocks so far. Does nothing behind a failure of Add.
  absl::Status Checkpoint(bool all);
  // Destroying it drops everything from now on.
  void DropAtEnd() { writer_->DropAtEnd(); }

  // Of the graphs that are added, with their edges.
  const records::RecordLayout& layout() const { return layout_; }

  // Bytes of memory held for what was staged and refused, and for the work on a graph.
  std::uint64_t memory_bytes() const;

  // Counts and refusals so far; without `import_id`.
  const v1::ImportGraphsResponse& response() const { return response_; }

  // What was staged, ready to be sealed. Ends the session: only destroying is left.
  std::unique_ptr<DatasetWriter> TakeWriter() { return std::move(writer_); }

 private:
  ImportSession(const v1::ImportHeader& header, const v1::Schema& schema, records::RecordLayout layout,
                records::RecordLayout stored_layout, GraphStore::KeptDataset dataset,
                std::uint64_t max_refused_bytes, edges::WorkingMemory::Take take);

  absl::Status AddAll(const v1::GraphBlock& block);
  absl::Status AddAll(std::span<const std::string_view> records);
  // Counts a graph, and stages or refuses it.
  absl::Status Receive(const records::GraphView& graph, std::string_view origin);
  // The same for a record, whose bytes are kept where they are what would be made of them.
  absl::Status Receive(const records::RecordView& record);
  absl::Status StageOrRefuse(records::GraphView graph, std::string_view origin);
  // Makes a graph one of the stored layout, but for its id.
  absl::StatusOr<std::optional<records::Refusal>> Complete(records::GraphView& graph);
  // What was staged and refused.
  std::uint64_t kept_bytes() const { return writer_->memory_bytes() + ids_.memory_bytes() + refused_bytes_; }
  // Names the graph where the failure is that of memory for it.
  absl::Status OfGraph(const absl::Status& failure, std::string_view source_id) const;
  absl::Status Refuse(const records::GraphView& graph, std::string_view origin,
                      const records::Refusal& refusal);
  void List(const records::GraphView& graph, std::string_view origin, const records::Refusal& refusal);
  // For a record of so many bytes.
  absl::Status MakeRoom(std::uint64_t record_bytes, std::string_view source_id);
  absl::Status Stage(std::span<const std::byte> record);

  const bool skip_bad_graphs_;
  const records::RecordLayout layout_;
  const records::RecordLayout stored_layout_;  // the same where nodes are not renumbered here
  const records::GraphValidator validator_;
  std::unique_ptr<DatasetWriter> writer_;
  records::SourceIds ids_;
  edges::WorkingMemory working_;
  std::uint64_t record_graph_bytes_ = 0;  // of working_
  std::uint64_t record_bytes_ = 0;        // likewise
  records::RecordGraph record_graph_;
  records::RecordCheck record_check_;
  records::EdgeOrder edge_order_;
  std::optional<records::EdgeFiller> edge_filler_;  // where edges are built, and stored
  std::optional<records::NodeRenumbering> renumbering_;
  std::string record_;
  const std::uint64_t max_refused_bytes_;
  std::uint64_t refused_bytes_ = 0;
  v1::ImportGraphsResponse response_;
  absl::Status added_;  // the outcome of the last block
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_IMPORT_SESSION_H_
