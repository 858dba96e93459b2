#include "trainer/kernels/distances.cuh"
#include "trainer/kernels/distances.h"
#include "trainer/kernels/fused_launch.h"

namespace packtrain::trainer {

at::Tensor FusedDistances(const GraphTensors& graphs) {
  at::Tensor distances = at::empty({graphs.senders.size(0), 1}, graphs.positions.options());
  const EdgeEnds ends = {.edges = distances.size(0),
                         .senders = Integers(graphs.senders),
                         .receivers = Integers(graphs.receivers),
                         .real = Integers(graphs.real),
                         .positions = Floats(graphs.positions)};
  C10_CUDA_CHECK(MeasureEdges(ends, distances.mutable_data_ptr<float>(), CurrentStream()));
  return distances;
}

}  // namespace packtrain::trainer
