// What an import knows of a file format: a row of formats/format_table.h.
//
// Most formats hold graphs as other programs wrote them, and open a GraphReader, which the import reads graph
// by graph, joins with targets and validates:
//
//   {.name = "extxyz", .help = "extended xyz ...", .extensions = {".xyz"}, .open_graphs = OpenExtxyz}
//
// A format of whole data sets opens a BlockSource instead (block_source.h says why).
#ifndef PACKTRAIN_CLIENT_INGEST_FORMAT_H_
#define PACKTRAIN_CLIENT_INGEST_FORMAT_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/block_source.h"
#include "client/ingest/byte_source.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/input_folder.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/source_files.h"
#include "client/ingest/vocabularies.h"

namespace packtrain::ingest {

struct ImportOptions;

// A flag of `packtrain import` that is of use to some formats only. Formats that take the same flag say the
// same of it.
struct FormatFlag {
  std::string_view name;  // "--smiles"
  // For the help: "COLUMN". Words parted by "|" are the only ones that are taken: "keep|remove". Empty: the
  // flag takes no value, and counts where it was given.
  std::string_view value;
  std::string_view help;
};

// Values of the flags that were given, by name.
using FormatFlagValues = std::map<std::string, std::string, std::less<>>;

// How a file is to be read.
struct ReadOptions {
  ReadLimits limits;
  FormatFlagValues flags = {};  // of the format's own
  std::size_t threads = 0;      // that parse records; 0: one for each core
  // Of all files of an import. Null: a record that holds words is refused as "no_vocabulary".
  std::shared_ptr<Vocabularies> vocabularies = nullptr;
  // That the files must have, as the import goes on behind what was read of them before; null: any.
  std::shared_ptr<const FileDigests> digests = nullptr;
};

struct Format {
  std::string_view name;  // FORMAT of `packtrain import`
  std::string_view help;  // for people, behind "NAME: "
  // Of the files that a folder or an archive stands for, as ".xyz", or a whole name, as
  // "POSCAR"; ".gz" and ".xz" may follow them.
  std::vector<std::string_view> extensions = {};
  std::vector<FormatFlag> flags = {};  // its own
  bool may_bring_edges = false;
  bool may_hold_words = false;  // instead of numbers: files are read twice where they do (vocabularies.h)

  // Reads a file, or a folder; exactly one of the three is set. What is none of the format is refused here, or
  // by the first Next.
  absl::StatusOr<std::unique_ptr<GraphReader>> (*open_graphs)(std::unique_ptr<ByteSource> file,
                                                              const ReadOptions& options) = nullptr;
  // The folder outlives the reader.
  absl::StatusOr<std::unique_ptr<GraphReader>> (*open_folder)(InputFolder& folder,
                                                              const ReadOptions& options) = nullptr;
  // Takes all paths of the options. NOT_FOUND, PERMISSION_DENIED, or INVALID_ARGUMENT for a folder.
  absl::StatusOr<std::unique_ptr<BlockSource>> (*open_blocks)(const ImportOptions& options) = nullptr;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMAT_H_
