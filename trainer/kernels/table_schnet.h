// SchNet whose filters are read off tables, as one operation.
#ifndef PACKTRAIN_TRAINER_KERNELS_TABLE_SCHNET_H_
#define PACKTRAIN_TRAINER_KERNELS_TABLE_SCHNET_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "trainer/data/graph_tensors.h"

namespace packtrain::trainer {

// By the names of SchNet's definition, all f32.
struct TableSchNetWeights {
  struct Layer {
    at::Tensor filter_in;   // W1 [Gaussians, C]
    at::Tensor filter_out;  // W2 [C, C]
    at::Tensor message;     // W3 [C, C]
    at::Tensor update_in;   // W4 [C, C]
    at::Tensor update_out;  // W5 [C, C]
  };
  at::Tensor embedding;  // [classes, C]
  std::vector<Layer> layers;
  at::Tensor readout_in;   // W6 [C, R]
  at::Tensor readout_out;  // W7 [R, T]
};

// exp(-(d - c)^2 / width) for centres c every `spacing` from 0 on, as many as filter_in has rows.
struct FilterGaussians {
  double spacing = 0;  // angstrom
  double width = 0;    // square angstrom
};

// Whether FusedTableSchNet takes these sizes: 64 channels, 32 of the readout, at most 6 layers, 64 targets,
// 768 classes and 512 Gaussians.
bool TakesTableSchNet(const TableSchNetWeights& weights);

// f32 [G, T], SchNet's predictions; 0 of graphs without nodes. Its plain form is the model, with ReadTable for
// the filters of edges of these `distances`, f32 [E, 1]. No tensor [E, C] is stored, and equal inputs give
// equal bits. A gradient for all weights. See table_schnet_fused.cc.
at::Tensor FusedTableSchNet(const TableSchNetWeights& weights, const FilterGaussians& gaussians,
                            const at::Tensor& distances, const GraphTensors& graphs);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_TABLE_SCHNET_H_
