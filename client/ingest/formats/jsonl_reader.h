// Reads JSON lines: one graph a line, in one of the forms of jsonl_form.h; blank lines are passed over.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_READER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/ingest/byte_source.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

// Never fails: the first record that is of a form decides the layout, of a file without one it is empty.
// Reasons of refusals, besides those of LineReader::Next: empty_file, not_utf8, truncated_line, too_deep,
// bad_json, not_an_object, duplicate_key, bad_value, bad_shape, bad_schema, bad_node_table, missing_field,
// unknown_field, length_mismatch, contradiction, no_nodes, too_many_atoms, too_many_edges, edge_out_of_range,
// unknown_word, too_many_edge_types.
absl::StatusOr<std::unique_ptr<GraphReader>> OpenJsonl(std::unique_ptr<ByteSource> file,
                                                       const ReadOptions& options);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_READER_H_
