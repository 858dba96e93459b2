// Reads a data set of the TUDataset collection: a folder or an archive of text files of one name DS.
//
//   DS_graph_indicator.txt   the graph of each node, ascending from 1: the table of nodes
//   DS_A.txt                 edges as "row, column", by graph; nodes are counted from 1 over all graphs
//   DS_graph_labels.txt      label `label`, or label_0, label_1 of several columns; optional, as all below
//   DS_graph_attributes.txt  labels `attribute`, or attribute_0, attribute_1
//   DS_node_labels.txt       node field `node_label` (i32)
//   DS_node_attributes.txt   node field `x` (f32)
//   DS_edge_labels.txt       edge field `edge_type` (u8), or `edge_label` (i32) where it has several columns
//   DS_edge_attributes.txt   edge field `edge_attr` (f32)
//
// Edges are stored as they are listed, each row from its first node to its second.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_TUDATASET_READER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_TUDATASET_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/input_folder.h"

namespace packtrain::ingest {

// Memory is that of a graph. Refusals of the folder: "missing_file", "several_data_sets", and those of
// LineReader. Of a graph: no_nodes, too_many_atoms, too_many_edges, edge_out_of_range, bad_row, not_a_number,
// not_finite. Where files do not go in step, nothing can be read behind it: short_file, long_file, blank_row,
// not_in_order.
absl::StatusOr<std::unique_ptr<GraphReader>> OpenTudataset(InputFolder& folder, const ReadOptions& options);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_TUDATASET_READER_H_
