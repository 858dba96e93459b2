// Sizes of graphs, from a file or a server.
#ifndef PACKTRAIN_CLIENT_CLI_PLAN_SIZE_LIST_H_
#define PACKTRAIN_CLIENT_CLI_PLAN_SIZE_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/wire/batch_spec.h"

namespace packtrain::cli {

// The sizes of graphs, in the order of a file or of a split of a data set.
struct SizeList {
  std::string path;
  std::vector<std::uint32_t> n_node;
  std::vector<std::uint32_t> n_edge;
  std::vector<std::uint64_t> line;                    // of the file; empty for sizes of a data set
  std::string version;                                // hash of the sizes, as a data set's is of its graphs
  std::vector<std::uint32_t> bandwidth = {};          // empty where it was not asked for
  std::vector<std::uint32_t> bandwidth_as_read = {};  // likewise; a file has none
};

// `path` holds a line `n_node n_edge bandwidth` for each graph, plain or gzip. The third column is read only
// for `bandwidths`; further columns are passed over, and so are empty lines. INVALID_ARGUMENT names file and
// line.
absl::StatusOr<SizeList> ReadSizes(const std::string& path, bool bandwidths = false);

// Whether bandwidths decide a plan of the spec.
bool NeedsBandwidths(const wire::BatchSpec& spec);

// What messages call a graph of the list: "line N", or "graph N", from 0, where it comes from a data set.
std::string NameOf(const SizeList& sizes, std::uint32_t graph);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_PLAN_SIZE_LIST_H_
