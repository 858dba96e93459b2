// Answers DatasetService.ListGraphSizes.
#ifndef PACKTRAIN_SERVER_SERVING_GRAPH_SIZES_H_
#define PACKTRAIN_SERVER_SERVING_GRAPH_SIZES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/storage/graph_store.h"

namespace packtrain::serving {

// One page, which fits into a message of `max_message_bytes`. Codes as the rpc's.
absl::StatusOr<v1::ListGraphSizesResponse> ListGraphSizes(storage::GraphStore& store,
                                                          const v1::ListGraphSizesRequest& request,
                                                          std::uint64_t max_message_bytes);

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_GRAPH_SIZES_H_
