#include "client/cli/server/fsck_json.h"

namespace packtrain::cli {

const JsonRules& FsckRules() {
  static const JsonRules rules = {
      .fields = {{"FsckFinding.dataset", NullIfEmpty()},
                 {"FsckFinding.source_id", NullIfEmpty()},
                 {"FsckFinding.split", NullIfEmpty()},
                 {"FsckFinding.run", NullIfEmpty()},
                 {"FsckFinding.file", NullIfEmpty()},
                 // They are listed one by one.
                 {"FsckSummary.findings", Omit()}},
      .first_keys = {{"FsckFinding", {"kind", "message", "dataset", "graph", "source_id", "split", "run"}}}};
  return rules;
}

}  // namespace packtrain::cli
