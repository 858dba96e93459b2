// Which values become the targets of graphs: labels of their records, or rows of a table.
#ifndef PACKTRAIN_CLIENT_INGEST_GRAPH_TARGETS_H_
#define PACKTRAIN_CLIENT_INGEST_GRAPH_TARGETS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/target_table.h"

namespace packtrain::ingest {

// Immutable; any number of threads may use it.
class GraphTargets {
 public:
  // `wanted` names the targets; where it is empty, they are all columns of `table`, or, without one, all labels
  // that are numbers. `allow_missing`: a target that is missing is NaN, otherwise its graph is refused.
  GraphTargets(std::vector<std::string> wanted, std::optional<TargetTable> table, bool allow_missing);

  // The names of the targets of an import whose first graph is `first`. Refusals "too_many_targets",
  // "not_utf8".
  absl::StatusOr<std::vector<std::string>> NamesFor(const SourceGraph& first) const;

  // Fills `values` with one for each of `names`. Refusals "missing_target", "bad_target", "not_finite".
  absl::Status Take(const std::vector<std::string>& names, const SourceGraph& graph,
                    std::vector<double>* values) const;

 private:
  absl::Status Join(const SourceGraph& graph, std::vector<double>* values) const;
  absl::Status ReadLabels(const std::vector<std::string>& names, const SourceGraph& graph,
                          std::vector<double>* values) const;
  absl::Status Check(const std::vector<std::string>& names, const std::vector<double>& values) const;

  const std::vector<std::string> wanted_;
  const std::optional<TargetTable> table_;
  const bool allow_missing_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_GRAPH_TARGETS_H_
