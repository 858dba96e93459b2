// A format of typed bond graphs, for tests of what extended xyz does not have.
//
// Each line is a molecule: `ID ELEMENTS BONDS [key=value ...]`, as `ethene C,C 0-1:2,1-0:2 gap=7.5`: elements
// by node, bonds as SENDER-RECEIVER:TYPE, or `-` for none. `~TITLE` in place of the id is a title. The key
// `charge` is an optional field, `field` another one, of two equal numbers, which is zero where it is absent;
// other keys are labels. A line of two words is refused as "short_line". Nothing else is checked.
#ifndef PACKTRAIN_TESTS_CLIENT_INGEST_BOND_READER_H_
#define PACKTRAIN_TESTS_CLIENT_INGEST_BOND_READER_H_

#include <memory>
#include <string>
#include <vector>

#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/line_reader.h"

namespace packtrain::testing {

class BondReader : public ingest::GraphReader {
 public:
  static absl::StatusOr<std::unique_ptr<ingest::GraphReader>> Open(std::unique_ptr<ingest::ByteSource> file,
                                                                   const ingest::ReadOptions& options);

  const ingest::GraphLayout& layout() const override { return layout_; }
  absl::StatusOr<bool> Next(ingest::SourceGraph* graph) override;

 private:
  BondReader(std::unique_ptr<ingest::LineReader> lines, const ingest::ReadOptions& options);

  const std::unique_ptr<ingest::LineReader> lines_;
  ingest::GraphLayout layout_;
  std::uint64_t records_ = 0;
};

// `--types` names the field of the types (edge_type); in a file `other.bonds` they are the field `other_type`.
// With `--cells` labels are cells of a table.
inline const ingest::Format kBondFormat = {.name = "bonds",
                                           .help = "molecules by lines",
                                           .extensions = {".bonds"},
                                           .flags = {{"--types", "FIELD", "Name of the field of bond types"}},
                                           .open_graphs = BondReader::Open};

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_INGEST_BOND_READER_H_
