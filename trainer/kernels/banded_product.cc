#include "trainer/kernels/banded_product.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <vector>

namespace packtrain::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Adds, for each but the last of `blocks`, the product of `factors` with the block behind it.
void AddOfNext(const at::Tensor& sums, const at::Tensor& factors, const at::Tensor& blocks) {
  const std::int64_t pairs = factors.size(0);
  if (pairs > 0) sums.narrow(0, 0, pairs).baddbmm_(factors, blocks.narrow(0, 1, pairs));
}

// Adds, for each but the first, the product with the block before it.
void AddOfPrevious(const at::Tensor& sums, const at::Tensor& factors, const at::Tensor& blocks) {
  const std::int64_t pairs = factors.size(0);
  if (pairs > 0) sums.narrow(0, 1, pairs).baddbmm_(factors, blocks.narrow(0, 0, pairs));
}

// What goes one way along an edge comes back the other way in the gradient: U and L change places.
class BandedProductFunction : public torch::autograd::Function<BandedProductFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& nodes, const at::Tensor& own,
                            const at::Tensor& next, const at::Tensor& previous) {
    context->save_for_backward({own, next, previous});
    const at::Tensor blocks = nodes.reshape({own.size(0), own.size(2), nodes.size(1)});
    const at::Tensor sums = own.bmm(blocks);
    AddOfNext(sums, next, blocks);
    AddOfPrevious(sums, previous, blocks);
    return sums.view({nodes.size(0), -1});
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &own = saved[0], &next = saved[1], &previous = saved[2];
    const std::int64_t rows = own.size(0) * own.size(2);
    const at::Tensor d_sums = gradients[0].reshape({own.size(0), own.size(1), -1});
    const at::Tensor d_blocks = own.mT().bmm(d_sums);
    AddOfNext(d_blocks, previous.mT(), d_sums);
    AddOfPrevious(d_blocks, next.mT(), d_sums);
    return {d_blocks.view({rows, -1}), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

AdjacencyBlocks MakeAdjacencyBlocks(const TypedEdges& edges, const BandSizes& sizes, at::ScalarType type) {
  const std::int64_t size = sizes.block_nodes, blocks = sizes.nodes / size, rows = size * sizes.types;
  const at::Tensor from = edges.from.to(at::kLong), to = edges.to.to(at::kLong);
  const at::Tensor to_block = at::floor_divide(to, size);
  const at::Tensor way = at::floor_divide(from, size) - to_block;
  // C, U and L lie one behind another; L begins with the edges to block 1.
  const at::Tensor block = to_block + (way == 1) * blocks + (way == -1) * (2 * blocks - 2);
  const at::Tensor row = at::remainder(to, size) * sizes.types + edges.types;
  const at::Tensor element = (block * rows + row) * size + at::remainder(from, size);
  const at::Tensor reached = way.abs() <= 1;
  const at::Tensor all = at::zeros({(3 * blocks - 2) * rows * size}, edges.from.options().dtype(type))
                             .index_add_(0, element * reached, reached.to(type));
  const std::vector<at::Tensor> parts =
      all.view({-1, rows, size}).split_with_sizes({blocks, blocks - 1, blocks - 1});
  return {.own = parts[0], .next = parts[1], .previous = parts[2]};
}

at::Tensor BandedProduct(const AdjacencyBlocks& blocks, const at::Tensor& nodes) {
  return BandedProductFunction::apply(nodes, blocks.own, blocks.next, blocks.previous);
}

}  // namespace packtrain::trainer
