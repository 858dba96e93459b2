#include "server/storage/import_session.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/enum_check.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "server/records/utf8.h"

namespace packtrain::storage {
namespace {

constexpr std::size_t kMaxTextBytes = 1024;
// Tags and lengths of one entry of a repeated message field, at most.
constexpr std::uint64_t kEntryOverheadBytes = 16;

// The id as text, whatever bytes it has.
std::string Shown(std::string_view id) {
  return records::IsUtf8(id) ? std::string(id) : absl::CEscape({id.data(), id.size()});
}

// `text`, or as many of its whole characters as fit into kMaxTextBytes.
std::string Shortened(std::string_view text) {
  if (text.size() <= kMaxTextBytes) return std::string(text);
  std::size_t end = kMaxTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

// Of a record: itself, the block of its file, and that compressed.
constexpr std::uint64_t kCopiesOfARecord = 3;

// What a refused graph counts for in the list of them.
std::uint64_t BytesOf(const v1::RefusedGraph& refused) { return refused.ByteSizeLong() + kEntryOverheadBytes; }

// The failure with its details, of what `prefix` says.
absl::Status Prefixed(const absl::Status& failure, std::string_view prefix) {
  absl::Status prefixed(failure.code(), absl::StrCat(std::string(prefix), ": ", failure.message()));
  failure.ForEachPayload([&prefixed](absl::string_view type_url, const absl::Cord& payload) {
    prefixed.SetPayload(type_url, payload);
  });
  return prefixed;
}

absl::StatusOr<GraphStore::KeptDataset> NewDataset(GraphStore& store, const v1::Schema& schema,
                                                   const v1::ImportHeader& header,
                                                   GraphStore::ReadProgress progress) {
  if (header.has_identity()) return store.NewKeptDataset(schema, header, progress);
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<DatasetWriter> writer, store.NewDataset(schema));
  return GraphStore::KeptDataset{std::move(writer), {}};
}

}  // namespace

ImportSession::ImportSession(const v1::ImportHeader& header, const v1::Schema& schema,
                             records::RecordLayout layout, records::RecordLayout stored_layout,
                             GraphStore::KeptDataset dataset, std::uint64_t max_refused_bytes,
                             edges::WorkingMemory::Take take)
    : skip_bad_graphs_(header.on_error() == v1::ERROR_POLICY_SKIP),
      layout_(std::move(layout)),
      stored_layout_(std::move(stored_layout)),
      validator_(layout_, header.missing_target()),
      writer_(std::move(dataset.writer)),
      ids_(header.duplicate_ids()),
      working_([this, take = std::move(take)](std::uint64_t bytes) {
        return take == nullptr ? absl::OkStatus() : take(kept_bytes() + bytes);
      }),
      record_graph_(layout_, layout_),
      record_check_(layout_, validator_),
      edge_order_(stored_layout_, working_),
      max_refused_bytes_(max_refused_bytes),
      response_(std::move(dataset.progress)) {
  for (const v1::RefusedGraph& refused : response_.refused()) refused_bytes_ += BytesOf(refused);
  if (header.build_edges() && layout_.stores_edges()) edge_filler_.emplace(schema, layout_, working_);
  if (header.renumber() != v1::RENUMBERING_UNSPECIFIED) renumbering_.emplace(layout_, stored_layout_, working_);
}

absl::StatusOr<std::unique_ptr<ImportSession>> ImportSession::Begin(GraphStore& store,
                                                                    const v1::ImportHeader& header,
                                                                    std::uint64_t max_refused_bytes,
                                                                    GraphStore::ReadProgress progress,
                                                                    edges::WorkingMemory::Take take) {
  ABSL_RETURN_IF_ERROR(base::CheckEnums("header", header));
  ABSL_ASSIGN_OR_RETURN(const v1::Schema schema,
                        header.build_edges() ? records::SchemaOfBuiltEdges(header.schema()) : header.schema());
  ABSL_ASSIGN_OR_RETURN(const v1::Schema stored_schema, records::SchemaOfRenumbered(schema, header.renumber()));
  ABSL_ASSIGN_OR_RETURN(records::RecordLayout layout, records::RecordLayout::Create(schema));
  ABSL_ASSIGN_OR_RETURN(records::RecordLayout stored_layout, records::RecordLayout::Create(stored_schema));
  ABSL_ASSIGN_OR_RETURN(GraphStore::KeptDataset dataset, NewDataset(store, stored_schema, header, progress));
  return std::unique_ptr<ImportSession>(new ImportSession(header, schema, std::move(layout),
                                                          std::move(stored_layout), std::move(dataset),
                                                          max_refused_bytes, std::move(take)));
}

absl::Status ImportSession::Add(const v1::GraphBlock& block) { return added_ = AddAll(block); }

absl::Status ImportSession::Add(const v1::RecordBlock& block) {
  const std::vector<std::string_view> records(block.records().begin(), block.records().end());
  return Add(records);
}

absl::Status ImportSession::Checkpoint(bool all) {
  return added_.ok() ? writer_->Checkpoint(response_, all) : absl::OkStatus();
}

absl::Status ImportSession::AddAll(const v1::GraphBlock& block) {
  ABSL_ASSIGN_OR_RETURN(records::BlockReader reader,
                        records::BlockReader::Open(layout_, block, !edge_filler_.has_value()));
  while (reader.Next()) {
    ABSL_RETURN_IF_ERROR(Receive(reader.graph(), reader.origin()));
  }
  return absl::OkStatus();
}

absl::Status ImportSession::AddAll(std::span<const std::string_view> records) {
  if (edge_filler_) return absl::InvalidArgumentError("records hold edges, and the header sets build_edges");
  if (renumbering_) {
    return absl::InvalidArgumentError("the nodes of records are numbered, and the header sets renumber");
  }
  for (const std::string_view bytes : records) {
    const absl::StatusOr<records::RecordView> record =
        records::RecordView::Parse(layout_, std::as_bytes(std::span(bytes)));
    if (!record.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("graph ", response_.received() + 1, ": ", record.status().message()));
    }
    ABSL_RETURN_IF_ERROR(Receive(*record));
  }
  return absl::OkStatus();
}

absl::Status ImportSession::Receive(const records::RecordView& record) {
  if (!record_check_.IsAsStored(record) || writer_->HasId(record.source_id())) {
    const absl::Status room = working_.Raise(
        record_graph_bytes_, std::uint64_t{record.n_edge()} * records::RecordGraph::kBytesOfAnEdge);
    if (!room.ok()) return OfGraph(room, record.source_id());
    return Receive(record_graph_.Of(record), {});
  }
  ABSL_RETURN_IF_ERROR(MakeRoom(record.bytes().size(), record.source_id()));
  ABSL_RETURN_IF_ERROR(Stage(record.bytes()));
  response_.set_received(response_.received() + 1);
  return absl::OkStatus();
}

absl::Status ImportSession::Receive(const records::GraphView& graph, std::string_view origin) {
  ABSL_RETURN_IF_ERROR(StageOrRefuse(graph, origin));
  response_.set_received(response_.received() + 1);
  return absl::OkStatus();
}

absl::Status ImportSession::StageOrRefuse(records::GraphView graph, std::string_view origin) {
  const absl::StatusOr<std::optional<records::Refusal>> refusal = Complete(graph);
  if (!refusal.ok()) return OfGraph(refusal.status(), graph.source_id);
  if (refusal->has_value()) return Refuse(graph, origin, **refusal);
  const std::optional<std::string> id =
      ids_.Take(graph.source_id, [this](std::string_view candidate) { return writer_->HasId(candidate); });
  if (!id) {
    return Refuse(graph, origin,
                  {records::refusal_reason::kDuplicateId,
                   absl::StrCat("the source id '", std::string(graph.source_id),
                                "' came before; --duplicate-ids number would tell them apart")});
  }
  graph.source_id = *id;
  ABSL_RETURN_IF_ERROR(MakeRoom(records::RecordBytes(stored_layout_, graph), graph.source_id));
  const absl::StatusOr<records::GraphView> sorted = edge_order_.Sorted(graph);
  if (!sorted.ok()) return OfGraph(sorted.status(), graph.source_id);
  ABSL_RETURN_IF_ERROR(records::EncodeRecord(stored_layout_, *sorted, record_));
  return Stage(std::as_bytes(std::span(record_)));
}

absl::StatusOr<std::optional<records::Refusal>> ImportSession::Complete(records::GraphView& graph) {
  std::optional<records::Refusal> refusal = validator_.Check(graph);
  if (!refusal && edge_filler_) {
    absl::StatusOr<std::optional<records::Refusal>> filled = edge_filler_->Fill(graph);
    if (!filled.ok()) return Prefixed(filled.status(), "building its edges");
    refusal = *std::move(filled);
  }
  if (!refusal && renumbering_) {
    absl::StatusOr<std::optional<records::Refusal>> renumbered = renumbering_->Renumber(graph);
    if (!renumbered.ok()) return Prefixed(renumbered.status(), "renumbering its nodes");
    refusal = *std::move(renumbered);
  }
  return refusal;
}

absl::Status ImportSession::OfGraph(const absl::Status& failure, std::string_view source_id) const {
  return Prefixed(failure, absl::StrCat("graph ", response_.received() + 1, " '", Shown(source_id), "'"));
}

std::uint64_t ImportSession::memory_bytes() const { return kept_bytes() + working_.bytes(); }

absl::Status ImportSession::MakeRoom(std::uint64_t record_bytes, std::string_view source_id) {
  const absl::Status room = working_.Raise(record_bytes_, kCopiesOfARecord * record_bytes);
  return room.ok() ? room : OfGraph(room, source_id);
}

absl::Status ImportSession::Stage(std::span<const std::byte> record) {
  ABSL_RETURN_IF_ERROR(writer_->Append(record));
  response_.set_staged(writer_->graphs());
  return absl::OkStatus();
}

absl::Status ImportSession::Refuse(const records::GraphView& graph, std::string_view origin,
                                   const records::Refusal& refusal) {
  if (!skip_bad_graphs_) {
    const std::string where =
        origin.empty() ? absl::StrCat("graph ", response_.received() + 1) : std::string(origin);
    return base::WithReason(
        absl::InvalidArgumentError(absl::StrCat(where, " (", Shown(graph.source_id), "): ", refusal.message,
                                                " (", std::string(refusal.reason), ")")),
        "GRAPH_REFUSED",
        {{"position", absl::StrCat(response_.received())}, {"reason", std::string(refusal.reason)}});
  }
  ++(*response_.mutable_refused_by_reason())[std::string(refusal.reason)];
  if (!response_.refused_truncated()) List(graph, origin, refusal);
  return absl::OkStatus();
}

void ImportSession::List(const records::GraphView& graph, std::string_view origin,
                         const records::Refusal& refusal) {
  v1::RefusedGraph refused;
  refused.set_position(response_.received());
  refused.set_source_id(Shortened(Shown(graph.source_id)));
  refused.set_origin(Shortened(origin));
  refused.set_reason(std::string(refusal.reason));
  refused.set_message(Shortened(refusal.message));
  const std::uint64_t bytes = BytesOf(refused);
  if (refused_bytes_ + bytes > max_refused_bytes_) {
    response_.set_refused_truncated(true);
    return;
  }
  refused_bytes_ += bytes;
  *response_.add_refused() = std::move(refused);
}

}  // namespace packtrain::storage
