// Buffers that a padded batch is expanded into, over and over.
#ifndef PACKTRAIN_CLIENT_CLI_BENCH_PADDED_TENSORS_H_
#define PACKTRAIN_CLIENT_CLI_BENCH_PADDED_TENSORS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/wire/batch.h"

namespace packtrain::cli {

// What a model would read: edge indices (int32, offset by the nodes in front), the graph of each node, the
// nodes of each graph, and every field of the schema. Buffers grow to the largest batch. Used by one thread.
class PaddedTensors {
 public:
  explicit PaddedTensors(const v1::Schema& schema);

  // Codes as client::ExpandTopology and client::ExpandField.
  absl::Status Expand(const wire::Batch& batch);

 private:
  struct Field {
    std::string name;
    v1::FieldScope scope;
    std::uint64_t row_bytes;
    std::vector<std::byte> rows;
  };

  std::vector<std::int32_t> senders_;
  std::vector<std::int32_t> receivers_;
  std::vector<std::int32_t> graph_of_node_;
  std::vector<std::int32_t> n_node_;
  std::vector<Field> fields_;
};

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_BENCH_PADDED_TENSORS_H_
