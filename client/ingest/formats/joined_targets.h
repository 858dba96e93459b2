// The targets of files that are joined, where each file found others: those that all files have, or, where
// targets may be missing, those of any file. So a target of the join is one that an import of all sources would
// find.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_JOINED_TARGETS_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_JOINED_TARGETS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/kept_labels.h"
#include "client/ingest/label_table.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/records/graph_record.h"
#include "server/records/record_graph.h"

namespace packtrain::ingest {

// Gathers the schemas of files. Used by one thread.
class JoinedTargets {
 public:
  // Whether `schema` is that of the first file, but for its targets and words (joined_words.h). To be called
  // for each file, in order.
  bool Add(const v1::Schema& schema);

  // Whether all files have the same targets in the same order.
  bool IsUniform() const { return is_uniform_; }

  // Notes which targets the records of a file have. INVALID_ARGUMENT: a record is none of its schema.
  absl::Status Count(const records::RecordLayout& layout, const v1::Schema& schema,
                     const v1::RecordBlock& block);

  // The schema of the join: that of the first file with the targets of the join, without words. They go by the
  // number of graphs that were counted with them, then by name, y_2 before y_10; where none was counted, in the
  // order of the files.
  v1::Schema JoinedSchema(bool allow_missing) const;

  // Counts the records of a file as graphs that are sent, by the targets that they have. One that is no record
  // of the schema has none.
  void Keep(const records::RecordLayout& layout, const v1::Schema& schema, const v1::RecordBlock& block);
  // The targets of the files in the order in which they came, and what became of them, as counted in the graphs
  // that were kept but for those at `refused`; `paths` of each file.
  std::vector<LabelUse> Uses(const v1::Schema& joined, const std::vector<std::string>& paths,
                             std::span<const std::uint64_t> refused) const;

 private:
  v1::Schema first_;
  std::vector<v1::Target> targets_;                        // of all files, in the order in which they came
  std::map<std::string, std::vector<std::size_t>> files_;  // that have a target, by its name
  std::size_t count_ = 0;                                  // of files
  std::optional<int> place_;                               // of the targets' field, where a file has one
  bool is_uniform_ = true;
  std::map<std::string, std::uint64_t> graphs_;  // with a target, by its name; empty: not counted
  KeptLabels kept_{/*remembers=*/true};          // by place in `targets_`
};

// Turns the records of a file into those of a join. Used by one thread.
class TargetConverter {
 public:
  // INVALID_ARGUMENT: a schema is none.
  static absl::StatusOr<TargetConverter> Create(const v1::Schema& from, const v1::Schema& to);

  // INVALID_ARGUMENT: a record is none of the file's schema.
  absl::Status Convert(v1::RecordBlock* block);

 private:
  TargetConverter(records::RecordLayout from, records::RecordLayout to)
      : from_(std::move(from)), to_(std::move(to)) {}
  absl::StatusOr<std::string> Converted(const std::string& bytes);
  void TakeTargets(std::string_view values);

  records::RecordLayout from_;
  records::RecordLayout to_;
  // Of the targets of `to_`, their places in `from_`, or none.
  std::vector<std::optional<std::size_t>> sources_;
  std::vector<std::string_view> fields_;
  std::string values_;  // of the targets of the current record
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_JOINED_TARGETS_H_
