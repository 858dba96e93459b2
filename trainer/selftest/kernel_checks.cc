#include "trainer/selftest/kernel_checks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer/kernels/kernels.h"
#include "trainer/models/model.h"
#include "trainer/selftest/random_graphs.h"

namespace packtrain::trainer {
namespace {

constexpr at::DeviceType kCard = at::kCUDA;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kColumns[] = {1, 3, 64, 132, 256};

at::Generator Random(std::uint64_t seed) { return at::detail::createCPUGenerator(seed); }

// Freed memory full of NaN: what a kernel leaves unwritten there shows.
void SoilMemory(const RandomGraphsOptions& options, std::int64_t columns) {
  const at::TensorOptions on_card = at::TensorOptions(at::kFloat).device(kCard);
  std::vector<at::Tensor> soiled;
  for (const std::int64_t rows : {options.padded.nodes, options.padded.nodes, options.padded.edges}) {
    soiled.push_back(at::full({rows, columns}, kNaN, on_card));
  }
}

// The greatest difference is at most `tolerance` times the greatest expected value.
absl::Status RequireClose(const std::string& name, const at::Tensor& got, const at::Tensor& expected,
                          double tolerance = 1e-5) {
  if (!got.sizes().equals(expected.sizes())) return absl::InternalError(absl::StrCat(name, ": another shape"));
  if (got.numel() == 0) return absl::OkStatus();
  const double error = (got.to(at::kDouble) - expected).abs().max().item<double>();
  const double greatest = expected.abs().max().item<double>();
  if (error <= tolerance * greatest) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(name, ": differs by ", error, " where values reach ", greatest));
}

absl::Status RequireSameBits(const std::string& name, const at::Tensor& first, const at::Tensor& second) {
  if (at::equal(first.view(at::kInt), second.view(at::kInt))) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(name, ": two runs differ"));
}

// Edge cases, one shape for each number of slices that share a node's edges, and the shapes of QM9 in batches
// of 32 and 128.
std::vector<RandomGraphsOptions> Shapes() {
  std::vector<RandomGraphsOptions> shapes = {{.real = {0, 0, 0}, .padded = {1, 0, 0}},
                                             {.real = {0, 0, 0}, .padded = {2, 4, 8}},
                                             {.real = {1, 1, 0}, .padded = {1, 1, 0}},
                                             {.real = {1, 1, 3}, .padded = {1, 1, 3}},
                                             {.real = {2, 5, 0}, .padded = {3, 8, 16}},
                                             {.real = {1, 2, 5000}, .padded = {2, 3, 5001}},
                                             {.real = {31, 560, 9500}, .padded = {32, 576, 9984}},
                                             {.real = {127, 2250, 38000}, .padded = {128, 2304, 39936}}};
  for (const std::uint32_t degree : {1, 4, 9, 17, 40}) {
    shapes.push_back({.real = {9, 290, 290 * degree}, .padded = {10, 301, 301 * degree}});
  }
  return shapes;
}

struct MessageInputs {
  at::Tensor nodes;
  at::Tensor filter;
  at::Tensor d_sums;
};

struct MessageResults {
  at::Tensor sums;
  at::Tensor d_nodes;
  at::Tensor d_filter;
};

// f32 [rows, columns], NaN from row `real` on, that begins `offset` elements behind an aligned address.
at::Tensor Rows(std::int64_t rows, std::int64_t real, std::int64_t columns, std::int64_t offset,
                at::Generator random) {
  const at::Tensor storage = at::randn({rows * columns + offset}, random).to(kCard);
  const at::Tensor values = storage.narrow(0, offset, rows * columns).view({rows, columns});
  values.narrow(0, real, rows - real).fill_(kNaN);
  return values;
}

MessageInputs MakeInputs(const RandomGraphsOptions& options, std::int64_t columns, std::int64_t offset,
                         const at::Generator& random) {
  const wire::Shape &real = options.real, &padded = options.padded;
  return {.nodes = Rows(padded.nodes, real.nodes, columns, offset, random),
          .filter = Rows(padded.edges, real.edges, columns, offset, random),
          .d_sums = Rows(padded.nodes, real.nodes, columns, offset, random)};
}

MessageResults RunMessages(const Kernels& kernels, const MessageInputs& inputs, const GraphTensors& graphs) {
  const at::Tensor nodes = inputs.nodes.detach().requires_grad_();
  const at::Tensor filter = inputs.filter.detach().requires_grad_();
  const at::Tensor sums = kernels.SumMessages(nodes, filter, graphs);
  const auto gradients = torch::autograd::grad({sums}, {nodes, filter}, {inputs.d_sums});
  return {sums.detach(), gradients[0], gradients[1]};
}

// Of the real part, in f64; 0 for the padding.
MessageResults ExpectMessages(const RandomGraphsOptions& options, const MessageInputs& inputs,
                              const GraphTensors& graphs) {
  const auto part = [](const at::Tensor& rows, std::int64_t real) {
    return rows.narrow(0, 0, real).to(at::kDouble);
  };
  const auto pad = [](const at::Tensor& rows, std::int64_t padded) {
    return at::constant_pad_nd(rows, {0, 0, 0, padded - rows.size(0)});
  };
  const std::int64_t nodes = options.real.nodes, edges = options.real.edges;
  const MessageResults real = RunMessages(
      PlainKernels(), {part(inputs.nodes, nodes), part(inputs.filter, edges), part(inputs.d_sums, nodes)},
      WithoutPadding(graphs, options.real));
  return {pad(real.sums, options.padded.nodes), pad(real.d_nodes, options.padded.nodes),
          pad(real.d_filter, options.padded.edges)};
}

absl::Status CheckMessages(const RandomGraphsOptions& options, std::int64_t columns, std::int64_t offset) {
  const at::Generator random = Random(static_cast<std::uint64_t>(columns));
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(options, random), kCard);
  const MessageInputs inputs = MakeInputs(options, columns, offset, random);
  SoilMemory(options, columns);
  const MessageResults got = RunMessages(FusedKernels(), inputs, graphs);
  const MessageResults expected = ExpectMessages(options, inputs, graphs);
  const MessageResults again = RunMessages(FusedKernels(), inputs, graphs);
  const std::string name = absl::StrCat(NameOf(options), ", ", columns, " columns at ", offset, ", ");
  for (const auto& [result, word] :
       {std::pair(&MessageResults::sums, "sums"), std::pair(&MessageResults::d_nodes, "gradient of nodes"),
        std::pair(&MessageResults::d_filter, "gradient of filter")}) {
    absl::Status status = RequireClose(name + word, got.*result, expected.*result);
    if (status.ok()) status = RequireSameBits(name + word, got.*result, again.*result);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status MessagesArePlain() {
  for (const RandomGraphsOptions& options : Shapes()) {
    for (const std::int64_t columns : kColumns) {
      if (absl::Status status = CheckMessages(options, columns, /*offset=*/0); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status MessagesNeedNoAlignment() {
  for (const std::int64_t offset : {1, 2}) {
    const absl::Status status = CheckMessages({.real = {9, 290, 2000}, .padded = {10, 301, 2500}}, 64, offset);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckDistances(const RandomGraphsOptions& options) {
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(options, Random(3)), kCard);
  SoilMemory(options, 1);
  const at::Tensor got = FusedKernels().Distances(graphs);
  GraphTensors real = WithoutPadding(graphs, options.real);
  real.positions = real.positions.to(at::kDouble);
  const std::int64_t padding = std::int64_t{options.padded.edges} - options.real.edges;
  const at::Tensor expected = at::constant_pad_nd(PlainKernels().Distances(real), {0, 0, 0, padding});
  return RequireClose(NameOf(options), got, expected);
}

absl::Status DistancesArePlain() {
  for (const RandomGraphsOptions& options : Shapes()) {
    if (absl::Status status = CheckDistances(options); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status GaussiansArePlain() {
  for (const std::int64_t edges : {0, 1, 8, 1001}) {
    for (const std::int64_t count : {1, 20, 150, 300}) {
      const at::Tensor distances = (at::rand({edges, 1}, Random(5)) * 12).to(kCard);
      const at::Tensor centres = (at::arange(count, at::kFloat) * 0.1).to(kCard);
      const at::Tensor got = FusedKernels().Gaussians(distances, centres, 0.1, at::kFloat);
      const at::Tensor expected =
          PlainKernels().Gaussians(distances.to(at::kDouble), centres.to(at::kDouble), 0.1, at::kDouble);
      const std::string name = absl::StrCat(edges, " edges, ", count, " centres");
      if (absl::Status status = RequireClose(name, got, expected); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

struct Activation {
  at::Tensor y;
  at::Tensor d_x;
};

Activation RunSoftplus(const Kernels& kernels, const at::Tensor& values, const at::Tensor& d_y) {
  const at::Tensor x = values.detach().requires_grad_();
  const at::Tensor y = kernels.ShiftedSoftplus(x);
  return {y.detach(), torch::autograd::grad({y}, {x}, {d_y})[0]};
}

// Where e^x is 0 or infinite, too.
absl::Status SoftplusIsPlain() {
  for (const std::int64_t count : {0, 1, 1003, 4096}) {
    for (const double reach : {3.0, 30.0, 300.0}) {
      const at::Tensor x = ((at::rand({count}, Random(6)) * 2 - 1) * reach).to(kCard);
      const at::Tensor d_y = at::randn({count}, Random(7)).to(kCard);
      const Activation got = RunSoftplus(FusedKernels(), x, d_y);
      const Activation expected = RunSoftplus(PlainKernels(), x.to(at::kDouble), d_y.to(at::kDouble));
      const std::string name = absl::StrCat(count, " elements up to ", reach);
      absl::Status status = RequireClose(name, got.y, expected.y);
      if (status.ok()) status = RequireClose(name + ", gradient", got.d_x, expected.d_x);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// Predictions of the real graphs, and the gradient of the sum of their squares by each parameter.
std::vector<at::Tensor> RunModel(const std::string& name, const Kernels& kernels, at::ScalarType type,
                                 GraphTensors graphs, std::int64_t real_graphs) {
  const std::shared_ptr<Model> model =
      FindModel(name)->create({.classes = 5, .seed = 1, .kernels = &kernels, .edge_type = type});
  model->to(kCard);
  model->to(type);
  graphs.positions = graphs.positions.to(type);
  graphs.in_degree = graphs.in_degree.to(type);
  const at::Tensor predictions = model->Forward(graphs).narrow(0, 0, real_graphs);
  std::vector<at::Tensor> results = torch::autograd::grad({predictions.square().sum()}, model->parameters());
  results.push_back(predictions.detach());
  return results;
}

absl::Status CheckSchNet(const RandomGraphsOptions& options) {
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(options, Random(8)), kCard);
  const std::int64_t real_graphs = options.real.graphs;
  SoilMemory(options, 64);
  const std::vector<at::Tensor> got = RunModel("schnet", FusedKernels(), at::kFloat, graphs, real_graphs);
  const std::vector<at::Tensor> expected =
      RunModel("schnet", PlainKernels(), at::kDouble, WithoutPadding(graphs, options.real), real_graphs);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string name = absl::StrCat(NameOf(options), ", result ", i);
    if (absl::Status status = RequireClose(name, got[i], expected[i], 1e-4); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SchNetIsPlain() {
  for (const RandomGraphsOptions& options :
       {RandomGraphsOptions{.real = {1, 1, 0}, .padded = {2, 8, 16}},
        RandomGraphsOptions{.real = {5, 90, 1500}, .padded = {6, 100, 1600}},
        RandomGraphsOptions{.real = {127, 2250, 38000}, .padded = {128, 2304, 39936}}}) {
    if (absl::Status status = CheckSchNet(options); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Runs `body` once as it is and once into a graph, on a stream of its own, as a capture needs it.
template <typename Body>
void Capture(at::cuda::CUDAGraph& graph, Body body) {
  const c10::cuda::CUDAStreamGuard stream(c10::cuda::getStreamFromPool());
  body();
  stream.current_stream().synchronize();
  graph.capture_begin();
  body();
  graph.capture_end();
  stream.current_stream().synchronize();
}

absl::Status OneCaptureServesAllRealSizes() {
  const RandomGraphsOptions first = {.real = {2, 60, 900}, .padded = {4, 80, 1200}};
  const RandomGraphsOptions second = {.real = {3, 75, 1100}, .padded = first.padded};
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(first, Random(9)), kCard);
  const MessageInputs inputs = MakeInputs(first, 64, 0, Random(10));
  at::cuda::CUDAGraph graph;
  MessageResults got;
  c10::cuda::getCurrentCUDAStream().synchronize();
  Capture(graph, [&] { got = RunMessages(FusedKernels(), inputs, graphs); });

  CopyInto(MakeRandomGraphs(second, Random(11)), graphs);
  const MessageInputs others = MakeInputs(second, 64, 0, Random(12));
  for (const auto input : {&MessageInputs::nodes, &MessageInputs::filter, &MessageInputs::d_sums}) {
    (inputs.*input).copy_(others.*input);
  }
  graph.replay();
  const MessageResults expected = ExpectMessages(second, others, graphs);
  absl::Status status = RequireClose("sums", got.sums, expected.sums);
  if (status.ok()) status = RequireClose("gradient of nodes", got.d_nodes, expected.d_nodes);
  if (status.ok()) status = RequireClose("gradient of filter", got.d_filter, expected.d_filter);
  return status;
}

constexpr std::array<Check, 7> kChecks = {
    {{"kernels: sums of messages and both gradients are the plain ones, twice the same", MessagesArePlain},
     {"kernels: sums of messages need no alignment", MessagesNeedNoAlignment},
     {"kernels: sums of messages captured once serve all real sizes", OneCaptureServesAllRealSizes},
     {"kernels: distances are the plain ones", DistancesArePlain},
     {"kernels: Gaussians are the plain ones", GaussiansArePlain},
     {"kernels: shifted softplus and its gradient are the plain ones", SoftplusIsPlain},
     {"kernels: SchNet and its gradients are the plain ones", SchNetIsPlain}}};

}  // namespace

std::span<const Check> KernelChecks() { return kChecks; }

}  // namespace packtrain::trainer
