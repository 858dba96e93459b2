// Reads a data set in the raw layout of the Open Graph Benchmark: a folder or an archive of files of numbers
// parted by commas, without header, wherever in it they lie. All may be packed.
//
//   num-node-list.csv   the number of nodes of each graph: the table of nodes
//   num-edge-list.csv   the number of edges of each graph
//   edge.csv            an edge a row, "from,to", counted from 0 in its graph
//   node-feat.csv       node field `x`; optional, as all that follow
//   edge-feat.csv       edge field `edge_attr`
//   graph-label.csv     labels: `label`, or label_0, label_1 of several columns; "nan" and nothing are missing
//   train.csv, valid.csv, test.csv
//                       the graphs of each split by number, from 0
//
// Features are i32 where all of a file are whole numbers, else f32. With --inverse-edges add each edge is
// followed by its inverse with the same features, as the benchmark's own loader does for molecules.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_OGB_CSV_READER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_OGB_CSV_READER_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/input_folder.h"

namespace packtrain::ingest {

inline constexpr std::string_view kInverseEdgesFlag = "--inverse-edges";

// Memory is that of a graph. Refusals of the folder: "missing_file", "several_data_sets" (also for several
// splits), "bad_split", and those of LineReader. Of a graph: no_nodes, too_many_atoms, too_many_edges,
// edge_out_of_range, bad_row, not_a_number, not_finite. Where files do not go in step, nothing can be read
// behind it: short_file, long_file, blank_row.
absl::StatusOr<std::unique_ptr<GraphReader>> OpenOgbCsv(InputFolder& folder, const ReadOptions& options);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_OGB_CSV_READER_H_
