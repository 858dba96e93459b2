#include "client/ingest/formats/tudataset_reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ingest/formats/label_list.h"
#include "client/ingest/formats/row_file.h"
#include "client/ingest/formats/step_files_reader.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr std::int64_t kMaxNumber = std::numeric_limits<std::int64_t>::max() / 2;

// The file that is called `name`, packed or not; empty: there is none.
std::string FindFile(const InputFolder& folder, std::string_view name) {
  for (const std::string& candidate : folder.names()) {
    if (WithoutPacking(candidate) == name) return candidate;
  }
  return "";
}

// "ENZYMES/ENZYMES" of "ENZYMES/ENZYMES_A.txt".
absl::StatusOr<std::string> FindPrefix(const InputFolder& folder) {
  constexpr std::string_view kEdges = "_A.txt";
  std::string prefix;
  for (const std::string& name : folder.names()) {
    const std::string_view unpacked = WithoutPacking(name);
    if (!unpacked.ends_with(kEdges)) continue;
    if (!prefix.empty()) {
      const std::string_view other = unpacked.substr(0, unpacked.size() - kEdges.size());
      return RefusedWhole(folder.path(), "several_data_sets",
                          absl::StrCat("there are several data sets, '", prefix, "' and '", std::string(other),
                                       "'; name the folder of one"));
    }
    prefix = unpacked.substr(0, unpacked.size() - kEdges.size());
  }
  if (!prefix.empty()) return prefix;
  return RefusedWhole(folder.path(), "missing_file", "there is no file DS_A.txt");
}

// A file whose rows go in step with nodes or edges, and the field that they fill.
struct FieldFile {
  std::unique_ptr<RowFile> rows;
  std::size_t field = 0;  // of the layout
};

class TudatasetReader final : public StepFilesReader {
 public:
  static absl::StatusOr<std::unique_ptr<GraphReader>> Open(InputFolder& folder, const ReadOptions& options) {
    std::unique_ptr<TudatasetReader> reader(new TudatasetReader(options.limits));
    ABSL_RETURN_IF_ERROR(reader->OpenFiles(folder));
    return std::unique_ptr<GraphReader>(std::move(reader));
  }

 private:
  explicit TudatasetReader(const ReadLimits& limits) : limits_(limits) {}

  absl::Status OpenFiles(InputFolder& folder) {
    ABSL_ASSIGN_OR_RETURN(const std::string prefix, FindPrefix(folder));
    const auto open = [&](std::string_view part) -> absl::StatusOr<std::unique_ptr<RowFile>> {
      const std::string name = FindFile(folder, absl::StrCat(prefix, "_", std::string(part), ".txt"));
      if (name.empty()) return nullptr;
      return RowFile::Open(folder, name, limits_);
    };
    ABSL_ASSIGN_OR_RETURN(indicator_, open("graph_indicator"));
    if (indicator_ == nullptr) {
      return RefusedWhole(folder.path(), "missing_file",
                          absl::StrCat("there is no file ", prefix,
                                       "_graph_indicator.txt, which says how many nodes a graph has"));
    }
    ABSL_ASSIGN_OR_RETURN(edges_, open("A"));
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<RowFile> rows, open("node_labels"));
    AddFile(std::move(rows), "node_label", v1::FIELD_SCOPE_NODE, v1::DATA_TYPE_I32);
    ABSL_ASSIGN_OR_RETURN(rows, open("node_attributes"));
    AddFile(std::move(rows), "x", v1::FIELD_SCOPE_NODE, v1::DATA_TYPE_F32);
    ABSL_ASSIGN_OR_RETURN(rows, open("edge_labels"));
    const bool one = rows != nullptr && rows->columns() == 1;
    AddFile(std::move(rows), one ? "edge_type" : "edge_label", v1::FIELD_SCOPE_EDGE,
            one ? v1::DATA_TYPE_U8 : v1::DATA_TYPE_I32);
    ABSL_ASSIGN_OR_RETURN(rows, open("edge_attributes"));
    AddFile(std::move(rows), "edge_attr", v1::FIELD_SCOPE_EDGE, v1::DATA_TYPE_F32);
    ABSL_ASSIGN_OR_RETURN(labels_, open("graph_labels"));
    ABSL_ASSIGN_OR_RETURN(attributes_, open("graph_attributes"));
    if (labels_ != nullptr) label_names_ = ColumnNames("label", labels_->columns());
    if (attributes_ != nullptr) attribute_names_ = ColumnNames("attribute", attributes_->columns());
    layout_.edges = "given";
    layout_.record_word = "graph";
    layout_.labels_are_cells = true;
    return FirstNode();
  }

  void AddFile(std::unique_ptr<RowFile> rows, std::string_view name, v1::FieldScope scope, v1::DataType type) {
    if (rows == nullptr) return;
    GraphField field{.name = std::string(name), .scope = scope, .data_type = type};
    const auto columns = static_cast<std::uint32_t>(rows->columns());
    // A vector of one is a vector for attributes.
    if (columns > 1 || type == v1::DATA_TYPE_F32) field.dims = {std::max(columns, 1u)};
    (scope == v1::FIELD_SCOPE_NODE ? node_files_ : edge_files_)
        .push_back({std::move(rows), layout_.fields.size()});
    layout_.fields.push_back(std::move(field));
  }

  absl::Status FirstNode() {
    ABSL_ASSIGN_OR_RETURN(const bool more, indicator_->Next());
    if (more) return TakeIndicator();
    return RefusedWhole(indicator_->path(), "empty_file", "the file lists no node");
  }

  // Reads the graph of the next node into `graph_of_next_`.
  absl::Status TakeIndicator() {
    const absl::StatusOr<std::int64_t> graph = indicator_->Whole(0, 1, kMaxNumber);
    if (!graph.ok()) return indicator_->Locate(graph.status(), graphs_);
    graph_of_next_ = *graph;
    return absl::OkStatus();
  }

  absl::StatusOr<bool> ReadGraph(SourceGraph* graph) override {
    graph->record = graphs_ + 1;
    if (!graph_of_next_) return AtTheEnd();
    ++graphs_;
    graph->file = indicator_->path();
    graph->line = indicator_->line();
    ABSL_RETURN_IF_ERROR(ReadNodes(graph));
    ABSL_RETURN_IF_ERROR(ReadEdges(graph));
    ABSL_RETURN_IF_ERROR(ReadLabels(graph));
    return true;
  }

  absl::Status ReadNodes(SourceGraph* graph) {
    const std::int64_t number = static_cast<std::int64_t>(graphs_);
    const bool may_be_empty = labels_ != nullptr || attributes_ != nullptr;
    if (*graph_of_next_ > number && !may_be_empty) return NotInOrder();
    first_node_ = nodes_ + 1;
    std::uint64_t nodes = 0;
    while (graph_of_next_ == number) {
      for (const FieldFile& file : node_files_) {
        ABSL_RETURN_IF_ERROR(file.rows->NextRequired("nodes"));
        Append(file, graph);
      }
      if (nodes++ == limits_.max_atoms) {
        Refuse(
            indicator_->Locate(TooMany("too_many_atoms", "nodes", limits_.max_atoms, "--max-atoms"), graphs_));
      }
      ABSL_ASSIGN_OR_RETURN(const bool more, indicator_->Next());
      graph_of_next_.reset();
      if (!more) break;
      ABSL_RETURN_IF_ERROR(TakeIndicator());
      if (*graph_of_next_ < number) return NotInOrder();
    }
    nodes_ += static_cast<std::int64_t>(nodes);
    graph->n_node = static_cast<std::uint32_t>(nodes);
    if (nodes == 0) {
      Refuse(indicator_->Locate(Refusal("no_nodes", "the table of nodes has no node of the graph"), graphs_));
    }
    return absl::OkStatus();
  }

  absl::Status NotInOrder() const {
    return indicator_->Locate(Refusal("not_in_order", absl::StrCat("the node is of graph ", *graph_of_next_)),
                              graphs_);
  }

  static absl::Status TooMany(std::string_view reason, std::string_view what, std::uint64_t limit,
                              std::string_view flag) {
    return Refusal(reason, absl::StrCat("more than ", limit, " ", std::string(what), ", the limit (",
                                        std::string(flag), ")"));
  }

  void Append(const FieldFile& file, SourceGraph* graph) {
    if (is_refused()) return;
    const absl::Status status = file.rows->AppendTo(&graph->fields[file.field]);
    if (!status.ok()) Refuse(file.rows->Locate(status, graphs_));
  }

  absl::Status ReadEdges(SourceGraph* graph) {
    while (true) {
      ABSL_ASSIGN_OR_RETURN(const bool more, edges_->Next());
      if (!more) return absl::OkStatus();
      const absl::StatusOr<std::int64_t> from = edges_->Whole(0, 1, kMaxNumber),
                                         to = edges_->Whole(1, 1, kMaxNumber);
      const bool both = from.ok() && to.ok();
      if (both && std::min(*from, *to) > nodes_) {
        edges_->Unread();
        return absl::OkStatus();
      }
      if (both && std::max(*from, *to) < first_node_) {
        return edges_->Locate(Refusal("not_in_order", "the edge is one of a graph before this one"), graphs_);
      }
      ABSL_RETURN_IF_ERROR(ReadEdgeFields(graph));
      if (both) {
        AddEdge(*from, *to, graph);
      } else {
        Refuse(edges_->Locate(from.ok() ? to.status() : from.status(), graphs_));
      }
    }
  }

  absl::Status ReadEdgeFields(SourceGraph* graph) {
    for (const FieldFile& file : edge_files_) {
      ABSL_RETURN_IF_ERROR(file.rows->NextRequired("edges"));
      Append(file, graph);
    }
    return absl::OkStatus();
  }

  void AddEdge(std::int64_t from, std::int64_t to, SourceGraph* graph) {
    if (std::min(from, to) < first_node_ || std::max(from, to) > nodes_) {
      const std::string what = absl::StrCat("the edge joins node ", from, " and node ", to,
                                            ", but the graph has nodes ", first_node_, " to ", nodes_);
      return Refuse(edges_->Locate(Refusal("edge_out_of_range", what), graphs_));
    }
    if (graph->senders.size() == limits_.max_edges) {
      return Refuse(
          edges_->Locate(TooMany("too_many_edges", "edges", limits_.max_edges, "--max-edges"), graphs_));
    }
    if (edges_->cells().size() != 2) {
      return Refuse(edges_->Locate(Refusal("bad_row", "an edge must be \"row, column\""), graphs_));
    }
    graph->senders.push_back(static_cast<std::uint32_t>(from - first_node_));
    graph->receivers.push_back(static_cast<std::uint32_t>(to - first_node_));
  }

  absl::Status ReadLabels(SourceGraph* graph) {
    LabelList list;
    ABSL_RETURN_IF_ERROR(ReadCells(labels_.get(), label_names_, list));
    ABSL_RETURN_IF_ERROR(ReadCells(attributes_.get(), attribute_names_, list));
    list.MoveTo(graph);
    return absl::OkStatus();
  }

  // A missing cell is an empty one.
  static absl::Status ReadCells(RowFile* rows, const std::vector<std::string>& names, LabelList& list) {
    if (rows == nullptr) return absl::OkStatus();
    ABSL_RETURN_IF_ERROR(rows->NextRequired("graphs"));
    for (std::size_t k = 0; k < names.size(); ++k) {
      const std::string_view cell = k < rows->cells().size() ? rows->cells()[k] : std::string_view();
      list.AddCell(names[k], cell, rows->path(), rows->line());
    }
    return absl::OkStatus();
  }

  // All files must end with the table of nodes.
  absl::StatusOr<bool> AtTheEnd() {
    ABSL_RETURN_IF_ERROR(CheckEnd(edges_.get(), "edges of nodes that the table of nodes does not have"));
    for (const FieldFile& file : node_files_) {
      ABSL_RETURN_IF_ERROR(CheckEnd(file.rows.get(), "rows than there are nodes"));
    }
    for (const FieldFile& file : edge_files_) {
      ABSL_RETURN_IF_ERROR(CheckEnd(file.rows.get(), "rows than there are edges"));
    }
    ABSL_RETURN_IF_ERROR(CheckEnd(labels_.get(), "rows than there are graphs"));
    ABSL_RETURN_IF_ERROR(CheckEnd(attributes_.get(), "rows than there are graphs"));
    return false;
  }

  absl::Status CheckEnd(RowFile* rows, std::string_view what) const {
    if (rows == nullptr) return absl::OkStatus();
    ABSL_ASSIGN_OR_RETURN(const bool more, rows->Next());
    if (!more) return absl::OkStatus();
    return rows->Locate(Refusal("long_file", absl::StrCat("there are more ", std::string(what))), graphs_);
  }

  const ReadLimits limits_;
  std::unique_ptr<RowFile> indicator_, edges_, labels_, attributes_;  // the last two may be null
  std::vector<FieldFile> node_files_, edge_files_;
  std::vector<std::string> label_names_, attribute_names_;
  std::optional<std::int64_t> graph_of_next_;  // of the node that comes next; none at the end
  std::int64_t first_node_ = 1;                // of the graph, from 1 over all graphs
  std::int64_t nodes_ = 0;                     // of all graphs read so far
};

}  // namespace

absl::StatusOr<std::unique_ptr<GraphReader>> OpenTudataset(InputFolder& folder, const ReadOptions& options) {
  return TudatasetReader::Open(folder, options);
}

}  // namespace packtrain::ingest
