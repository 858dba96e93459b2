#include "proto/wire/batch_check.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/edge_scan.h"

namespace packtrain::wire {
namespace {

// Receivers hold global node, edge and graph numbers in 32 signed bits.

template <typename... Words>
absl::Status BadHeader(const Words&... words) {
  return absl::DataLossError(absl::StrCat("batch header: ", words...));
}

template <typename... Words>
absl::Status BadSection(const Section& section, const Words&... words) {
  return BadHeader("section \"", section.field, "\" ", words...);
}

absl::Status CheckPosition(const BatchHeader& header) {
  if (header.rank >= header.world_size) {
    return BadHeader("rank ", header.rank, " of world size ", header.world_size);
  }
  if (header.step >= header.epoch_steps) {
    return BadHeader("step ", header.step, " of an epoch of ", header.epoch_steps, " steps");
  }
  return absl::OkStatus();
}

absl::Status CheckCount(const char* what, std::uint32_t real, std::uint32_t padded) {
  if (real > padded) return BadHeader(real, " real ", what, " in ", padded, " slots");
  if (padded > kMaxSlots) return BadHeader(padded, " slots for ", what, ", above the limit of ", kMaxSlots);
  return absl::OkStatus();
}

// Padding edges need a padding node, and padding nodes a graph slot of their own.
absl::Status CheckPadding(const Shape& real, const Shape& padded) {
  if (padded.edges > real.edges && padded.nodes == real.nodes) {
    return BadHeader(padded.edges - real.edges, " padding edges without a padding node");
  }
  if (padded.nodes > real.nodes && padded.graphs == real.graphs) {
    return BadHeader(padded.nodes - real.nodes, " padding nodes without a padding graph");
  }
  return absl::OkStatus();
}

// Blocks are of slots, and whole.
absl::Status CheckBlocks(const Shape& real, const Shape& padded) {
  if (real.block_nodes > 0) return BadHeader("real nodes in blocks of ", real.block_nodes);
  if (padded.block_nodes == 0 || padded.nodes % padded.block_nodes == 0) return absl::OkStatus();
  return BadHeader(padded.nodes, " node slots in blocks of ", padded.block_nodes);
}

absl::Status CheckShapes(const BatchHeader& header) {
  const Shape& real = header.real;
  const Shape& padded = header.padded;
  ABSL_RETURN_IF_ERROR(CheckCount("graphs", real.graphs, padded.graphs));
  ABSL_RETURN_IF_ERROR(CheckCount("nodes", real.nodes, padded.nodes));
  ABSL_RETURN_IF_ERROR(CheckCount("edges", real.edges, padded.edges));
  ABSL_RETURN_IF_ERROR(CheckBlocks(real, padded));
  if (header.empty != (real.graphs == 0)) {
    return BadHeader(real.graphs, " real graphs, flagged ", header.empty ? "empty" : "not empty");
  }
  return CheckPadding(real, padded);
}

// Each of them had a graph slot, and at least one node slot.
absl::Status CheckCorruptGraphs(const BatchHeader& header) {
  const std::vector<std::uint64_t>& graphs = header.corrupt_graphs;
  const auto slots = [](std::uint32_t real, std::uint32_t padded) { return std::uint64_t{padded} - real; };
  const std::uint64_t room =
      std::min(slots(header.real.graphs, header.padded.graphs), slots(header.real.nodes, header.padded.nodes));
  if (graphs.size() > room) return BadHeader(graphs.size(), " graphs left out, room for ", room);
  const auto fall = std::adjacent_find(graphs.begin(), graphs.end(), std::greater_equal<>());
  if (fall == graphs.end()) return absl::OkStatus();
  return BadHeader("graph ", *(fall + 1), " follows graph ", *fall, " among those left out");
}

absl::Status CheckDims(const Section& section, const Shape& real) {
  if (section.dims.empty() || section.dims.size() > kMaxDims) {
    return BadSection(section, "has ", section.dims.size(), " dimensions, not 1 to ", kMaxDims);
  }
  const std::uint64_t rows = section.dims.front();
  if (rows != real.graphs && rows != real.nodes && rows != real.edges) {
    return BadSection(section, "has ", rows, " rows, which is none of ", real.graphs, " graphs, ", real.nodes,
                      " nodes and ", real.edges, " edges");
  }
  return absl::OkStatus();
}

absl::Status CheckSize(const Section& section) {
  const std::uint64_t element_bytes = SizeOf(section.dtype);
  if (element_bytes == 0) {
    return BadSection(section, "has the unknown data type ", static_cast<int>(section.dtype));
  }
  std::uint64_t size = element_bytes;
  for (std::uint64_t dim : section.dims) {
    if (__builtin_mul_overflow(size, dim, &size)) return BadSection(section, "has dimensions that overflow");
  }
  if (size != section.size_bytes) {
    return BadSection(section, "takes ", section.size_bytes, " bytes, its dimensions ", size);
  }
  return absl::OkStatus();
}

// `*end` is where the section before ended, then where this one does.
absl::Status CheckPlace(const Section& section, std::uint64_t body_bytes, std::uint64_t* end) {
  if (section.offset_bytes % kSectionAlignment != 0) {
    return BadSection(section, "starts at ", section.offset_bytes, ", not at a multiple of ",
                      kSectionAlignment);
  }
  if (section.offset_bytes < *end) {
    return BadSection(section, "starts at ", section.offset_bytes, ", before the end of the last at ", *end);
  }
  if (section.offset_bytes > body_bytes || section.size_bytes > body_bytes - section.offset_bytes) {
    return BadSection(section, "of ", section.size_bytes, " bytes at ", section.offset_bytes,
                      " ends outside the body of ", body_bytes);
  }
  *end = section.offset_bytes + section.size_bytes;
  return absl::OkStatus();
}

absl::Status CheckNames(const std::vector<Section>& sections) {
  std::vector<std::string_view> names;
  names.reserve(sections.size());
  for (const Section& section : sections) names.push_back(section.field);
  std::sort(names.begin(), names.end());
  if (!names.empty() && names.front().empty()) return BadHeader("a section without a name");
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) return BadHeader("two sections \"", std::string(*twice), "\"");
  return absl::OkStatus();
}

absl::Status CheckSections(const BatchHeader& header) {
  if (header.sections.size() > kMaxSections) {
    return BadHeader(header.sections.size(), " sections, above the limit of ", kMaxSections);
  }
  ABSL_RETURN_IF_ERROR(CheckNames(header.sections));
  std::uint64_t end = 0;
  for (const Section& section : header.sections) {
    ABSL_RETURN_IF_ERROR(CheckDims(section, header.real));
    ABSL_RETURN_IF_ERROR(CheckSize(section));
    ABSL_RETURN_IF_ERROR(CheckPlace(section, header.body_bytes, &end));
  }
  return absl::OkStatus();
}

const Section* Find(const BatchHeader& header, std::string_view field) {
  const auto is_it = [&](const Section& section) { return section.field == field; };
  const auto found = std::find_if(header.sections.begin(), header.sections.end(), is_it);
  return found == header.sections.end() ? nullptr : &*found;
}

absl::Status RequireVector(const BatchHeader& header, std::string_view field, std::uint64_t rows,
                           std::initializer_list<DType> dtypes) {
  const Section* section = Find(header, field);
  if (section == nullptr) return BadHeader("no section \"", std::string(field), "\"");
  if (std::find(dtypes.begin(), dtypes.end(), section->dtype) == dtypes.end()) {
    return BadSection(*section, "has the wrong data type ", static_cast<int>(section->dtype));
  }
  if (section->dims.size() != 1 || section->dims.front() != rows) {
    return BadSection(*section, "is not a vector of ", rows);
  }
  return absl::OkStatus();
}

absl::Status CheckEndpointSections(const BatchHeader& header) {
  if (header.edge_rule == EdgeRule::kFull) {
    const bool sent = Find(header, kSendersSection) != nullptr || Find(header, kReceiversSection) != nullptr;
    return sent ? BadHeader("endpoints of edges that the receiver makes") : absl::OkStatus();
  }
  const auto endpoints = {DType::kU8, DType::kU16, DType::kU32};
  for (std::string_view field : {kSendersSection, kReceiversSection}) {
    ABSL_RETURN_IF_ERROR(RequireVector(header, field, header.real.edges, endpoints));
  }
  if (Find(header, kSendersSection)->dtype != Find(header, kReceiversSection)->dtype) {
    return BadHeader("senders and receivers of two data types");
  }
  return absl::OkStatus();
}

absl::Status CheckRequiredSections(const BatchHeader& header) {
  const std::uint64_t graphs = header.real.graphs;
  ABSL_RETURN_IF_ERROR(RequireVector(header, kGraphIndexSection, graphs, {DType::kU64}));
  ABSL_RETURN_IF_ERROR(RequireVector(header, kNodeCountSection, graphs, {DType::kU32}));
  ABSL_RETURN_IF_ERROR(RequireVector(header, kEdgeCountSection, graphs, {DType::kU32}));
  return CheckEndpointSections(header);
}

// No graph is both in the batch and left out of it.
absl::Status CheckLeftOut(const Batch& batch) {
  const std::vector<std::uint64_t>& corrupt = batch.header().corrupt_graphs;
  if (corrupt.empty()) return absl::OkStatus();
  const std::span<const std::uint64_t> graphs = *batch.Elements<std::uint64_t>(kGraphIndexSection);
  for (const std::uint64_t graph : graphs) {
    if (!std::binary_search(corrupt.begin(), corrupt.end(), graph)) continue;
    return absl::DataLossError(
        absl::StrCat("batch: graph ", graph, " is in it, the header says it is left out"));
  }
  return absl::OkStatus();
}

absl::Status CheckGap(std::span<const std::byte> body, std::uint64_t begin, std::uint64_t end) {
  const std::span<const std::byte> gap = body.subspan(begin, end - begin);
  const bool clear = std::all_of(gap.begin(), gap.end(), [](std::byte b) { return b == std::byte{0}; });
  if (clear) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("batch: bytes that are not 0 between sections, from ", begin, " to ", end));
}

absl::Status CheckGaps(const Batch& batch) {
  std::uint64_t end = 0;
  for (const Section& section : batch.header().sections) {
    ABSL_RETURN_IF_ERROR(CheckGap(batch.body(), end, section.offset_bytes));
    end = section.offset_bytes + section.size_bytes;
  }
  return CheckGap(batch.body(), end, batch.header().body_bytes);
}

// What CheckContent reads of a batch.
struct Counts {
  std::span<const std::uint32_t> n_node;
  std::span<const std::uint32_t> n_edge;
};

absl::Status CheckSum(std::string_view what, std::span<const std::uint32_t> counts, std::uint64_t real) {
  const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (sum == real) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("batch: ", std::string(what), " adds up to ", sum, ", the header says ", real));
}

absl::Status CheckNodeCounts(std::span<const std::uint32_t> n_node) {
  const auto none = std::find(n_node.begin(), n_node.end(), 0u);
  if (none == n_node.end()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("batch: graph ", none - n_node.begin(), " has no node"));
}

// Blocks of 0 nodes: the batch has none.
absl::Status CheckBandwidth(std::uint64_t bandwidth, std::uint32_t block_nodes) {
  if (block_nodes == 0 || bandwidth <= block_nodes) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("batch: an edge joins nodes ", bandwidth, " apart, in blocks of ", block_nodes));
}

absl::Status CheckFullEdges(const Counts& counts, std::uint32_t block_nodes) {
  for (std::size_t k = 0; k < counts.n_node.size(); ++k) {
    const std::uint64_t n = counts.n_node[k];
    if (counts.n_edge[k] != n * (n - 1)) {
      return absl::DataLossError(absl::StrCat("batch: graph ", k, " of ", n, " nodes has ", counts.n_edge[k],
                                              " edges, not all ", n * (n - 1)));
    }
    ABSL_RETURN_IF_ERROR(CheckBandwidth(n - 1, block_nodes));
  }
  return absl::OkStatus();
}

absl::Status BadEndpoint(std::size_t graph, std::uint64_t endpoint, std::uint64_t n_node) {
  return absl::DataLossError(
      absl::StrCat("batch: graph ", graph, " has an edge at node ", endpoint, " of ", n_node, " nodes"));
}

template <typename T>
struct Endpoints {
  std::span<const T> senders;
  std::span<const T> receivers;

  Endpoints Of(std::size_t first, std::size_t n_edge) const {
    return {senders.subspan(first, n_edge), receivers.subspan(first, n_edge)};
  }
};

// Where the first graph stands whose edges break a rule, or the end.
struct GraphPlace {
  std::size_t graph = 0;
  std::size_t first_edge = 0;
};

template <typename T, std::size_t kVectorBytes>
[[gnu::always_inline]] inline GraphPlace FindBadEdges(const Endpoints<T>& all, const Counts& counts) {
  constexpr std::uint32_t kMax = std::numeric_limits<T>::max();
  GraphPlace at;
  for (; at.graph < counts.n_node.size(); at.first_edge += counts.n_edge[at.graph++]) {
    const Endpoints<T> edges = all.Of(at.first_edge, counts.n_edge[at.graph]);
    const T last = static_cast<T>(std::min(counts.n_node[at.graph] - 1, kMax));
    if (!EdgeScan<T, kVectorBytes>::Holds(edges.receivers, edges.senders, last)) break;
  }
  return at;
}

#if defined(__x86_64__)
template <typename T>
[[gnu::target("avx2")]] GraphPlace FindBadEdgesByAvx2(const Endpoints<T>& all, const Counts& counts) {
  return FindBadEdges<T, 32>(all, counts);
}
#endif

template <typename T>
GraphPlace FindBadEdges(const Endpoints<T>& all, const Counts& counts) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return FindBadEdgesByAvx2(all, counts);
#endif
  return FindBadEdges<T, 16>(all, counts);
}

template <typename T>
std::uint64_t BandwidthOf(const Endpoints<T>& edges) {
  T bandwidth = 0;
  for (std::size_t k = 0; k < edges.senders.size(); ++k) {
    const auto [low, high] = std::minmax({edges.senders[k], edges.receivers[k]});
    bandwidth = std::max(bandwidth, static_cast<T>(high - low));
  }
  return bandwidth;
}

template <typename T>
absl::Status CheckStoredEdges(const Batch& batch, const Counts& counts, std::uint32_t block_nodes) {
  const Endpoints<T> all{*batch.Elements<T>(kSendersSection), *batch.Elements<T>(kReceiversSection)};
  const auto [k, first_edge] = FindBadEdges(all, counts);
  if (k == counts.n_node.size())
    return block_nodes == 0 ? absl::OkStatus() : CheckBandwidth(BandwidthOf(all), block_nodes);
  const Endpoints<T> edges = all.Of(first_edge, counts.n_edge[k]);
  const EdgeFacts<T> facts = FactsOf(edges.receivers, edges.senders);
  if (facts.largest >= counts.n_node[k]) return BadEndpoint(k, facts.largest, counts.n_node[k]);
  return absl::DataLossError(
      absl::StrCat("batch: the edges of graph ", k, " do not ascend by receiver, then sender"));
}

absl::Status CheckEdges(const Batch& batch, const Counts& counts) {
  const std::uint32_t block_nodes = batch.header().padded.block_nodes;
  if (batch.header().edge_rule == EdgeRule::kFull) return CheckFullEdges(counts, block_nodes);
  switch (SizeOf(batch.FindSection(kSendersSection)->dtype)) {
    case 1:
      return CheckStoredEdges<std::uint8_t>(batch, counts, block_nodes);
    case 2:
      return CheckStoredEdges<std::uint16_t>(batch, counts, block_nodes);
    default:
      return CheckStoredEdges<std::uint32_t>(batch, counts, block_nodes);
  }
}

}  // namespace

absl::Status CheckSlotBytes(const Shape& padded, std::uint64_t max_bytes) {
  const std::uint64_t slots = std::uint64_t{padded.graphs} + padded.nodes + 2 * std::uint64_t{padded.edges};
  const std::uint64_t bytes = slots * sizeof(std::int32_t);
  if (bytes <= max_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("a padded shape of ", padded.graphs, " graphs, ", padded.nodes, " nodes and ", padded.edges,
                   " edges takes at least ", bytes, " bytes, above the limit of ", max_bytes));
}

absl::Status CheckHeader(const BatchHeader& header, std::uint64_t max_body_bytes) {
  if (header.body_bytes > max_body_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("batch header: a body of ", header.body_bytes,
                                                     " bytes, above the limit of ", max_body_bytes));
  }
  ABSL_RETURN_IF_ERROR(CheckPosition(header));
  ABSL_RETURN_IF_ERROR(CheckShapes(header));
  ABSL_RETURN_IF_ERROR(CheckSlotBytes(header.padded, max_body_bytes));
  ABSL_RETURN_IF_ERROR(CheckCorruptGraphs(header));
  ABSL_RETURN_IF_ERROR(CheckSections(header));
  return CheckRequiredSections(header);
}

absl::Status CheckContent(const Batch& batch) {
  const Counts counts{*batch.Elements<std::uint32_t>(kNodeCountSection),
                      *batch.Elements<std::uint32_t>(kEdgeCountSection)};
  const Shape& real = batch.header().real;
  ABSL_RETURN_IF_ERROR(CheckSum(kNodeCountSection, counts.n_node, real.nodes));
  ABSL_RETURN_IF_ERROR(CheckSum(kEdgeCountSection, counts.n_edge, real.edges));
  ABSL_RETURN_IF_ERROR(CheckNodeCounts(counts.n_node));
  ABSL_RETURN_IF_ERROR(CheckLeftOut(batch));
  ABSL_RETURN_IF_ERROR(CheckGaps(batch));
  return CheckEdges(batch, counts);
}

}  // namespace packtrain::wire
