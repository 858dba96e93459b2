// The cell of a graph, in the fields `cell` and `pbc`.
#ifndef PACKTRAIN_SERVER_RECORDS_CELL_FIELDS_H_
#define PACKTRAIN_SERVER_RECORDS_CELL_FIELDS_H_

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/edges/lattice.h"
#include "server/records/graph_record.h"

namespace packtrain::records {

// INVALID_ARGUMENT, naming the field: the schema has a `cell` that is no graph field of F32 or F64 [3, 3], or a
// `pbc` that is no graph field of U8 [3].
absl::Status CheckCellFields(const v1::Schema& schema);

// Whether graphs of the schema may be periodic.
bool HasCellFields(const v1::Schema& schema);

// Finds them in graphs of one layout. Fields of another type or shape than CheckCellFields wants are others.
class CellFields {
 public:
  explicit CellFields(const RecordLayout& layout);

  // A cell repeats along all vectors where there is no `pbc`; a `pbc` without a cell leaves the vectors 0.
  edges::PeriodicCell CellOf(const GraphView& graph) const;

 private:
  std::optional<std::size_t> cell_;
  bool f32_ = false;
  std::optional<std::size_t> pbc_;
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_CELL_FIELDS_H_
