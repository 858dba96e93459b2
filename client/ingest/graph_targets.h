// Which values become the targets of graphs: labels of their records, or rows of a table.
//
// Which labels are targets depends on all graphs (label_table.h), unless their names or a table were given. So
// they are chosen by the first graphs, and each further one may show that the choice was wrong:
//
//   targets.Read(graph, cells); targets.Count(place);   // some graphs
//   ABSL_RETURN_IF_ERROR(targets.Choose());
//   targets.LookUp(graph.id, true);
//   targets.Read(graph, cells); targets.Count(place);   // all others
//   if (!targets.doubt().empty()) ...   // Choose again behind the last graph, and read all again
//   targets.Take(&values);
//   targets.Keep();                     // where the graph is sent
#ifndef PACKTRAIN_CLIENT_INGEST_GRAPH_TARGETS_H_
#define PACKTRAIN_CLIENT_INGEST_GRAPH_TARGETS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/kept_labels.h"
#include "client/ingest/label_table.h"
#include "client/ingest/target_table.h"

namespace packtrain::ingest {

// Used by one thread.
class GraphTargets {
 public:
  // `wanted` names the targets, as WhyNoTargetName allows; where it is empty, they are all columns of `table`,
  // or, without one, chosen among the labels. `allow_missing`: a target that is missing is NaN, otherwise its
  // graph is refused. `may_drop`: Uses may be asked to leave out graphs that were kept.
  GraphTargets(std::vector<std::string> wanted, std::optional<TargetTable> table, bool allow_missing,
               bool may_drop);

  // Forgets what was counted; the targets stay.
  void Restart();

  // Finds the row of a record by its id; `is_graph`: the record was not refused.
  void LookUp(std::string_view id, bool is_graph);
  // Reads the labels of a graph.
  void Read(const SourceGraph& graph, bool labels_are_cells);
  // Counts the graph that was read last.
  void Count(LabelTable::PlaceOfReading place);

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

  // Fills `values` with one for each target of the graph that was read and looked up last. Refusals
  // "missing_target", "bad_target", "not_finite".
  absl::Status Take(std::vector<double>* values) const;
  // Counts the graph that was taken last as one that is sent.
  void Keep();

  // Behind the last graph: refusals "no_row", where the table has a row of no graph, and "no_such_target",
  // where no graph has a target that was named.
  absl::Status CheckFound() const;

  // All labels and columns that were met, the targets first, as counted in the graphs that were kept, but for
  // those at `refused`, which ascend and count from 0.
  std::vector<LabelUse> Uses(std::span<const std::uint64_t> refused) const;
  // nullopt: there is no table.
  std::optional<JoinUse> join_use() const;

 private:
  absl::Status Join(std::vector<double>* values) const;
  absl::Status TakeLabels(std::vector<double>* values) const;
  absl::Status Check(const std::vector<double>& values) const;
  // Refusal of a graph without target `name`, whose row is known where there is a table.
  absl::Status Missing(const std::string& name) const;
  void MapNewLabels();
  std::optional<std::size_t> TargetOf(std::size_t label) const;
  // Whether a target was named that has no value in any graph.
  bool IsNowhere(std::size_t target) const;
  // What --targets may name, for people.
  std::string Offered() const;
  std::vector<LabelUse> UsesOfColumns(std::span<const std::uint64_t> refused) const;
  std::vector<LabelUse> UsesOfTargets(const KeptLabels::Counts& kept) const;

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

  KeptLabels kept_;
  KeptLabels kept_columns_;  // of the table
  std::vector<KeptLabels::Found> found_;

  // Of the table.
  std::optional<TargetTable::Row> row_;  // of the record that was looked up last
  std::vector<bool> met_;                // by row: some record has its id
  std::uint64_t graphs_ = 0;             // that were looked up
  std::uint64_t graphs_without_row_ = 0;
  std::vector<std::string> first_graphs_;  // of them
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_GRAPH_TARGETS_H_
