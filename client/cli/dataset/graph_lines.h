// Graphs as lines of JSON.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_GRAPH_LINES_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_GRAPH_LINES_H_

#include <string>

#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// One line for each graph of a block of columns, as a server sends it: an object with
//   id                   source id
//   n_node, n_edge       counts
//   senders, receivers   node indices from 0, by receiver, then sender; absent where the schema's edges are
//   full and each field by its name: a list of one value for each node or edge, or one value for the graph; a
//   value is a number, or lists of numbers, as dims say, or the word that the number stands for, where the
//   schema has a vocabulary of the field. Numbers have as few digits as read back as the same; a missing target
//   is null.
// The first line, if the block is the first one, also has
//   schema               what `packtrain import jsonl` needs to read the same graphs from the lines: fields,
//   targets,
//                        edge_builder, and `words`, the names of the fields that hold words
std::string GraphLines(const v1::Schema& schema, const v1::GraphBlock& block, bool is_first);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_GRAPH_LINES_H_
