#include "trainer/selftest/kernel_checks.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <array>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/engine/precision.h"
#include "trainer/kernels/distances.h"
#include "trainer/kernels/edge_product.h"
#include "trainer/kernels/error_sum.h"
#include "trainer/kernels/gaussians.h"
#include "trainer/kernels/neighbour_statistics.h"
#include "trainer/kernels/shifted_softplus.h"
#include "trainer/kernels/sum_messages.h"
#include "trainer/kernels/vector_messages.h"
#include "trainer/selftest/kernel_expectations.h"
#include "trainer/selftest/random_graphs.h"

namespace packtrain::trainer {
namespace {

constexpr std::int64_t kColumns[] = {1, 3, 64, 132, 256};
// Of edge-sized data.
constexpr at::ScalarType kEdgeTypes[] = {at::kFloat, at::kBFloat16};

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

// [rows, columns], NaN from row `real` on, that begins `offset` elements after an aligned address.
at::Tensor Rows(std::int64_t rows, std::int64_t real, std::int64_t columns, std::int64_t offset,
                at::ScalarType type, at::Generator random) {
  const at::Tensor storage = at::randn({rows * columns + offset}, random).to(kCard, type);
  const at::Tensor values = storage.narrow(0, offset, rows * columns).view({rows, columns});
  values.narrow(0, real, rows - real).fill_(kNaN);
  return values;
}

MessageInputs MakeInputs(const RandomGraphsOptions& options, std::int64_t columns, std::int64_t offset,
                         at::ScalarType edge_type, const at::Generator& random) {
  const wire::Shape &real = options.real, &padded = options.padded;
  return {.nodes = Rows(padded.nodes, real.nodes, columns, offset, at::kFloat, random),
          .filter = Rows(padded.edges, real.edges, columns, offset, edge_type, random),
          .d_sums = Rows(padded.nodes, real.nodes, columns, offset, at::kFloat, random)};
}

MessageResults RunMessages(KernelForm kernels, const MessageInputs& inputs, const GraphTensors& graphs) {
  const at::Tensor nodes = inputs.nodes.detach().requires_grad_();
  const at::Tensor filter = inputs.filter.detach().requires_grad_();
  const at::Tensor sums = SumMessages(nodes, filter, graphs, kernels);
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
      KernelForm::kPlain, {part(inputs.nodes, nodes), part(inputs.filter, edges), part(inputs.d_sums, nodes)},
      WithoutPadding(graphs, options.real));
  return {pad(real.sums, options.padded.nodes), pad(real.d_nodes, options.padded.nodes),
          pad(real.d_filter, options.padded.edges)};
}

absl::Status CheckMessages(const RandomGraphsOptions& options, std::int64_t columns, std::int64_t offset,
                           at::ScalarType edge_type) {
  const at::Generator random = Random(static_cast<std::uint64_t>(columns));
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(options, random), kCard);
  const MessageInputs inputs = MakeInputs(options, columns, offset, edge_type, random);
  SoilMemory(options, columns);
  const MessageResults got = RunMessages(KernelForm::kFused, inputs, graphs);
  const MessageResults expected = ExpectMessages(options, inputs, graphs);
  const MessageResults again = RunMessages(KernelForm::kFused, inputs, graphs);
  const std::string name =
      absl::StrCat(NameOf(options), ", ", columns, " columns at ", offset, ", ", at::toString(edge_type), ", ");
  for (const auto& [result, word] :
       {std::pair(&MessageResults::sums, "sums"), std::pair(&MessageResults::d_nodes, "gradient of nodes"),
        std::pair(&MessageResults::d_filter, "gradient of filter")}) {
    absl::Status status =
        RequireClose(name + word, got.*result, expected.*result, ToleranceOf((got.*result).scalar_type()));
    if (status.ok()) status = RequireSameBits(name + word, got.*result, again.*result);
    ABSL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status MessagesArePlain(at::ScalarType edge_type) {
  for (const RandomGraphsOptions& options : Shapes()) {
    for (const std::int64_t columns : kColumns) {
      const absl::Status status = CheckMessages(options, columns, /*offset=*/0, edge_type);
      ABSL_RETURN_IF_ERROR(status);
    }
  }
  return absl::OkStatus();
}

absl::Status MessagesOfF32ArePlain() { return MessagesArePlain(at::kFloat); }
absl::Status MessagesOfBf16ArePlain() { return MessagesArePlain(at::kBFloat16); }

absl::Status MessagesNeedNoAlignment() {
  const RandomGraphsOptions options = {.real = {9, 290, 2000}, .padded = {10, 301, 2500}};
  for (const at::ScalarType edge_type : kEdgeTypes) {
    for (const std::int64_t offset : {1, 2}) {
      const absl::Status status = CheckMessages(options, 64, offset, edge_type);
      ABSL_RETURN_IF_ERROR(status);
    }
  }
  return absl::OkStatus();
}

// Of ReceiveMessages, by these names; `vectors` may be undefined.
struct VectorInputs {
  at::Tensor scalars, vectors, sent, weights;
  EdgeGeometry edges;
  at::Tensor d_scalars, d_vectors;
};

VectorInputs MakeVectorInputs(const RandomGraphsOptions& options, std::int64_t columns,
                              at::ScalarType edge_type, bool has_vectors) {
  const at::Generator random = Random(static_cast<std::uint64_t>(columns));
  const wire::Shape &real = options.real, &padded = options.padded;
  const auto of_nodes = [&](std::int64_t width) {
    return Rows(padded.nodes, real.nodes, width, /*offset=*/0, at::kFloat, random);
  };
  const auto vectors = [&] { return of_nodes(3 * columns).view({padded.nodes, 3, columns}); };
  const at::Tensor radial = Rows(padded.edges, real.edges, kFusedRadialTerms, 0, edge_type, random);
  const at::Tensor directions = Rows(padded.edges, real.edges, 3, 0, at::kFloat, random);
  return {.scalars = of_nodes(columns),
          .vectors = has_vectors ? vectors() : at::Tensor(),
          .sent = of_nodes(3 * columns),
          .weights = at::randn({kFusedRadialTerms, 3 * columns}, random).to(kCard),
          .edges = MakeEdgeGeometry(radial, directions, KernelForm::kFused),
          .d_scalars = of_nodes(columns),
          .d_vectors = vectors()};
}

// What was received, and the gradients of all inputs; those of undefined ones are undefined.
std::vector<at::Tensor> RunVectorMessages(KernelForm kernels, const VectorInputs& inputs,
                                          const GraphTensors& graphs) {
  const auto leaf = [](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.detach().requires_grad_() : tensor;
  };
  const VectorStates states = {.scalars = leaf(inputs.scalars), .vectors = leaf(inputs.vectors)};
  const at::Tensor sent = leaf(inputs.sent), weights = leaf(inputs.weights);
  const VectorStates received = ReceiveMessages(states, sent, weights, inputs.edges, graphs, kernels);
  std::vector<at::Tensor> leaves = {states.scalars, sent, weights};
  if (states.vectors.defined()) leaves.push_back(states.vectors);
  std::vector<at::Tensor> results =
      torch::autograd::grad({received.scalars, received.vectors}, leaves, {inputs.d_scalars, inputs.d_vectors});
  results.push_back(received.scalars.detach());
  results.push_back(received.vectors.detach());
  return results;
}

// Of the real part, in f64.
std::vector<at::Tensor> ExpectVectorMessages(const RandomGraphsOptions& options, const VectorInputs& inputs,
                                             const GraphTensors& graphs) {
  const auto part = [](const at::Tensor& rows, std::int64_t real) {
    return rows.defined() ? rows.narrow(0, 0, real).to(at::kDouble) : rows;
  };
  const std::int64_t nodes = options.real.nodes, edges = options.real.edges;
  return RunVectorMessages(KernelForm::kPlain,
                           {.scalars = part(inputs.scalars, nodes),
                            .vectors = part(inputs.vectors, nodes),
                            .sent = part(inputs.sent, nodes),
                            .weights = inputs.weights.to(inputs.edges.radial.scalar_type()).to(at::kDouble),
                            .edges = {.radial = part(inputs.edges.radial, edges),
                                      .directions = part(inputs.edges.directions, edges),
                                      .rows = {}},
                            .d_scalars = part(inputs.d_scalars, nodes),
                            .d_vectors = part(inputs.d_vectors, nodes)},
                           WithoutPadding(graphs, options.real));
}

absl::Status CheckVectorMessages(const RandomGraphsOptions& options, std::int64_t columns,
                                 at::ScalarType edge_type, bool has_vectors) {
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(options, Random(16)), kCard);
  const VectorInputs inputs = MakeVectorInputs(options, columns, edge_type, has_vectors);
  SoilMemory(options, 3 * columns);
  const std::vector<at::Tensor> got = RunVectorMessages(KernelForm::kFused, inputs, graphs);
  const std::vector<at::Tensor> again = RunVectorMessages(KernelForm::kFused, inputs, graphs);
  const std::vector<at::Tensor> expected = ExpectVectorMessages(options, inputs, graphs);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string name = absl::StrCat(NameOf(options), ", ", columns, " columns, ", at::toString(edge_type),
                                          has_vectors ? "" : ", no vectors", ", result ", i);
    absl::Status status = RequireClose(name, got[i].narrow(0, 0, expected[i].size(0)), expected[i]);
    if (status.ok()) status = RequireSameBits(name, got[i], again[i]);
    ABSL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status VectorMessagesArePlain() {
  for (const RandomGraphsOptions& options : Shapes()) {
    for (const std::int64_t columns : kColumns) {
      for (const bool has_vectors : {false, true}) {
        ABSL_RETURN_IF_ERROR(CheckVectorMessages(options, columns, at::kFloat, has_vectors));
      }
    }
    ABSL_RETURN_IF_ERROR(CheckVectorMessages(options, 300, at::kBFloat16, /*has_vectors=*/true));
  }
  return absl::OkStatus();
}

// The aggregates, and the gradients of `own` and `sent`.
std::vector<at::Tensor> RunStatistics(KernelForm kernels, const std::array<at::Tensor, 3>& inputs,
                                      const GraphTensors& graphs) {
  const at::Tensor own = inputs[0].detach().requires_grad_(), sent = inputs[1].detach().requires_grad_();
  const at::Tensor aggregates = AggregateNeighbours(own, sent, NeighbourhoodsOf(graphs), graphs, kernels);
  const auto gradients = torch::autograd::grad({aggregates}, {own, sent}, {inputs[2]});
  return {aggregates.detach(), gradients[0], gradients[1]};
}

absl::Status CheckStatistics(const RandomGraphsOptions& options, std::int64_t columns, std::int64_t offset) {
  const at::Generator random = Random(static_cast<std::uint64_t>(columns));
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(options, random), kCard);
  const std::int64_t nodes = options.real.nodes;
  const auto rows = [&](std::int64_t width) {
    return Rows(options.padded.nodes, nodes, width, offset, at::kFloat, random);
  };
  const std::array<at::Tensor, 3> inputs = {rows(columns), rows(columns), rows(4 * columns)};
  const auto real = [&](const at::Tensor& of) { return of.narrow(0, 0, nodes).to(at::kDouble); };
  SoilMemory(options, 4 * columns);
  const std::vector<at::Tensor> got = RunStatistics(KernelForm::kFused, inputs, graphs);
  const std::vector<at::Tensor> again = RunStatistics(KernelForm::kFused, inputs, graphs);
  const std::vector<at::Tensor> expected =
      RunStatistics(KernelForm::kPlain, {real(inputs[0]), real(inputs[1]), real(inputs[2])},
                    WithoutPadding(graphs, options.real));
  // The gradient of a small deviation is large, and as inexact as the distances from the mean.
  const double tolerances[] = {1e-5, 1e-5, 2e-4};
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string name =
        absl::StrCat(NameOf(options), ", ", columns, " columns at ", offset, ", result ", i);
    absl::Status status = RequireClose(name, got[i].narrow(0, 0, nodes), expected[i], tolerances[i]);
    if (status.ok())
      status = RequireClose(name + ", padding", got[i].slice(0, nodes), at::zeros_like(got[i].slice(0, nodes)));
    if (status.ok()) status = RequireSameBits(name, got[i], again[i]);
    ABSL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status StatisticsArePlain() {
  for (const RandomGraphsOptions& options : Shapes()) {
    for (const std::int64_t columns : kColumns) {
      ABSL_RETURN_IF_ERROR(CheckStatistics(options, columns, /*offset=*/0));
    }
  }
  return CheckStatistics({.real = {9, 290, 2000}, .padded = {10, 301, 2500}}, 64, /*offset=*/1);
}

absl::Status CheckDistances(const RandomGraphsOptions& options) {
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(options, Random(3)), kCard);
  SoilMemory(options, 1);
  const at::Tensor got = Distances(graphs, KernelForm::kFused);
  GraphTensors real = WithoutPadding(graphs, options.real);
  real.positions = real.positions.to(at::kDouble);
  const std::int64_t padding = std::int64_t{options.padded.edges} - options.real.edges;
  const at::Tensor expected = at::constant_pad_nd(Distances(real, KernelForm::kPlain), {0, 0, 0, padding});
  return RequireClose(NameOf(options), got, expected);
}

absl::Status DistancesArePlain() {
  for (const RandomGraphsOptions& options : Shapes()) {
    ABSL_RETURN_IF_ERROR(CheckDistances(options));
  }
  return absl::OkStatus();
}

absl::Status CheckGaussians(std::int64_t edges, std::int64_t count, at::ScalarType type) {
  const at::Tensor distances = (at::rand({edges, 1}, Random(5)) * 12).to(kCard);
  const at::Tensor centres = (at::arange(count, at::kFloat) * 0.1).to(kCard);
  const at::Tensor got =
      Gaussians(distances, centres, {.width = 0.1, .type = type, .form = KernelForm::kFused});
  const at::Tensor expected =
      Gaussians(distances.to(at::kDouble), centres.to(at::kDouble), {.width = 0.1, .type = at::kDouble});
  const std::string name = absl::StrCat(edges, " edges, ", count, " centres, ", at::toString(type));
  return RequireClose(name, got, expected, ToleranceOf(type));
}

absl::Status GaussiansArePlain() {
  for (const at::ScalarType type : kEdgeTypes) {
    for (const std::int64_t edges : {0, 1, 8, 1001}) {
      for (const std::int64_t count : {1, 20, 150, 152, 300}) {
        ABSL_RETURN_IF_ERROR(CheckGaussians(edges, count, type));
      }
    }
  }
  return absl::OkStatus();
}

struct Activation {
  at::Tensor y;
  at::Tensor d_x;
};

Activation RunSoftplus(KernelForm kernels, const at::Tensor& values, const at::Tensor& d_y) {
  const at::Tensor x = values.detach().requires_grad_();
  const at::Tensor y = ShiftedSoftplus(x, kernels);
  return {y.detach(), torch::autograd::grad({y}, {x}, {d_y})[0]};
}

// Values of either sign up to `reach`.
absl::Status CheckSoftplus(std::int64_t count, double reach, at::ScalarType type) {
  const at::Tensor x = ((at::rand({count}, Random(6)) * 2 - 1) * reach).to(kCard, type);
  const at::Tensor d_y = at::randn({count}, Random(7)).to(kCard, type);
  const Activation got = RunSoftplus(KernelForm::kFused, x, d_y);
  const Activation expected = RunSoftplus(KernelForm::kPlain, x.to(at::kDouble), d_y.to(at::kDouble));
  const std::string name = absl::StrCat(count, " elements up to ", reach, ", ", at::toString(type));
  absl::Status status = RequireClose(name, got.y, expected.y, ToleranceOf(type));
  if (status.ok()) status = RequireClose(name + ", gradient", got.d_x, expected.d_x, ToleranceOf(type));
  return status;
}

// Where e^x is 0 or infinite, too.
absl::Status SoftplusIsPlain() {
  for (const at::ScalarType type : kEdgeTypes) {
    for (const std::int64_t count : {0, 1, 1003, 4096}) {
      for (const double reach : {0.1, 3.0, 30.0, 300.0}) {
        ABSL_RETURN_IF_ERROR(CheckSoftplus(count, reach, type));
      }
    }
  }
  return absl::OkStatus();
}

// Of `outputs`, `targets` and `weights` [G, T]: the sum, the number of terms, the gradient of thrice the sum.
std::vector<at::Tensor> RunErrors(const std::array<at::Tensor, 3>& values, ErrorKind kind, KernelForm form) {
  const at::Tensor outputs = values[0].detach().requires_grad_();
  const SummedErrors errors = SumErrors(outputs, values[1], values[2], kind, form);
  const at::Tensor d_outputs = torch::autograd::grad({errors.sum * 3}, {outputs})[0];
  return {errors.sum.detach().view(1), errors.terms.view(1), d_outputs};
}

// Every third value is not known, and no number; some of the others are exact.
absl::Status CheckErrorSum(std::int64_t graphs, std::int64_t targets, ErrorKind kind) {
  const at::Tensor index = at::arange(graphs * targets, kCard).view({graphs, targets});
  const at::Tensor expected = at::randn({graphs, targets}, Random(13)).to(kCard);
  const at::Tensor gaps = at::randn({graphs, targets}, Random(14)).to(kCard) * (index % 5 > 0);
  const at::Tensor known = (index % 3 > 0).to(at::kFloat);
  const at::Tensor outputs = at::where(known > 0, expected + gaps, kNaN);
  const std::array<at::Tensor, 3> values = {outputs, expected, known};
  const std::array<at::Tensor, 3> in_f64 = {outputs.to(at::kDouble), expected.to(at::kDouble), known};
  const std::vector<at::Tensor> got = RunErrors(values, kind, KernelForm::kFused);
  const std::vector<at::Tensor> again = RunErrors(values, kind, KernelForm::kFused);
  const std::vector<at::Tensor> plain = RunErrors(in_f64, kind, KernelForm::kPlain);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string name = absl::StrCat(graphs, " graphs, ", targets, " targets, result ", i);
    absl::Status status = RequireClose(name, got[i], plain[i]);
    if (status.ok()) status = RequireSameBits(name, got[i], again[i]);
    ABSL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status ErrorSumsArePlain() {
  for (const std::int64_t graphs : {1, 2, 128, 5000}) {
    for (const std::int64_t targets : {1, 4}) {
      for (const ErrorKind kind : {ErrorKind::kSquared, ErrorKind::kAbsolute})
        ABSL_RETURN_IF_ERROR(CheckErrorSum(graphs, targets, kind));
    }
  }
  return absl::OkStatus();
}

// Of bf16 by f32, forward and backward; the weights' gradient is not rounded, though tensor cores cut off what
// a sum of f32 cannot hold.
absl::Status CheckEdgeProduct(std::int64_t edges, std::int64_t rows) {
  const at::Tensor x = at::randn({edges, rows}, Random(13)).to(kCard, at::kBFloat16).requires_grad_();
  const at::Tensor weights = at::randn({rows, 192}, Random(14)).to(kCard).requires_grad_();
  const at::Tensor d_y = at::randn({edges, 192}, Random(15)).to(kCard, at::kBFloat16);
  const at::Tensor y = EdgeProduct(x, weights);
  const auto gradients = torch::autograd::grad({y}, {x, weights}, {d_y});
  const at::Tensor wide_x = x.detach().to(at::kDouble), wide_d_y = d_y.to(at::kDouble);
  const at::Tensor rounded = weights.detach().to(at::kBFloat16).to(at::kDouble);
  const double rounding = ToleranceOf(at::kBFloat16), summing = 2e-4;
  const std::string name = absl::StrCat(edges, " edges, ", rows, " rows, ");
  absl::Status status = RequireClose(name + "product", y.detach(), wide_x.mm(rounded), rounding);
  if (status.ok()) status = RequireClose(name + "gradient", gradients[0], wide_d_y.mm(rounded.t()), rounding);
  if (status.ok())
    status = RequireClose(name + "gradient of weights", gradients[1], wide_x.t().mm(wide_d_y), summing);
  return status;
}

absl::Status EdgeProductsAreRoundedOnce() {
  SetPrecision("bf16", kCard).value();
  for (const std::int64_t edges : {0, 1, 1001, 39936}) {
    for (const std::int64_t rows : {64, 150, 152}) {
      ABSL_RETURN_IF_ERROR(CheckEdgeProduct(edges, rows));
    }
  }
  return absl::OkStatus();
}

absl::Status OneCaptureServesAllRealSizes() {
  const RandomGraphsOptions first = {.real = {2, 60, 900}, .padded = {4, 80, 1200}};
  const RandomGraphsOptions second = {.real = {3, 75, 1100}, .padded = first.padded};
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(first, Random(9)), kCard);
  const MessageInputs inputs = MakeInputs(first, 64, 0, at::kFloat, Random(10));
  at::cuda::CUDAGraph graph;
  MessageResults got;
  c10::cuda::getCurrentCUDAStream().synchronize();
  Capture(graph, [&] { got = RunMessages(KernelForm::kFused, inputs, graphs); });

  CopyInto(MakeRandomGraphs(second, Random(11)), graphs);
  const MessageInputs others = MakeInputs(second, 64, 0, at::kFloat, Random(12));
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

constexpr std::array<Check, 11> kChecks = {
    {{"kernels: sums of messages and both gradients are the plain ones, twice the same", MessagesOfF32ArePlain},
     {"kernels: those of a filter in bf16 are the plain ones in f64, twice the same", MessagesOfBf16ArePlain},
     {"kernels: sums of messages need no alignment", MessagesNeedNoAlignment},
     {"kernels: sums of messages captured once serve all real sizes", OneCaptureServesAllRealSizes},
     {"kernels: messages with vectors and their gradients are the plain ones, twice the same",
      VectorMessagesArePlain},
     {"kernels: statistics of neighbours and their gradients are the plain ones, twice the same",
      StatisticsArePlain},
     {"kernels: distances are the plain ones", DistancesArePlain},
     {"kernels: Gaussians are the plain ones", GaussiansArePlain},
     {"kernels: sums of errors and their gradient are the plain ones, twice the same", ErrorSumsArePlain},
     {"kernels: shifted softplus and its gradient are the plain ones", SoftplusIsPlain},
     {"kernels: products in bf16 are rounded once, the gradient of weights never",
      EdgeProductsAreRoundedOnce}}};

}  // namespace

std::span<const Check> KernelChecks() { return kChecks; }

}  // namespace packtrain::trainer
