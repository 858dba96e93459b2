#include "client/ingest/formats/ogb_csv_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/formats/label_list.h"
#include "client/ingest/formats/row_file.h"
#include "client/ingest/formats/step_files_reader.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr std::int64_t kMaxCount = std::numeric_limits<std::uint32_t>::max();

// A file of graphs by number, and the split that they make.
struct SplitFile {
  std::string_view name;
  const char* split;
};

// A row of a split.
struct ListedGraph {
  const SplitFile* file;
  std::uint64_t line;
};

constexpr SplitFile kSplitFiles[] = {{"train.csv", "train"}, {"valid.csv", "val"}, {"test.csv", "test"}};

// Appends the last `elements` elements once more.
void Repeat(std::size_t elements, FieldValues* values) {
  std::visit(
      [elements](auto& all) {
        const std::size_t begin = all.size() - elements;
        for (std::size_t k = 0; k < elements; ++k) all.push_back(all[begin + k]);
      },
      *values);
}

class OgbCsvReader final : public StepFilesReader {
 public:
  static absl::StatusOr<std::unique_ptr<GraphReader>> Open(InputFolder& folder, const ReadOptions& options) {
    std::unique_ptr<OgbCsvReader> reader(new OgbCsvReader(options));
    ABSL_RETURN_IF_ERROR(reader->OpenFiles(folder));
    return std::unique_ptr<GraphReader>(std::move(reader));
  }

 private:
  explicit OgbCsvReader(const ReadOptions& options) : limits_(options.limits) {
    const auto flag = options.flags.find(kInverseEdgesFlag);
    add_inverse_ = flag != options.flags.end() && flag->second == "add";
  }

  absl::Status OpenFiles(InputFolder& folder) {
    ABSL_ASSIGN_OR_RETURN(node_counts_, OpenFile(folder, "num-node-list.csv", true));
    ABSL_ASSIGN_OR_RETURN(edge_counts_, OpenFile(folder, "num-edge-list.csv", true));
    ABSL_ASSIGN_OR_RETURN(edges_, OpenFile(folder, "edge.csv", true));
    ABSL_ASSIGN_OR_RETURN(labels_, OpenFile(folder, "graph-label.csv", false));
    ABSL_ASSIGN_OR_RETURN(node_features_, OpenFeatures(folder, "node-feat.csv", "x", v1::FIELD_SCOPE_NODE));
    ABSL_ASSIGN_OR_RETURN(edge_features_,
                          OpenFeatures(folder, "edge-feat.csv", "edge_attr", v1::FIELD_SCOPE_EDGE));
    if (labels_ != nullptr) label_names_ = ColumnNames("label", labels_->columns());
    for (const SplitFile& file : kSplitFiles) {
      ABSL_RETURN_IF_ERROR(ReadSplit(folder, file));
    }
    layout_.edges = "given";
    layout_.record_word = "graph";
    layout_.labels_are_cells = true;
    return absl::OkStatus();
  }

  // Null: there is no such file, and it is not needed.
  absl::StatusOr<std::unique_ptr<RowFile>> OpenFile(InputFolder& folder, std::string_view file, bool needed) {
    ABSL_ASSIGN_OR_RETURN(const std::string name, FindOne(folder, file));
    if (!name.empty()) return RowFile::Open(folder, name, limits_);
    if (!needed) return nullptr;
    return RefusedWhole(folder.path(), "missing_file", absl::StrCat("there is no file ", std::string(file)));
  }

  absl::StatusOr<std::unique_ptr<RowFile>> OpenFeatures(InputFolder& folder, std::string_view file,
                                                        std::string_view field, v1::FieldScope scope) {
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<RowFile> rows, OpenFile(folder, file, false));
    if (rows == nullptr) return rows;
    ABSL_ASSIGN_OR_RETURN(const std::string name, FindOne(folder, file));
    ABSL_ASSIGN_OR_RETURN(const bool whole, HoldsWholeNumbers(folder, name));
    layout_.fields.push_back({.name = std::string(field),
                              .scope = scope,
                              .data_type = whole ? v1::DATA_TYPE_I32 : v1::DATA_TYPE_F32,
                              .dims = {static_cast<std::uint32_t>(std::max<std::size_t>(rows->columns(), 1))}});
    return rows;
  }

  // Reads the numbers of a split's graphs, counted from 0.
  absl::Status ReadSplit(InputFolder& folder, const SplitFile& file) {
    ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<RowFile> rows, OpenFile(folder, file.name, false));
    if (rows != nullptr) split_paths_[file.name] = rows->path();
    while (rows != nullptr) {
      ABSL_ASSIGN_OR_RETURN(const bool more, rows->Next());
      if (!more) break;
      const absl::StatusOr<std::int64_t> graph = rows->Whole(0, 0, kMaxCount);
      if (!graph.ok()) return rows->Locate(graph.status(), 0);
      if (rows->cells().size() > 1) {
        return rows->Locate(Refusal("bad_split", "a row of a split must be the number of one graph"), 0);
      }
      if (!splits_.emplace(static_cast<std::uint32_t>(*graph), ListedGraph{&file, rows->line()}).second) {
        return rows->Locate(Refusal("bad_split", absl::StrCat("graph ", *graph, " is in two splits")), 0);
      }
    }
    return absl::OkStatus();
  }

  void RefuseAt(const RowFile& rows, const absl::Status& status) { Refuse(rows.Locate(status, graphs_)); }

  absl::StatusOr<bool> ReadGraph(SourceGraph* graph) override {
    graph->record = graphs_ + 1;
    ABSL_ASSIGN_OR_RETURN(const bool more, node_counts_->Next());
    if (!more) return AtTheEnd();
    ++graphs_;
    graph->file = node_counts_->path();
    graph->line = node_counts_->line();
    if (const auto listed = splits_.find(static_cast<std::uint32_t>(graphs_ - 1)); listed != splits_.end()) {
      graph->split = listed->second.file->split;
    }
    ABSL_RETURN_IF_ERROR(edge_counts_->NextRequired("graphs"));
    const absl::StatusOr<std::int64_t> nodes = node_counts_->Whole(0, 0, kMaxCount);
    if (!nodes.ok()) return node_counts_->Locate(nodes.status(), graphs_);
    const absl::StatusOr<std::int64_t> edges = edge_counts_->Whole(0, 0, kMaxCount);
    if (!edges.ok()) return edge_counts_->Locate(edges.status(), graphs_);
    CheckCounts(*nodes, *edges);
    graph->n_node = static_cast<std::uint32_t>(*nodes);
    ABSL_RETURN_IF_ERROR(ReadNodes(graph));
    for (std::int64_t edge = 0; edge < *edges; ++edge) {
      ABSL_RETURN_IF_ERROR(ReadEdge(graph));
    }
    // Only where the ends are sound, as they say more of a file that is none of the benchmark.
    if (*edges > 0 && edges_->columns() != 2) {
      RefuseAt(*edges_, Refusal("bad_row", absl::StrCat("an edge must be \"from,to\", the file has ",
                                                        edges_->columns(), " columns")));
    }
    ABSL_RETURN_IF_ERROR(ReadLabels(graph));
    return true;
  }

  void CheckCounts(std::int64_t nodes, std::int64_t edges) {
    if (nodes == 0) RefuseAt(*node_counts_, Refusal("no_nodes", "the graph has no nodes"));
    if (static_cast<std::uint64_t>(nodes) > limits_.max_atoms) {
      RefuseAt(*node_counts_, Refusal("too_many_atoms", absl::StrCat(nodes, " nodes, the limit is ",
                                                                     limits_.max_atoms, " (--max-atoms)")));
    }
    if (static_cast<std::uint64_t>(edges) > limits_.max_edges) {
      RefuseAt(*edge_counts_, Refusal("too_many_edges", absl::StrCat(edges, " edges, the limit is ",
                                                                     limits_.max_edges, " (--max-edges)")));
    }
  }

  absl::Status ReadNodes(SourceGraph* graph) {
    if (node_features_ == nullptr) return absl::OkStatus();
    for (std::uint32_t node = 0; node < graph->n_node; ++node) {
      ABSL_RETURN_IF_ERROR(node_features_->NextRequired("nodes"));
      Append(*node_features_, 0, graph);
    }
    return absl::OkStatus();
  }

  void Append(const RowFile& rows, std::size_t field, SourceGraph* graph) {
    if (is_refused()) return;
    const absl::Status status = rows.AppendTo(&graph->fields[field]);
    if (!status.ok()) RefuseAt(rows, status);
  }

  absl::Status ReadEdge(SourceGraph* graph) {
    ABSL_RETURN_IF_ERROR(edges_->NextRequired("edges"));
    if (edge_features_ != nullptr) {
      ABSL_RETURN_IF_ERROR(edge_features_->NextRequired("edges"));
      Append(*edge_features_, layout_.fields.size() - 1, graph);
    }
    const std::int64_t last = std::max<std::int64_t>(graph->n_node, 1) - 1;
    const absl::StatusOr<std::int64_t> from = edges_->Whole(0, 0, kMaxCount),
                                       to = edges_->Whole(1, 0, kMaxCount);
    if (!from.ok() || !to.ok()) {
      RefuseAt(*edges_, from.ok() ? to.status() : from.status());
    } else if (std::max(*from, *to) > last) {
      RefuseAt(*edges_,
               Refusal("edge_out_of_range", absl::StrCat("the edge joins node ", *from, " and node ", *to,
                                                         ", but the graph has nodes 0 to ", last)));
    }
    if (!is_refused()) AddEdge(static_cast<std::uint32_t>(*from), static_cast<std::uint32_t>(*to), graph);
    return absl::OkStatus();
  }

  void AddEdge(std::uint32_t from, std::uint32_t to, SourceGraph* graph) const {
    graph->senders.push_back(from);
    graph->receivers.push_back(to);
    if (!add_inverse_) return;
    graph->senders.push_back(to);
    graph->receivers.push_back(from);
    if (edge_features_ != nullptr) Repeat(layout_.fields.back().dims[0], &graph->fields.back());
  }

  absl::Status ReadLabels(SourceGraph* graph) {
    if (labels_ == nullptr) return absl::OkStatus();
    ABSL_RETURN_IF_ERROR(labels_->NextRequired("graphs"));
    LabelList list;
    for (std::size_t k = 0; k < label_names_.size(); ++k) {
      const std::string_view cell = k < labels_->cells().size() ? labels_->cells()[k] : std::string_view();
      list.AddCell(label_names_[k], cell, labels_->path(), labels_->line());
    }
    list.MoveTo(graph);
    return absl::OkStatus();
  }

  // All files must end with the table of nodes, and splits list no graphs but its own.
  absl::StatusOr<bool> AtTheEnd() {
    if (graphs_ == 0) {
      return RefusedWhole(node_counts_->path(), "empty_file", "the file lists no graph");
    }
    ABSL_RETURN_IF_ERROR(CheckSplits());
    for (RowFile* rows :
         {edge_counts_.get(), edges_.get(), labels_.get(), node_features_.get(), edge_features_.get()}) {
      if (rows == nullptr) continue;
      ABSL_ASSIGN_OR_RETURN(const bool more, rows->Next());
      if (more) return rows->Locate(Refusal("long_file", "there are more rows than the graphs have"), graphs_);
    }
    return false;
  }

  absl::Status CheckSplits() const {
    const auto is_before = [](const auto& a, const auto& b) {
      return std::pair(a.second.file, a.second.line) < std::pair(b.second.file, b.second.line);
    };
    std::optional<std::pair<std::uint32_t, ListedGraph>> first;
    for (const auto& listed : splits_) {
      if (listed.first >= graphs_ && (!first || is_before(listed, *first))) first = listed;
    }
    if (!first) return absl::OkStatus();
    const auto& [graph, listed] = *first;
    return RefusedAt({split_paths_.at(listed.file->name), layout_.record_word, 0, listed.line},
                     Refusal("bad_split", absl::StrCat("the split '", listed.file->split, "' lists graph ",
                                                       graph, ", but the last one is ", graphs_ - 1)));
  }

  const ReadLimits limits_;
  bool add_inverse_ = false;
  std::unique_ptr<RowFile> node_counts_, edge_counts_, edges_;
  std::unique_ptr<RowFile> labels_, node_features_, edge_features_;  // may be null
  std::vector<std::string> label_names_;
  absl::flat_hash_map<std::uint32_t, ListedGraph> splits_;  // by graph, from 0
  std::map<std::string_view, std::string> split_paths_;     // by name of the file
};

}  // namespace

absl::StatusOr<std::unique_ptr<GraphReader>> OpenOgbCsv(InputFolder& folder, const ReadOptions& options) {
  return OgbCsvReader::Open(folder, options);
}

}  // namespace packtrain::ingest
