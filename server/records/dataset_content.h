// What is kept in memory of the graphs of a data set while they are staged: all that sealing needs besides
// the records themselves, in at most 48 bytes a graph and 8 a target, and 8 for each of its sizes above 65,534.
#ifndef PACKTRAIN_SERVER_RECORDS_DATASET_CONTENT_H_
#define PACKTRAIN_SERVER_RECORDS_DATASET_CONTENT_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/base/content_hash.h"
#include "server/records/graph_column.h"
#include "server/records/graph_record.h"
#include "server/records/id_table.h"

namespace packtrain::records {

// Used by one thread.
class DatasetContent {
 public:
  // INVALID_ARGUMENT: the schema fails CheckSchema (schema.h).
  static absl::StatusOr<DatasetContent> Create(const v1::Schema& schema);

  // Takes note of the next graph, whose id no other one has. INVALID_ARGUMENT: not a record of the schema.
  // RESOURCE_EXHAUSTED: a data set holds at most 2^32 - 1 graphs.
  absl::Status Add(std::span<const std::byte> record);

  // Add in two halves, for records that are hashed many at a time, which is faster. All of Add but the hash.
  absl::Status AddUnhashed(std::span<const std::byte> record);
  // The hash, of the records of AddUnhashed in their order, end to end.
  void HashRecords(std::span<const std::byte> records) { hasher_.Update(records); }

  const v1::Schema& schema() const { return schema_; }
  std::uint64_t graphs() const { return n_node_.size(); }
  // Of the records.
  std::uint64_t bytes() const { return bytes_; }

  // Of memory.
  std::uint64_t memory_bytes() const;

  // By graph index.
  const GraphColumn& n_node() const { return n_node_; }
  const GraphColumn& n_edge() const { return n_edge_; }
  const GraphColumn& bandwidth() const { return bandwidth_; }
  // Empty where the schema says no `renumbered`.
  const GraphColumn& bandwidth_as_read() const { return bandwidth_as_read_; }
  // The sum of ln(d + 1) over the nodes of a graph, where d edges end in the node.
  double log_degrees(std::uint32_t graph) const;
  // Graphs by source id.
  const IdTable& ids() const { return ids_; }
  // NaN: missing.
  double target(std::uint32_t graph, std::size_t column) const { return targets_[graph * columns_ + column]; }

  // Distinct values of field `z`, ascending.
  std::vector<std::uint32_t> Classes() const;

  // Hexadecimal SHA-256 over schema and records in order. Nothing may be added after it.
  const std::string& Hash();

 private:
  DatasetContent(const v1::Schema& schema, RecordLayout layout);
  void NoteClasses(std::span<const std::byte> rows);
  void NoteTargets(std::span<const std::byte> row);

  v1::Schema schema_;
  RecordLayout layout_;
  std::optional<std::size_t> class_field_;
  std::uint32_t class_bytes_ = 0;
  std::optional<std::size_t> target_field_;
  std::size_t columns_ = 0;

  std::uint64_t bytes_ = 0;
  GraphColumn n_node_;
  GraphColumn n_edge_;
  GraphColumn bandwidth_;
  GraphColumn bandwidth_as_read_;
  std::deque<double> log_degrees_;  // empty where edges are not stored
  IdTable ids_;
  std::deque<double> targets_;  // graphs x columns
  std::bitset<1 << 16> classes_;
  base::Sha256 hasher_;
  std::string hash_;
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_DATASET_CONTENT_H_
