// Which values become the targets of graphs: labels of their records, or rows of a table.
//
// Which labels are targets depends on all graphs (label_table.h), unless their names or a table were given. So
// they are chosen by the first graphs, and each further one may show that the choice was wrong:
//
//   targets.Read(graph, cells); targets.Count();   // some graphs
//   ABSL_RETURN_IF_ERROR(targets.Choose());
//   targets.Read(graph, cells); targets.Count();   // all others
//   if (!targets.doubt().empty()) ...               // Choose again behind the last graph, and read all again
//   targets.Take(graph.id, &values);
#ifndef PACKTRAIN_CLIENT_INGEST_GRAPH_TARGETS_H_
#define PACKTRAIN_CLIENT_INGEST_GRAPH_TARGETS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/label_table.h"
#include "client/ingest/target_table.h"

namespace packtrain::ingest {

// Used by one thread.
class GraphTargets {
 public:
  // `wanted` names the targets; where it is empty, they are all columns of `table`, or, without one, chosen
  // among the labels. `allow_missing`: a target that is missing is NaN, otherwise its graph is refused.
  GraphTargets(std::vector<std::string> wanted, std::optional<TargetTable> table, bool allow_missing);

  // Forgets what was counted; the targets stay.
  void Restart();

  // Reads the labels of a graph.
  void Read(const SourceGraph& graph, bool labels_are_cells);
  // Counts the graph that was read last.
  void Count();

  // Makes targets of those labels that are targets by all that was counted, unless names or a table were given.
  // Refusal "too_many_targets".
  absl::Status Choose();
  const std::vector<std::string>& names() const { return names_; }

  // How what was counted shows that other labels should have been chosen, for people; empty: it doesn't.
  std::string doubt() const;
  // Whether Choose would now choose otherwise.
  bool WouldChooseOtherwise() const;
  // Whether further graphs can show that a value which is missing or no number belongs to no target after all.
  bool may_change() const { return !is_given_; }

  // Fills `values` with one for each target of the graph that was read last. Refusals "missing_target",
  // "bad_target", "not_finite".
  absl::Status Take(std::string_view id, std::vector<double>* values) const;

  // All labels and columns that were met, the targets first.
  std::vector<LabelUse> Uses() const;

 private:
  absl::Status Join(std::string_view id, std::vector<double>* values) const;
  absl::Status TakeLabels(std::vector<double>* values) const;
  absl::Status Check(const std::vector<double>& values) const;
  void MapNewLabels();
  std::optional<std::size_t> TargetOf(std::size_t label) const;
  std::vector<LabelUse> UsesOfTargets() const;

  const std::vector<std::string> wanted_;
  const std::optional<TargetTable> table_;
  const bool allow_missing_;
  const bool is_given_;  // the targets do not depend on the graphs
  LabelTable labels_;
  std::span<const LabelTable::Reading> readings_;
  std::vector<std::string> names_;
  bool chosen_ = false;
  std::vector<std::size_t> target_of_;   // by label; 1 more than the place in `names_`, 0: it is no target
  std::optional<std::size_t> doubtful_;  // label
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_GRAPH_TARGETS_H_
