#include "trainer/models/painn.h"

#include <torch/types.h>

#include <numbers>
#include <string>
#include <vector>

#include "trainer/kernels/distances.h"
#include "trainer/kernels/vector_messages.h"
#include "trainer/models/layers.h"
#include "trainer/models/parameter_maker.h"

namespace packtrain::trainer {
namespace {

constexpr std::int64_t kRadial = 20;  // radial functions
static_assert(kRadial + 1 == kFusedRadialTerms);
constexpr double kCutoff = 6;          // angstrom
constexpr double kMinDistance = 1e-6;  // angstrom, of padding edges and atoms at one place
constexpr double kMinSquare = 1e-8;    // under the root of a vector's length

// Lin(silu(Lin x)).
struct SiluMlp {
  Linear first;
  Linear second;

  at::Tensor operator()(const at::Tensor& x) const { return second(at::silu(first(x))); }
};

SiluMlp MakeSiluMlp(ParameterMaker& make, const std::string& name, std::int64_t in, std::int64_t middle,
                    std::int64_t out) {
  SiluMlp mlp;
  mlp.first = MakeLinear(make, name + ".first", in, middle);
  mlp.second = MakeLinear(make, name + ".second", middle, out);
  return mlp;
}

struct Layer {
  SiluMlp message;    // of scalars, [C -> C -> 3C]
  Linear filter;      // of the radial functions, [20 -> 3C]
  at::Tensor mixing;  // [C, 2C]: U, V of vectors
  SiluMlp update;     // of scalars and lengths, [2C -> C -> 3C]
};

class Painn final : public Model {
 public:
  explicit Painn(const ModelOptions& options)
      : kernels_(options.kernels), edge_type_(options.edge_type), channels_(options.hidden) {
    ParameterMaker make(*this, options.seed);
    embedding_ = make.Matrix("embedding", options.sizes.classes, channels_);
    for (std::int64_t i = 0; i < options.layers; ++i)
      layers_.push_back(MakeLayer(make, "layer" + std::to_string(i)));
    readout_ = MakeSiluMlp(make, "readout", channels_, channels_, options.sizes.targets);
    orders_ = register_buffer("orders", at::arange(1, kRadial + 1, at::kFloat));
  }

  at::Tensor Forward(const GraphTensors& graphs) override {
    const EdgeGeometry edges = GeometryOf(graphs);
    VectorStates states = {.scalars = at::embedding(embedding_, graphs.classes), .vectors = {}};
    for (const Layer& layer : layers_) states = Update(layer, Receive(layer, states, edges, graphs));
    return MeanOverNodes(readout_(states.scalars), graphs);
  }

 private:
  Layer MakeLayer(ParameterMaker& make, const std::string& name) const {
    Layer layer;
    layer.message = MakeSiluMlp(make, name + ".message", channels_, channels_, 3 * channels_);
    layer.filter = MakeLinear(make, name + ".filter", kRadial, 3 * channels_);
    layer.mixing = make.Matrix(name + ".mixing", channels_, 2 * channels_);
    layer.update = MakeSiluMlp(make, name + ".update", 2 * channels_, channels_, 3 * channels_);
    return layer;
  }

  EdgeGeometry GeometryOf(const GraphTensors& graphs) const {
    const at::Tensor vectors = EdgeVectors(graphs);
    const at::Tensor distances = vectors.square().sum(1, /*keepdim=*/true).sqrt().clamp_min(kMinDistance);
    const at::Tensor angles = distances * (std::numbers::pi / kCutoff);
    const at::Tensor cutoff = at::where(distances < kCutoff, angles.cos().add(1).mul(0.5), 0);
    const at::Tensor radial = (angles * orders_).sin() / distances;
    const at::Tensor terms = at::cat({radial, at::ones_like(distances)}, 1) * cutoff;
    return MakeEdgeGeometry(terms.to(edge_type_), vectors / distances, kernels_);
  }

  // The states with what the neighbours send. The filters are (Lin r) times the cutoff: the cutoff and the 1
  // among the radial functions make one product of it.
  VectorStates Receive(const Layer& layer, const VectorStates& states, const EdgeGeometry& edges,
                       const GraphTensors& graphs) const {
    const at::Tensor weights = at::cat({layer.filter.weights, layer.filter.bias.unsqueeze(0)});
    return ReceiveMessages(states, layer.message(states.scalars), weights, edges, graphs, kernels_);
  }

  // Each node for itself: vectors are mixed and scaled, and scalars learn of them what does not turn.
  VectorStates Update(const Layer& layer, const VectorStates& states) const {
    const std::vector<at::Tensor> mixed = states.vectors.matmul(layer.mixing).split(channels_, 2);
    const at::Tensor &u = mixed[0], &v = mixed[1];
    const at::Tensor length = (v.square().sum(1) + kMinSquare).sqrt();
    const std::vector<at::Tensor> gates =
        layer.update(at::cat({states.scalars, length}, 1)).split(channels_, 1);
    return {.scalars = states.scalars + gates[2] + gates[1] * (u * v).sum(1),
            .vectors = states.vectors + u * gates[0].unsqueeze(1)};
  }

  const KernelForm kernels_;
  const at::ScalarType edge_type_;
  const std::int64_t channels_;
  at::Tensor embedding_;
  std::vector<Layer> layers_;
  SiluMlp readout_;
  at::Tensor orders_;  // [20], of the radial functions: 1, 2, ...
};

}  // namespace

std::shared_ptr<Model> CreatePainn(const ModelOptions& options) {
  return std::make_shared<Painn>(Completed(options, kPainn));
}

}  // namespace packtrain::trainer
