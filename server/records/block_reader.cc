#include "server/records/block_reader.h"

#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/edges/full.h"

namespace packtrain::records {
namespace {

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("graph block: ", parts...));
}

std::span<const std::uint32_t> Endpoints(const google::protobuf::RepeatedField<std::uint32_t>& all,
                                         std::size_t begin, std::size_t count) {
  return std::span<const std::uint32_t>(all.data(), static_cast<std::size_t>(all.size())).subspan(begin, count);
}

}  // namespace

BlockReader::BlockReader(const RecordLayout& layout, const v1::GraphBlock& block, bool holds_edges)
    : layout_(&layout),
      block_(&block),
      holds_edges_(holds_edges && layout.stores_edges()),
      rest_(layout.fields().size()),
      fields_(layout.fields().size()) {
  for (const std::uint32_t nodes : block.n_node()) nodes_ += nodes;
  for (const std::uint32_t edges : block.n_edge()) edges_ += edges;
}

absl::StatusOr<BlockReader> BlockReader::Open(const RecordLayout& layout, const v1::GraphBlock& block,
                                              bool holds_edges) {
  BlockReader reader(layout, block, holds_edges);
  ABSL_RETURN_IF_ERROR(reader.CheckCounts());
  ABSL_RETURN_IF_ERROR(reader.MapColumns());
  ABSL_RETURN_IF_ERROR(reader.CheckColumns());
  return reader;
}

absl::Status BlockReader::CheckCounts() const {
  const int graphs = block_->n_node_size();
  if (block_->source_ids_size() != graphs) {
    return Invalid("has ", block_->source_ids_size(), " source ids for ", graphs, " graphs");
  }
  if (block_->origins_size() != 0 && block_->origins_size() != graphs) {
    return Invalid("has ", block_->origins_size(), " origins for ", graphs, " graphs");
  }
  const int edge_counts = holds_edges_ ? graphs : 0;
  if (block_->n_edge_size() != edge_counts) {
    return Invalid("has ", block_->n_edge_size(), " edge counts, must have ", edge_counts);
  }
  if (static_cast<std::uint64_t>(block_->senders_size()) != edges_ ||
      static_cast<std::uint64_t>(block_->receivers_size()) != edges_) {
    return Invalid("has ", block_->senders_size(), " senders and ", block_->receivers_size(),
                   " receivers, must have ", edges_, " of each");
  }
  return absl::OkStatus();
}

absl::Status BlockReader::MapColumns() {
  std::vector<bool> found(rest_.size());
  for (const v1::Column& column : block_->columns()) {
    const std::optional<std::size_t> field = layout_->FindField(column.field());
    if (!field) return Invalid("column '", column.field(), "' is no field of the schema");
    if (found[*field]) return Invalid("column '", column.field(), "' occurs twice");
    found[*field] = true;
    rest_[*field] = column.data();
  }
  for (std::size_t k = 0; k < found.size(); ++k) {
    const RecordLayout::Field& field = layout_->fields()[k];
    const bool comes = holds_edges_ || field.scope != v1::FIELD_SCOPE_EDGE;
    if (comes && !found[k]) return Invalid("column '", field.name, "' is missing");
  }
  return absl::OkStatus();
}

absl::Status BlockReader::CheckColumns() const {
  for (std::size_t k = 0; k < rest_.size(); ++k) {
    const RecordLayout::Field& field = layout_->fields()[k];
    const std::uint64_t rows = Rows(field.scope);
    if (rest_[k].size() % field.row_bytes != 0 || rest_[k].size() / field.row_bytes != rows) {
      return Invalid("column '", field.name, "' has ", rest_[k].size(), " bytes, must have ", rows, " rows of ",
                     field.row_bytes, " bytes");
    }
  }
  return absl::OkStatus();
}

std::uint64_t BlockReader::Rows(v1::FieldScope scope) const {
  if (scope == v1::FIELD_SCOPE_NODE) return nodes_;
  return scope == v1::FIELD_SCOPE_EDGE ? edges_ : static_cast<std::uint64_t>(block_->n_node_size());
}

bool BlockReader::Next() {
  if (next_ == block_->n_node_size()) return false;
  graph_.source_id = block_->source_ids(next_);
  graph_.n_node = block_->n_node(next_);
  if (holds_edges_) {
    graph_.n_edge = block_->n_edge(next_);
    graph_.senders = Endpoints(block_->senders(), edge_begin_, graph_.n_edge);
    graph_.receivers = Endpoints(block_->receivers(), edge_begin_, graph_.n_edge);
    edge_begin_ += graph_.n_edge;
  } else if (!layout_->stores_edges()) {
    graph_.n_edge = edges::FullEdgeCount(graph_.n_node).value_or(0);
  }
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    const RecordLayout::Field& field = layout_->fields()[k];
    const std::uint64_t bytes = RowsOf(field.scope, graph_.n_node, graph_.n_edge) * field.row_bytes;
    fields_[k] = rest_[k].substr(0, bytes);
    rest_[k].remove_prefix(bytes);
  }
  graph_.fields = fields_;
  ++next_;
  return true;
}

std::string_view BlockReader::origin() const {
  return block_->origins_size() == 0 ? std::string_view() : std::string_view(block_->origins(next_ - 1));
}

}  // namespace packtrain::records
