#include "server/storage/derive.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/records/node_renumbering.h"
#include "server/records/record_graph.h"
#include "server/records/schema.h"
#include "server/storage/import_session.h"
#include "server/storage/seal.h"

namespace packtrain::storage {
namespace {

bool NamesASplit(const v1::DeriveDatasetRequest& request) {
  return request.split_case() != v1::DeriveDatasetRequest::SPLIT_NOT_SET;
}

bool NamesNothing(const v1::DeriveDatasetRequest& request) {
  return request.edges().empty() && !NamesASplit(request) && request.renumber() == v1::RENUMBERING_UNSPECIFIED;
}

// Nothing of a data set is refused but what the new edges refuse.
v1::ImportHeader HeaderOf(const v1::Schema& source, const v1::DeriveDatasetRequest& request) {
  v1::ImportHeader header;
  header.set_on_error(v1::ERROR_POLICY_STOP);
  header.set_missing_target(v1::MISSING_TARGET_POLICY_NAN);
  header.set_renumber(request.renumber());
  v1::Schema& schema = *header.mutable_schema();
  schema = request.edges().empty() ? source : records::SchemaAsRead(source);
  if (request.edges().empty()) return header;
  header.set_build_edges(true);
  schema.set_edges(request.edges());
  schema.set_edge_rule(request.edges() == "full" ? v1::EDGE_RULE_FULL : v1::EDGE_RULE_STORED);
  auto& fields = *schema.mutable_fields();
  fields.erase(std::remove_if(fields.begin(), fields.end(),
                              [](const v1::Field& field) { return field.scope() == v1::FIELD_SCOPE_EDGE; }),
               fields.end());
  records::DropStrayVocabularies(schema);
  return header;
}

// Of an import that goes on with none.
absl::Status NothingToRead(std::uint64_t) { return absl::OkStatus(); }

// The graphs of one data set as an import of its source would bring them.
class SourceGraphs {
 public:
  SourceGraphs(const records::RecordLayout& from, const records::RecordLayout& to) : graph_(from, to) {
    if (from.source_node() && !to.source_node()) source_order_.emplace(to);
  }

  // Valid until the next call, and as long as the record's bytes.
  absl::StatusOr<records::GraphView> Of(const records::RecordView& record) {
    const records::GraphView graph = graph_.Of(record);
    if (!source_order_) return graph;
    return source_order_->Of(graph, record.source_nodes());
  }

 private:
  records::RecordGraph graph_;
  std::optional<records::SourceOrder> source_order_;  // where the new data set does not keep the numbering
};

using Indices = google::protobuf::RepeatedField<std::uint32_t>;

void CopySplit(const Dataset& source, std::string_view name, Indices* out) {
  const absl::StatusOr<std::span<const std::uint32_t>> graphs = source.Split(name);
  if (graphs.ok()) out->Add(graphs->begin(), graphs->end());
}

void CopySplits(const Dataset& source, v1::SealDatasetRequest& seal) {
  if (source.description().splits_size() <= 1) return;  // "all" alone
  v1::SplitByIndex& split = *seal.mutable_by_index();
  CopySplit(source, "train", split.mutable_train());
  CopySplit(source, "val", split.mutable_val());
  CopySplit(source, "test", split.mutable_test());
}

}  // namespace

absl::StatusOr<std::uint64_t> SourceGraphBytes(const Dataset& source) {
  const v1::Dataset& description = source.description();
  ABSL_ASSIGN_OR_RETURN(const records::RecordLayout layout,
                        records::RecordLayout::Create(description.schema()));
  records::GraphView largest;  // no graph has more of either
  largest.n_node = description.nodes().max();
  largest.n_edge = description.edges().max();
  // Its block, and that as it was read, compressed.
  std::uint64_t bytes = 2 * (records::RecordBytes(layout, largest) + records::kMaxSourceIdBytes);
  if (!layout.stores_edges()) return bytes;
  bytes += std::uint64_t{largest.n_edge} * records::RecordGraph::kBytesOfAnEdge;
  if (!layout.source_node()) return bytes;
  return bytes + largest.n_node * records::SourceOrder::BytesOfANode(layout) +
         std::uint64_t{largest.n_edge} * records::SourceOrder::kBytesOfAnEdge;
}

absl::StatusOr<std::unique_ptr<DatasetWriter>> StageDerived(GraphStore& store, const Dataset& source,
                                                            const v1::DeriveDatasetRequest& request,
                                                            DeriveProgress progress,
                                                            edges::WorkingMemory::Take take) {
  if (NamesNothing(request)) {
    return absl::InvalidArgumentError(
        "neither edges (--edges) nor a split nor a numbering (--renumber) is named: nothing would change");
  }
  const v1::Schema& schema = source.description().schema();
  ABSL_ASSIGN_OR_RETURN(
      std::unique_ptr<ImportSession> session,
      ImportSession::Begin(store, HeaderOf(schema, request), kMaxRefusedBytes, NothingToRead, std::move(take)));
  ABSL_ASSIGN_OR_RETURN(const records::RecordLayout layout, records::RecordLayout::Create(schema));
  SourceGraphs graphs(layout, session->layout());
  const absl::Status staged = source.ScanRecords([&](std::size_t, const records::RecordView& record) {
    ABSL_ASSIGN_OR_RETURN(const records::GraphView graph, graphs.Of(record));
    ABSL_RETURN_IF_ERROR(session->Add(graph));
    return progress(session->memory_bytes());
  });
  ABSL_RETURN_IF_ERROR(staged);
  return session->TakeWriter();
}

v1::SealDatasetRequest SealOfDerived(const Dataset& source, const v1::DeriveDatasetRequest& request) {
  const v1::Dataset& description = source.description();
  v1::SealDatasetRequest seal;
  seal.set_name(request.name());
  if (request.has_fractions()) *seal.mutable_fractions() = request.fractions();
  if (request.has_by_ids()) *seal.mutable_by_ids() = request.by_ids();
  if (!NamesASplit(request)) CopySplits(source, seal);
  v1::Lineage& lineage = *seal.mutable_lineage();
  *lineage.mutable_sources() = description.lineage().sources();
  lineage.set_command(request.command());
  lineage.set_derived_from(wire::FullName(description));
  return seal;
}

}  // namespace packtrain::storage
