#include "client/padded_batch.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::client {
namespace {

using wire::Shape;

absl::Status CheckSpan(const char* what, std::size_t size, std::uint32_t slots) {
  if (size == slots) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a buffer of ", size, " for ", what, ", the padded batch has ", slots));
}

absl::Status CheckSpans(const PaddedTopology& out, const Shape& padded) {
  ABSL_RETURN_IF_ERROR(CheckSpan("senders", out.senders.size(), padded.edges));
  ABSL_RETURN_IF_ERROR(CheckSpan("receivers", out.receivers.size(), padded.edges));
  ABSL_RETURN_IF_ERROR(CheckSpan("graph_of_node", out.graph_of_node.size(), padded.nodes));
  return CheckSpan("n_node", out.n_node.size(), padded.graphs);
}

// Where the next edges go.
struct EdgeCursor {
  std::int32_t* senders;
  std::int32_t* receivers;
  const std::int32_t* senders_end;

  void Advance(std::size_t edges) {
    senders += edges;
    receivers += edges;
  }
};

// Edges that are written at once: one vector register of every x86-64.
constexpr std::int32_t kBlock = 4;

// Edges first + j -> receiver, with the receiver itself left out, for j = 0 .. kBlock - 1.
inline void WriteBlock(std::int32_t first, std::int32_t receiver, std::int32_t* senders,
                       std::int32_t* receivers) {
  for (std::int32_t j = 0; j < kBlock; ++j) senders[j] = first + j + (first + j >= receiver ? 1 : 0);
  for (std::int32_t j = 0; j < kBlock; ++j) receivers[j] = receiver;
}

// The same for j = 0 .. count - 1, in whole blocks where up to kBlock - 1 edges behind them may be written.
inline void WriteRow(std::int32_t first, std::int32_t receiver, std::int32_t count, const EdgeCursor& at) {
  std::int32_t j = 0;
  const std::int32_t whole = at.senders_end - at.senders >= count + kBlock ? count : count - kBlock + 1;
  for (; j < whole; j += kBlock) WriteBlock(first + j, receiver, at.senders + j, at.receivers + j);
  for (; j < count; ++j) {
    at.senders[j] = first + j + (first + j >= receiver ? 1 : 0);
    at.receivers[j] = receiver;
  }
}

// All ordered pairs of distinct nodes, by receiver, then sender.
void WriteFullEdges(std::int32_t first, std::int32_t n_node, EdgeCursor* at) {
  const std::int32_t count = n_node - 1;
  for (std::int32_t receiver = first; receiver < first + n_node; ++receiver) {
    WriteRow(first, receiver, count, *at);
    at->Advance(count);
  }
}

// Edges as they were sent, local to their graph.
template <typename T>
class StoredEdges {
 public:
  explicit StoredEdges(const wire::Batch& batch)
      : senders_(batch.Elements<T>(wire::kSendersSection)->data()),
        receivers_(batch.Elements<T>(wire::kReceiversSection)->data()),
        n_edge_(batch.Elements<std::uint32_t>(wire::kEdgeCountSection)->data()) {}

  void Write(std::size_t graph, std::int32_t first, std::int32_t /*n_node*/, EdgeCursor* at) {
    const std::size_t count = n_edge_[graph];
    for (std::size_t e = 0; e < count; ++e) at->senders[e] = first + static_cast<std::int32_t>(senders_[e]);
    for (std::size_t e = 0; e < count; ++e) at->receivers[e] = first + static_cast<std::int32_t>(receivers_[e]);
    senders_ += count;
    receivers_ += count;
    at->Advance(count);
  }

 private:
  const T* senders_;
  const T* receivers_;
  const std::uint32_t* n_edge_;
};

// Edges that the receiver makes.
class FullEdges {
 public:
  void Write(std::size_t /*graph*/, std::int32_t first, std::int32_t n_node, EdgeCursor* at) {
    WriteFullEdges(first, n_node, at);
  }
};

void PadEdges(const Shape& real, const Shape& padded, const EdgeCursor& at) {
  const std::size_t count = padded.edges - real.edges;
  const std::size_t turn = padded.nodes - real.nodes;
  for (std::size_t done = 0; done < count; done += turn) {
    const std::size_t n = std::min(turn, count - done);
    std::iota(at.senders + done, at.senders + done + n, static_cast<std::int32_t>(real.nodes));
    std::iota(at.receivers + done, at.receivers + done + n, static_cast<std::int32_t>(real.nodes));
  }
}

template <typename Edges>
absl::Status Expand(const wire::Batch& batch, Edges edges, const PaddedTopology& out) {
  ABSL_ASSIGN_OR_RETURN(const auto n_node, batch.Elements<std::uint32_t>(wire::kNodeCountSection));
  EdgeCursor at{out.senders.data(), out.receivers.data(), out.senders.data() + out.senders.size()};
  std::int32_t first = 0;
  for (std::size_t graph = 0; graph < n_node.size(); ++graph) {
    const auto n = static_cast<std::int32_t>(n_node[graph]);
    edges.Write(graph, first, n, &at);
    std::fill_n(out.graph_of_node.begin() + first, n, static_cast<std::int32_t>(graph));
    out.n_node[graph] = n;
    first += n;
  }
  std::ranges::fill(out.n_node.subspan(n_node.size()), 0);
  std::fill(out.graph_of_node.begin() + first, out.graph_of_node.end(),
            static_cast<std::int32_t>(out.n_node.size()) - 1);
  PadEdges(batch.header().real, batch.header().padded, at);
  return absl::OkStatus();
}

std::size_t RowBytes(const wire::Section& section) {
  return std::accumulate(section.dims.begin() + 1, section.dims.end(), wire::SizeOf(section.dtype),
                         std::multiplies<>());
}

// A section does not say whether its rows are graphs, nodes or edges; where several counts are equal, the
// caller's buffer decides.
bool IsPaddedSize(const wire::BatchHeader& header, const wire::Section& section, std::size_t bytes) {
  const std::uint64_t rows = section.dims.front();
  const std::uint64_t row_bytes = RowBytes(section);
  const Shape& real = header.real;
  const Shape& padded = header.padded;
  return (rows == real.graphs && bytes == padded.graphs * row_bytes) ||
         (rows == real.nodes && bytes == padded.nodes * row_bytes) ||
         (rows == real.edges && bytes == padded.edges * row_bytes);
}

}  // namespace

absl::Status ExpandTopology(const wire::Batch& batch, const PaddedTopology& out) {
  ABSL_RETURN_IF_ERROR(CheckSpans(out, batch.header().padded));
  if (batch.header().edge_rule == wire::EdgeRule::kFull) return Expand(batch, FullEdges(), out);
  const wire::Section* senders = batch.FindSection(wire::kSendersSection);
  if (senders == nullptr) return absl::NotFoundError("the batch has no section \"senders\"");
  switch (senders->dtype) {
    case wire::DType::kU8:
      return Expand(batch, StoredEdges<std::uint8_t>(batch), out);
    case wire::DType::kU16:
      return Expand(batch, StoredEdges<std::uint16_t>(batch), out);
    default:
      return Expand(batch, StoredEdges<std::uint32_t>(batch), out);
  }
}

absl::Status ExpandField(const wire::Batch& batch, std::string_view field, std::span<std::byte> out) {
  const wire::Section* section = batch.FindSection(field);
  if (section == nullptr) {
    return absl::NotFoundError(absl::StrCat("the batch has no section \"", std::string(field), "\""));
  }
  if (!IsPaddedSize(batch.header(), *section, out.size())) {
    return absl::InvalidArgumentError(absl::StrCat("a buffer of ", out.size(), " bytes for section \"",
                                                   section->field, "\", rows of ", RowBytes(*section),
                                                   " bytes; it must hold the padded number of them"));
  }
  const auto content = batch.body().subspan(section->offset_bytes, section->size_bytes);
  const auto padding = std::copy(content.begin(), content.end(), out.begin());
  std::fill(padding, out.end(), std::byte{0});
  return absl::OkStatus();
}

}  // namespace packtrain::client
