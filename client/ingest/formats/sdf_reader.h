// Reads molfiles (V2000 and V3000), alone (.mol) or one after the other with data items behind each (.sdf).
//
// Data items are the labels; `--id PROPERTY` takes the id from one of them, which each record must have. The
// first word of the title line may name the graph. Blank records are passed over, lines that "S  SKPnnn" has
// skipped too.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_SDF_READER_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_SDF_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

// The fields of molecule_layout.h, `pos` always. All atoms of the file are kept by default, hydrogens too.
// Reasons of refusals, besides those of LineReader::Next and ReadMolfile: empty_file, record_too_long (for the
// number of atoms that is allowed), missing_record_end (two molfiles in a record), bad_property (a data item
// without a name), no_id.
absl::StatusOr<std::unique_ptr<GraphReader>> OpenSdf(std::unique_ptr<ByteSource> file,
                                                     const ReadOptions& options);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_SDF_READER_H_
