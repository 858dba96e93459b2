#include "trainer/selftest/random_graphs.h"

#include <torch/types.h>

#include <map>

#include "absl/strings/str_cat.h"

namespace packtrain::trainer {
namespace {

// An index that is never to be followed.
constexpr int kGarbage = 1 << 30;

at::Tensor RandomIntegers(std::int64_t count, std::int64_t below, at::Generator& random) {
  if (count == 0) return at::empty({0}, at::kLong);
  return at::randint(below, {count}, random, at::kLong);
}

// i32: `real`, and after it the padding up to `size` elements that are `fill`.
at::Tensor Padded(const at::Tensor& real, std::int64_t size, std::int64_t fill) {
  return at::constant_pad_nd(real, {0, size - real.numel()}, fill).to(at::kInt);
}

// i32 [nodes + 1]: how many of `ends` come before each node's.
at::Tensor StartsOf(const at::Tensor& ends, std::int64_t nodes) {
  const at::Tensor counts = at::bincount(ends, /*weights=*/{}, /*minlength=*/nodes);
  return at::cat({at::zeros({1}, at::kLong), counts.cumsum(0)}).to(at::kInt);
}

// `ends`, and padding edges that take the padding nodes in turn.
at::Tensor PaddedEnds(const at::Tensor& ends, const RandomGraphsOptions& options) {
  const std::int64_t nodes = options.real.nodes, edges = std::int64_t{options.padded.edges} - ends.numel();
  const at::Tensor turn = at::arange(edges, at::kLong);
  if (edges == 0) return ends.to(at::kInt);
  return at::cat({ends, turn.remainder(options.padded.nodes - nodes) + nodes}).to(at::kInt);
}

// By receiver.
struct Ends {
  at::Tensor senders;    // i64
  at::Tensor receivers;  // i64
};

Ends RandomEnds(const RandomGraphsOptions& options, at::Generator& random) {
  const std::int64_t nodes = options.real.nodes, edges = options.real.edges;
  const at::Tensor senders = RandomIntegers(edges, nodes, random);
  return {senders, std::get<0>(RandomIntegers(edges, nodes, random).sort())};
}

// Numbering the others of a node leaves out its own place.
Ends AllPairs(const RandomGraphsOptions& options) {
  const std::int64_t size = options.real.nodes / options.real.graphs;
  const at::Tensor receivers = at::arange(std::int64_t{options.real.nodes}).repeat_interleave(size - 1);
  const at::Tensor other = at::arange(receivers.numel()).remainder(size - 1);
  const at::Tensor in_graph = receivers.remainder(size);
  return {receivers - in_graph + other + (other >= in_graph), receivers};
}

void FillEdges(const RandomGraphsOptions& options, const Ends& ends, GraphTensors& graphs) {
  const std::int64_t slots = options.padded.nodes;
  const auto& [senders, receivers] = ends;
  graphs.senders = PaddedEnds(senders, options);
  graphs.receivers = PaddedEnds(receivers, options);
  graphs.receiver_start = StartsOf(receivers, slots);
  graphs.sender_start = StartsOf(senders, slots);
  graphs.by_sender = Padded(at::argsort(senders, /*stable=*/true), options.padded.edges, kGarbage);
  graphs.in_degree = graphs.receiver_start.diff().clamp_min(1).to(at::kFloat).unsqueeze(1);
}

// `graph_of_node` is of the real nodes, i64.
void FillNodes(const RandomGraphsOptions& options, const at::Tensor& graph_of_node, at::Generator& random,
               GraphTensors& graphs) {
  const std::int64_t slots = options.padded.nodes;
  const std::int64_t last = std::int64_t{options.padded.graphs} - 1;
  graphs.graph_of_node = Padded(graph_of_node, slots, last);
  graphs.n_node = at::bincount(graph_of_node, /*weights=*/{}, options.padded.graphs).to(at::kInt);
  graphs.classes = RandomIntegers(slots, options.classes, random).to(at::kInt);
  graphs.positions = at::randn({slots, 3}, random) * 2;
}

void FillGraphs(const RandomGraphsOptions& options, at::Generator& random, GraphTensors& graphs) {
  const std::int64_t slots = options.padded.graphs;
  graphs.targets = at::randn({slots, 1}, random);
  graphs.weights = (at::arange(slots) < std::int64_t{options.real.graphs}).to(at::kFloat).unsqueeze(1);
  graphs.real = at::tensor(
      {std::int64_t{options.real.graphs}, std::int64_t{options.real.nodes}, std::int64_t{options.real.edges}},
      at::kInt);
}

}  // namespace

std::string NameOf(const RandomGraphsOptions& options) {
  const auto name = [](const wire::Shape& shape) {
    return absl::StrCat("(", shape.graphs, ", ", shape.nodes, ", ", shape.edges, ")");
  };
  return absl::StrCat(name(options.real), " in ", name(options.padded));
}

GraphTensors MakeRandomGraphs(const RandomGraphsOptions& options, at::Generator random) {
  GraphTensors graphs;
  const at::Tensor any_graph = RandomIntegers(options.real.nodes, options.real.graphs, random);
  FillNodes(options, std::get<0>(any_graph.sort()), random, graphs);
  FillEdges(options, RandomEnds(options, random), graphs);
  FillGraphs(options, random, graphs);
  return graphs;
}

GraphTensors MakeFullGraphs(const RandomGraphsOptions& options, at::Generator random) {
  GraphTensors graphs;
  const std::int64_t size = options.real.nodes / options.real.graphs;
  FillNodes(options, at::arange(std::int64_t{options.real.graphs}).repeat_interleave(size), random, graphs);
  FillEdges(options, AllPairs(options), graphs);
  FillGraphs(options, random, graphs);
  return graphs;
}

GraphTensors CopyTo(const GraphTensors& graphs, at::Device device) {
  GraphTensors copy = graphs;
  for (const GraphMember& member : GraphMembers()) {
    at::Tensor& tensor = copy.*member.tensor;
    if (tensor.defined()) tensor = tensor.to(device);
  }
  return copy;
}

void CopyInto(const GraphTensors& from, const GraphTensors& into) {
  for (const GraphMember& member : GraphMembers()) {
    if ((into.*member.tensor).defined()) (into.*member.tensor).copy_(from.*member.tensor);
  }
}

GraphTensors WithoutPadding(const GraphTensors& graphs, const wire::Shape& real) {
  const std::map<Rows, std::int64_t> real_rows = {
      {Rows::kGraphs, real.graphs}, {Rows::kNodes, real.nodes}, {Rows::kEdges, real.edges}};
  GraphTensors part = graphs;
  for (const GraphMember& member : GraphMembers()) {
    const auto rows = real_rows.find(member.rows);
    at::Tensor& tensor = part.*member.tensor;
    if (rows != real_rows.end() && tensor.defined()) tensor = tensor.narrow(0, 0, rows->second);
  }
  return part;
}

}  // namespace packtrain::trainer
