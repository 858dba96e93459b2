#include "server/serving/graph_sizes.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/batches/split_name.h"
#include "server/limits/page.h"

namespace packtrain::serving {
namespace {

constexpr std::uint64_t kMaxGraphs = 1u << 17;
constexpr std::uint64_t kMaxBytesOfANumber = 5;  // a varint of 32 bits

std::size_t PageLimit(const v1::ListGraphSizesRequest& request, std::uint64_t max_message_bytes) {
  const std::uint64_t numbers = request.bandwidths() ? 4 : 2;  // of a graph
  const std::uint64_t limit =
      std::clamp<std::uint64_t>(max_message_bytes / 2 / (numbers * kMaxBytesOfANumber), 1, kMaxGraphs);
  return request.page_size() == 0 ? limit : std::min<std::uint64_t>(limit, request.page_size());
}

// The position in the split at which a page begins.
absl::StatusOr<std::size_t> FirstOf(std::string_view page_token, std::string_view list) {
  ABSL_ASSIGN_OR_RETURN(const std::string key, limits::KeyOfPageToken(page_token, list));
  std::size_t first = 0;
  if (key.empty() || absl::SimpleAtoi(key, &first)) return first;
  return absl::InternalError(absl::StrCat("position ", key, " of a page is no number"));
}

absl::Status AddBandwidths(const storage::Dataset& dataset, std::span<const std::uint32_t> graphs,
                           v1::ListGraphSizesResponse& response) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> as_read, dataset.ReadBandwidthsAsRead(graphs));
  response.mutable_bandwidth_as_read()->Add(as_read.begin(), as_read.end());
  for (const std::uint32_t graph : graphs) response.add_bandwidth(dataset.bandwidth()[graph]);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::ListGraphSizesResponse> ListGraphSizes(storage::GraphStore& store,
                                                          const v1::ListGraphSizesRequest& request,
                                                          std::uint64_t max_message_bytes) {
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<const storage::Dataset> dataset, store.Open(request.dataset()));
  const v1::Dataset& description = dataset->description();
  v1::ListGraphSizesResponse response;
  response.set_dataset(wire::FullName(description));
  response.set_split(batches::SplitOrDefault(request.split(), description));
  ABSL_ASSIGN_OR_RETURN(const std::span<const std::uint32_t> split, dataset->Split(response.split()));
  response.set_graphs(split.size());
  const std::string list = absl::StrCat(response.dataset(), " ", response.split());
  ABSL_ASSIGN_OR_RETURN(const std::size_t first, FirstOf(request.page_token(), list));
  const std::size_t begin = std::min(first, split.size());
  const std::size_t end = std::min(begin + PageLimit(request, max_message_bytes), split.size());
  const std::span<const std::uint32_t> page = split.subspan(begin, end - begin);
  for (const std::uint32_t graph : page) {
    response.add_n_node(dataset->n_node()[graph]);
    response.add_n_edge(dataset->n_edge()[graph]);
  }
  if (request.bandwidths()) {
    ABSL_RETURN_IF_ERROR(AddBandwidths(*dataset, page, response));
  }
  if (end < split.size()) response.set_next_page_token(limits::PageToken(list, absl::StrCat(end)));
  return response;
}

}  // namespace packtrain::serving
