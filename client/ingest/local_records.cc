#include "client/ingest/local_records.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"
#include "server/edges/working_memory.h"
#include "server/records/block_reader.h"
#include "server/records/edge_filler.h"
#include "server/records/edge_order.h"
#include "server/records/graph_record.h"
#include "server/records/graph_validator.h"
#include "server/records/id_table.h"
#include "server/records/node_renumbering.h"

namespace packtrain::ingest {

// Makes the records of one import. Used by one thread.
class LocalRecords::Maker {
 public:
  // `layout` is that of `schema`, of graphs with their edges.
  Maker(const v1::ImportHeader& header, const v1::Schema& schema, records::RecordLayout layout,
        records::RecordLayout stored_layout)
      : skip_refused_(header.on_error() == v1::ERROR_POLICY_SKIP),
        layout_(std::move(layout)),
        stored_layout_(std::move(stored_layout)),
        validator_(layout_, header.missing_target()),
        ids_(header.duplicate_ids()),
        edge_order_(stored_layout_, working_) {
    if (header.build_edges() && layout_.stores_edges()) edge_filler_.emplace(schema, layout_, working_);
    if (header.renumber() != v1::RENUMBERING_UNSPECIFIED) {
      renumbering_.emplace(layout_, stored_layout_, working_);
    }
  }

  // Adds a record to `made` for each graph that is not refused.
  absl::Status Make(const v1::GraphBlock& block, v1::RecordBlock* made) {
    ABSL_ASSIGN_OR_RETURN(records::BlockReader reader,
                          records::BlockReader::Open(layout_, block, !edge_filler_.has_value()));
    for (; reader.Next(); ++position_) {
      records::GraphView graph = reader.graph();
      ABSL_ASSIGN_OR_RETURN(const std::optional<records::Refusal> refusal, Complete(graph));
      if (refusal) {
        ABSL_RETURN_IF_ERROR(Refuse(graph, reader.origin(), *refusal));
      } else {
        ABSL_ASSIGN_OR_RETURN(const records::GraphView sorted, edge_order_.Sorted(graph));
        ABSL_RETURN_IF_ERROR(records::EncodeRecord(stored_layout_, sorted, *made->add_records()));
      }
    }
    return absl::OkStatus();
  }

  // The graphs refused here.
  const v1::ImportGraphsResponse& refused() const { return refused_; }

  // Turns positions among the records made, which ascend, into those among all graphs.
  void CountRefused(google::protobuf::RepeatedPtrField<v1::RefusedGraph>& records) const {
    int before = 0;  // graphs refused here, in front of the record
    for (v1::RefusedGraph& record : records) {
      std::uint64_t position = record.position() + static_cast<std::uint64_t>(before);
      for (; before < refused_.refused_size() && refused_.refused(before).position() <= position; ++before) {
        ++position;
      }
      record.set_position(position);
    }
  }

 private:
  // Gives a graph its edges, the order of its nodes and its id.
  absl::StatusOr<std::optional<records::Refusal>> Complete(records::GraphView& graph) {
    std::optional<records::Refusal> refusal = validator_.Check(graph);
    if (!refusal && edge_filler_) {
      ABSL_ASSIGN_OR_RETURN(refusal, edge_filler_->Fill(graph));
    }
    if (!refusal && renumbering_) {
      ABSL_ASSIGN_OR_RETURN(refusal, renumbering_->Renumber(graph));
    }
    if (refusal) return refusal;
    const std::optional<std::string> id =
        ids_.Take(graph.source_id, [this](std::string_view candidate) { return taken_.Contains(candidate); });
    if (!id) {
      return records::Refusal{records::refusal_reason::kDuplicateId,
                              absl::StrCat("the source id '", std::string(graph.source_id),
                                           "' came before; --duplicate-ids number would tell them apart")};
    }
    taken_.Add(*id);
    id_ = *id;
    graph.source_id = id_;
    return std::nullopt;
  }

  absl::Status Refuse(const records::GraphView& graph, std::string_view origin,
                      const records::Refusal& refusal) {
    if (!skip_refused_) {
      return Refusal(refusal.reason, RefusalText(origin, graph.source_id, refusal.message));
    }
    ++(*refused_.mutable_refused_by_reason())[std::string(refusal.reason)];
    v1::RefusedGraph* listed = refused_.add_refused();
    listed->set_position(position_);
    listed->set_source_id(std::string(graph.source_id));
    listed->set_origin(std::string(origin));
    listed->set_reason(std::string(refusal.reason));
    listed->set_message(refusal.message);
    return absl::OkStatus();
  }

  const bool skip_refused_;
  const records::RecordLayout layout_;
  const records::RecordLayout stored_layout_;  // the same where nodes are not renumbered
  const records::GraphValidator validator_;
  records::SourceIds ids_;
  records::IdTable taken_;
  edges::WorkingMemory working_;
  records::EdgeOrder edge_order_;
  std::optional<records::EdgeFiller> edge_filler_;  // where edges are built, and stored
  std::optional<records::NodeRenumbering> renumbering_;
  std::uint64_t position_ = 0;  // of the current graph
  std::string id_;              // likewise
  v1::ImportGraphsResponse refused_;
};

LocalRecords::LocalRecords(BlockSink& records) : records_(records) {}
LocalRecords::~LocalRecords() = default;

absl::Status LocalRecords::Begin(const v1::ImportHeader& header) {
  v1::Schema schema = header.schema();
  if (header.build_edges()) {
    ABSL_ASSIGN_OR_RETURN(schema, records::SchemaOfBuiltEdges(header.schema()));
  }
  v1::ImportHeader stored = header;
  ABSL_ASSIGN_OR_RETURN(*stored.mutable_schema(), records::SchemaOfRenumbered(schema, header.renumber()));
  stored.clear_build_edges();
  stored.clear_renumber();
  ABSL_ASSIGN_OR_RETURN(records::RecordLayout layout, records::RecordLayout::Create(schema));
  ABSL_ASSIGN_OR_RETURN(records::RecordLayout stored_layout, records::RecordLayout::Create(stored.schema()));
  maker_ = std::make_unique<Maker>(header, schema, std::move(layout), std::move(stored_layout));
  return records_.Begin(stored);
}

absl::Status LocalRecords::Write(Block block) {
  const auto* graphs = std::get_if<v1::GraphBlock>(&block);
  if (graphs == nullptr) return records_.Write(std::move(block));
  v1::RecordBlock made;
  ABSL_RETURN_IF_ERROR(maker_->Make(*graphs, &made));
  return records_.Write(std::move(made));
}

absl::StatusOr<v1::ImportGraphsResponse> LocalRecords::Finish() {
  ABSL_ASSIGN_OR_RETURN(v1::ImportGraphsResponse response, records_.Finish());
  maker_->CountRefused(*response.mutable_refused());
  const v1::ImportGraphsResponse& here = maker_->refused();
  response.set_received(response.received() + static_cast<std::uint64_t>(here.refused_size()));
  auto& refused = *response.mutable_refused();
  refused.MergeFrom(here.refused());
  std::sort(refused.begin(), refused.end(),
            [](const auto& a, const auto& b) { return a.position() < b.position(); });
  for (const auto& [reason, graphs] : here.refused_by_reason()) {
    (*response.mutable_refused_by_reason())[reason] += graphs;
  }
  return response;
}

}  // namespace packtrain::ingest
