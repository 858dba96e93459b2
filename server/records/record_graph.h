// From stored records back to graphs in memory, as an import takes them.
#ifndef PACKTRAIN_SERVER_RECORDS_RECORD_GRAPH_H_
#define PACKTRAIN_SERVER_RECORDS_RECORD_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "server/records/graph_record.h"

namespace packtrain::records {

// Takes one record after the other; its memory is used again. Used by one thread.
class RecordGraph {
 public:
  // Records are of layout `from`, graphs of layout `to`, each node and graph field of which `from` has, too.
  // Graphs have the records' edges where `to` has the same edge fields, all edges where it stores none, and
  // else no edge yet.
  RecordGraph(const RecordLayout& from, const RecordLayout& to);

  // Valid until the next call, and as long as the record's bytes.
  GraphView Of(const RecordView& record);
  // Bytes of memory that it holds for each edge of the largest record.
  static constexpr std::uint64_t kBytesOfAnEdge = 2 * sizeof(std::uint32_t);

 private:
  const bool keeps_edges_;
  const bool full_edges_;
  std::vector<std::optional<std::size_t>> sources_;  // in `from`, by field of `to`
  std::vector<std::string_view> fields_;
  std::vector<std::uint32_t> senders_;
  std::vector<std::uint32_t> receivers_;
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_RECORD_GRAPH_H_
