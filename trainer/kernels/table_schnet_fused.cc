#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "trainer/kernels/fused_launch.h"
#include "trainer/kernels/table_filters.h"
#include "trainer/kernels/table_schnet.cuh"
#include "trainer/kernels/table_schnet.h"

namespace packtrain::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::size_t kMatricesOfLayer = 5, kOtherMatrices = 3;
constexpr std::size_t kVectorBytes = 16;

// The embedding, the matrices of each layer, those of the readout.
variable_list InOrder(const TableSchNetWeights& weights) {
  variable_list matrices = {weights.embedding};
  for (const TableSchNetWeights::Layer& layer : weights.layers) {
    matrices.insert(matrices.end(),
                    {layer.filter_in, layer.filter_out, layer.message, layer.update_in, layer.update_out});
  }
  matrices.insert(matrices.end(), {weights.readout_in, weights.readout_out});
  return matrices;
}

// Of matrices in that order.
template <typename Float, typename PointerOf>
TableSchNetMatrices<Float> PointersTo(at::TensorList matrices, PointerOf pointer_of) {
  TableSchNetMatrices<Float> pointers;
  std::size_t next = 0;
  const auto take = [&] { return pointer_of(matrices[next++]); };
  pointers.embedding = take();
  for (std::size_t i = 0; i < (matrices.size() - kOtherMatrices) / kMatricesOfLayer; ++i) {
    pointers.layers[i] = {.filter_in = take(),
                          .filter_out = take(),
                          .message = take(),
                          .update_in = take(),
                          .update_out = take()};
  }
  pointers.readout_in = take();
  pointers.readout_out = take();
  return pointers;
}

// Which kernels can read whole vectors of.
at::Tensor Aligned(const at::Tensor& tensor) {
  const at::Tensor contiguous = tensor.contiguous();
  const auto address = reinterpret_cast<std::uintptr_t>(contiguous.const_data_ptr());
  return address % kVectorBytes == 0 ? contiguous : contiguous.clone();
}

// What a forward pass keeps for the backward pass, by index: the graphs, the edges and the states.
enum Kept : std::size_t {
  kClasses,
  kGraphOfNode,
  kNNode,
  kReceiverStart,
  kSenderStart,
  kReal,
  kIncoming,
  kOutgoing,
  kByCell,
  kCellStart,
  kFilterFirst,
  kFilterSecond,
  kTables,
  kNodes,
  kSent,
  kMeans,
  kUpdates,
  kReadout,
  kOutputs,
  kAllKept
};
using KeptTensors = std::array<at::Tensor, kAllKept>;

TableSchNetSizes SizesOf(at::TensorList matrices, const GraphTensors& graphs,
                         const FilterGaussians& gaussians) {
  return {.graphs = static_cast<int>(graphs.n_node.size(0)),
          .nodes = static_cast<int>(graphs.classes.size(0)),
          .edges = static_cast<int>(graphs.senders.size(0)),
          .layers = static_cast<int>((matrices.size() - kOtherMatrices) / kMatricesOfLayer),
          .classes = static_cast<int>(matrices.front().size(0)),
          .targets = static_cast<int>(matrices.back().size(1)),
          .gaussians = {.count = static_cast<int>(matrices[1].size(0)),
                        .spacing = static_cast<float>(gaussians.spacing),
                        .width = static_cast<float>(gaussians.width)}};
}

// Without scratch for sorting.
TableEdges EdgesOf(const KeptTensors& kept) {
  return {.incoming = static_cast<TableEdge*>(kept[kIncoming].mutable_data_ptr()),
          .outgoing = static_cast<TableEdge*>(kept[kOutgoing].mutable_data_ptr()),
          .by_cell = static_cast<PlacedEdge*>(kept[kByCell].mutable_data_ptr()),
          .cell_start = kept[kCellStart].mutable_data_ptr<std::int32_t>()};
}

EdgeList ListOf(const at::Tensor& distances, const GraphTensors& graphs) {
  return {.edges = static_cast<int>(graphs.senders.size(0)),
          .distances = Floats(distances),
          .senders = Integers(graphs.senders),
          .receivers = Integers(graphs.receivers),
          .by_sender = Integers(graphs.by_sender),
          .real = Integers(graphs.real)};
}

void MakeEdges(const GraphTensors& graphs, KeptTensors& kept) {
  const std::int64_t edges = graphs.senders.size(0);
  const at::TensorOptions integers = graphs.senders.options();
  kept[kIncoming] = at::empty({edges, 2}, integers);
  kept[kOutgoing] = at::empty({edges, 2}, integers);
  kept[kByCell] = at::empty({edges, 4}, integers);
  kept[kCellStart] = at::empty({kTableCells + 1}, integers);
}

// Of sorting, as long as it is enqueued.
struct SortingScratch {
  explicit SortingScratch(const GraphTensors& graphs)
      : ranks(at::empty({graphs.senders.size(0)}, graphs.senders.options())),
        counts(at::empty({CountsSize(static_cast<int>(graphs.senders.size(0)))}, graphs.senders.options())) {}

  TableEdges With(TableEdges edges) const {
    edges.ranks = ranks.mutable_data_ptr<std::int32_t>();
    edges.counts = counts.mutable_data_ptr<std::int32_t>();
    return edges;
  }

  at::Tensor ranks, counts;
};

TableSchNetGraphs GraphsOf(const KeptTensors& kept) {
  return {.classes = Integers(kept[kClasses]),
          .graph_of_node = Integers(kept[kGraphOfNode]),
          .n_node = Integers(kept[kNNode]),
          .receiver_start = Integers(kept[kReceiverStart]),
          .sender_start = Integers(kept[kSenderStart]),
          .real = Integers(kept[kReal])};
}

void MakeStates(const TableSchNetSizes& sizes, const at::TensorOptions& floats, KeptTensors& kept) {
  for (const Kept of_tables : {kFilterFirst, kFilterSecond, kTables})
    kept[of_tables] = at::empty({sizes.layers, kTableRows, kTableChannels}, floats);
  kept[kNodes] = at::empty({sizes.layers + 1, sizes.nodes, kTableChannels}, floats);
  for (const Kept of_nodes : {kSent, kMeans, kUpdates})
    kept[of_nodes] = at::empty({sizes.layers, sizes.nodes, kTableChannels}, floats);
  kept[kReadout] = at::empty({sizes.nodes, kTableReadoutWidth}, floats);
  kept[kOutputs] = at::empty({sizes.nodes, sizes.targets}, floats);
}

TableSchNetStates StatesOf(const KeptTensors& kept) {
  return {.filter_first = MutableFloats(kept[kFilterFirst]),
          .filter_second = MutableFloats(kept[kFilterSecond]),
          .tables = MutableFloats(kept[kTables]),
          .nodes = MutableFloats(kept[kNodes]),
          .sent = MutableFloats(kept[kSent]),
          .means = MutableFloats(kept[kMeans]),
          .updates = MutableFloats(kept[kUpdates]),
          .readout = MutableFloats(kept[kReadout]),
          .outputs = MutableFloats(kept[kOutputs])};
}

// The scratch of a backward pass, as long as it is enqueued.
class Scratch {
 public:
  Scratch(const TableSchNetSizes& sizes, const KeptTensors& kept) {
    const at::TensorOptions floats = kept[kNodes].options();
    gradients_ = {.table_parts = Like(at::empty({TablePartSize(sizes)}, floats)),
                  .filter_first = Like(at::empty_like(kept[kFilterFirst])),
                  .filter_second = Like(at::empty_like(kept[kFilterSecond])),
                  .nodes = Like(at::empty_like(kept[kNodes])),
                  .sent = Like(at::empty_like(kept[kSent])),
                  .sums = Like(at::empty_like(kept[kMeans])),
                  .updates = Like(at::empty_like(kept[kUpdates])),
                  .readout = Like(at::empty_like(kept[kReadout])),
                  .outputs = Like(at::empty_like(kept[kOutputs])),
                  .products = Like(at::empty({ProductPartSize(sizes)}, floats))};
  }

  const TableSchNetGradients& gradients() const { return gradients_; }

 private:
  float* Like(at::Tensor tensor) {
    tensors_.push_back(std::move(tensor));
    return MutableFloats(tensors_.back());
  }

  std::vector<at::Tensor> tensors_;
  TableSchNetGradients gradients_;
};

class TableSchNetFunction : public torch::autograd::Function<TableSchNetFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, at::TensorList weights, const FilterGaussians& gaussians,
                            const at::Tensor& distances, const GraphTensors& graphs) {
    variable_list matrices;
    for (const at::Tensor& matrix : weights) matrices.push_back(Aligned(matrix));
    const TableSchNetSizes sizes = SizesOf(matrices, graphs, gaussians);
    KeptTensors kept = {graphs.classes,        graphs.graph_of_node, graphs.n_node,
                        graphs.receiver_start, graphs.sender_start,  graphs.real};
    MakeEdges(graphs, kept);
    const SortingScratch sorting(graphs);
    const at::TensorOptions floats = matrices.front().options();
    MakeStates(sizes, floats, kept);
    at::Tensor predictions = at::empty({sizes.graphs, sizes.targets}, floats);
    C10_CUDA_CHECK(EnqueueTableSchNet(sizes, PointersTo<const float>(matrices, Floats), GraphsOf(kept),
                                      ListOf(distances, graphs), sorting.With(EdgesOf(kept)), StatesOf(kept),
                                      MutableFloats(predictions), CurrentStreamWithSide()));
    context->saved_data["spacing"] = gaussians.spacing;
    context->saved_data["width"] = gaussians.width;
    matrices.insert(matrices.end(), kept.begin(), kept.end());
    context->save_for_backward(std::move(matrices));
    return predictions;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::TensorList matrices = at::TensorList(saved).slice(0, saved.size() - kAllKept);
    KeptTensors kept;
    std::copy(saved.end() - kAllKept, saved.end(), kept.begin());
    GraphTensors graphs;
    graphs.n_node = kept[kNNode];
    graphs.classes = kept[kClasses];
    graphs.senders = kept[kByCell];
    const TableSchNetSizes sizes = SizesOf(matrices, graphs,
                                           {.spacing = context->saved_data["spacing"].toDouble(),
                                            .width = context->saved_data["width"].toDouble()});
    const Scratch scratch(sizes, kept);
    variable_list d_matrices;
    for (const at::Tensor& matrix : matrices) d_matrices.push_back(at::empty_like(matrix));
    C10_CUDA_CHECK(EnqueueTableSchNetBackward(sizes, PointersTo<const float>(matrices, Floats), GraphsOf(kept),
                                              EdgesOf(kept), StatesOf(kept), Floats(gradients[0].contiguous()),
                                              scratch.gradients(), PointersTo<float>(d_matrices, MutableFloats),
                                              CurrentStreamWithSide()));
    d_matrices.resize(d_matrices.size() + 3);  // none of the Gaussians, the distances and the graphs
    return d_matrices;
  }
};

bool Takes(const TableSchNetWeights::Layer& layer) {
  const std::array<std::int64_t, 2> sides = {kTableChannels, kTableChannels};
  const at::IntArrayRef square = sides;
  return layer.filter_in.size(0) <= kMaxTableGaussians && layer.filter_in.size(1) == kTableChannels &&
         layer.filter_out.sizes() == square && layer.message.sizes() == square &&
         layer.update_in.sizes() == square && layer.update_out.sizes() == square;
}

}  // namespace

bool TakesTableSchNet(const TableSchNetWeights& weights) {
  return weights.embedding.scalar_type() == at::kFloat && weights.embedding.size(0) <= kMaxTableClasses &&
         weights.embedding.size(1) == kTableChannels && !weights.layers.empty() &&
         weights.layers.size() <= kMaxTableLayers && std::ranges::all_of(weights.layers, Takes) &&
         weights.readout_in.size(0) == kTableChannels && weights.readout_in.size(1) == kTableReadoutWidth &&
         weights.readout_out.size(0) == kTableReadoutWidth && weights.readout_out.size(1) <= kMaxTableTargets;
}

at::Tensor FusedTableSchNet(const TableSchNetWeights& weights, const FilterGaussians& gaussians,
                            const at::Tensor& distances, const GraphTensors& graphs) {
  TORCH_CHECK(TakesTableSchNet(weights), "no kernel for SchNet of these sizes");
  return TableSchNetFunction::apply(at::TensorList(InOrder(weights)), gaussians, distances, graphs);
}

}  // namespace packtrain::trainer
