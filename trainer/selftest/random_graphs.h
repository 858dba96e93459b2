// Made-up graphs in padded tensors, for checks of kernels and timings of steps.
#ifndef PACKTRAIN_TRAINER_SELFTEST_RANDOM_GRAPHS_H_
#define PACKTRAIN_TRAINER_SELFTEST_RANDOM_GRAPHS_H_

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <string>

#include "proto/wire/batch_layout.h"
#include "trainer/data/graph_tensors.h"

namespace packtrain::trainer {

struct RandomGraphsOptions {
  wire::Shape real;
  wire::Shape padded;
  std::int64_t classes = 5;
};

// Such as "(2, 9, 40) in (3, 16, 64)".
std::string NameOf(const RandomGraphsOptions& options);

// Edges join any two real nodes, of one graph or two, or a node with itself, and some nodes have none.
// Positions lie within some angstrom. Positions and classes of the padding, and the entries of by_sender after
// the real ones, are garbage. On the host, with the members that only a GPU's have.
GraphTensors MakeRandomGraphs(const RandomGraphsOptions& options, at::Generator random);

// `real.graphs` graphs of equal sizes, each node joined with all others of its graph. Otherwise as above.
GraphTensors MakeFullGraphs(const RandomGraphsOptions& options, at::Generator random);

// All tensors of `graphs`, on `device`.
GraphTensors CopyTo(const GraphTensors& graphs, at::Device device);

// Copies what `from` has into the tensors of `into`, where there are such.
void CopyInto(const GraphTensors& from, const GraphTensors& into);

// `graphs`, of the real shape `real`, without the padding: views.
GraphTensors WithoutPadding(const GraphTensors& graphs, const wire::Shape& real);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_RANDOM_GRAPHS_H_
