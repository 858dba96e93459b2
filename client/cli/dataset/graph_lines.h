// Graphs as lines of JSON.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_GRAPH_LINES_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_GRAPH_LINES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// By graph, the name of its split, or nothing; empty: the data set has no splits.
using SplitNames = std::vector<std::string_view>;

// One line for each graph of a block of columns, as a server sends it: an object with
//   id                   source id
//   n_node, n_edge       counts
//   senders, receivers   node indices from 0, by receiver, then sender; absent where the schema's edges are
//                        full
//   split                train, val or test; absent where the graph is in none
// and each field by its name: a list of one value for each node or edge, or one value for the graph. A value is
// a number, or lists of numbers, as dims say, or the word that the number stands for, where the schema has a
// vocabulary of the field. Numbers have as few digits as read back as the same; a missing target is null.
// Fields that are called like a key of the form (jsonl_general.h) stand in `nodes`, `edges` or `graph`. The
// line of the first graph also has
//   schema               what `packtrain import jsonl` needs to read the same graphs from the lines: fields,
//                        targets, edge_builder, `words`, the names of the fields whose words were found in
//                        records, and `names`, the words of the other ones by field
// `first` is the index of the block's first graph, `splits` that of all graphs.
std::string GraphLines(const v1::Schema& schema, const v1::GraphBlock& block, std::uint64_t first,
                       const SplitNames& splits);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_GRAPH_LINES_H_
