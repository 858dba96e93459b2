#include "trainer/selftest/bench.h"

#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/types.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/testing/status_matchers.h"
#include "trainer/selftest/precision_errors.h"
#include "trainer/selftest/random_graphs.h"

namespace packtrain::trainer {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;

const BenchCase kSmall = {.model = "schnet", .real = {2, 6, 12}, .padded = {3, 8, 16}};

TEST(MakeFullGraphs, JoinsAllPairsByReceiver) {
  const GraphTensors graphs = MakeFullGraphs({.real = kSmall.real, .padded = kSmall.padded},
                                             at::detail::createCPUGenerator(/*seed_val=*/1));
  EXPECT_TRUE(graphs.receivers.equal(at::tensor({0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 6, 7}, at::kInt)));
  EXPECT_TRUE(graphs.senders.equal(at::tensor({1, 2, 0, 2, 0, 1, 4, 5, 3, 5, 3, 4, 6, 7, 6, 7}, at::kInt)));
  EXPECT_TRUE(graphs.graph_of_node.equal(at::tensor({0, 0, 0, 1, 1, 1, 2, 2}, at::kInt)));
  EXPECT_TRUE(graphs.n_node.equal(at::tensor({3, 3, 0}, at::kInt)));
  EXPECT_TRUE(graphs.weights.equal(at::tensor({1.0f, 1.0f, 0.0f}).unsqueeze(1)));
}

// `forward`: what is rounded on the way to a prediction. A square is off by twice what it is the square of, and
// a gradient goes the way back, too.
void ExpectErrors(const nlohmann::ordered_json& errors, const Roundings& forward) {
  Roundings both_ways = forward;
  both_ways.chain *= 2;
  EXPECT_LT(errors["predictions"], ErrorBound(forward));
  EXPECT_LT(errors["loss"], 2 * ErrorBound(forward));
  EXPECT_LT(errors["gradient"], ErrorBound(both_ways));
  EXPECT_LT(errors["worst_part"], ErrorBound(both_ways));
}

TEST(TimeSteps, GivesARow) {
  const absl::StatusOr<nlohmann::ordered_json> row = TimeSteps(kSmall, {.warm_up = 1, .steps = 2}, *OpenCpu());
  ASSERT_THAT(row, IsOk());
  EXPECT_EQ((*row)["model"], "schnet");
  EXPECT_EQ((*row)["filter"], "direct");
  EXPECT_EQ((*row)["nodes"], 8);
  EXPECT_EQ((*row)["edges"], 16);
  EXPECT_EQ((*row)["graphs"], 3);
  EXPECT_EQ((*row)["engine"], "eager");
  EXPECT_EQ((*row)["kernels"], "plain");
  EXPECT_GT((*row)["step_us"]["p5"], 0);
  EXPECT_LE((*row)["step_us"]["p5"], (*row)["step_us"]["median"]);
  EXPECT_LE((*row)["step_us"]["median"], (*row)["step_us"]["p95"]);
  EXPECT_EQ((*row)["precision"], "f32");
  // 17 products, one behind another, each a sum of up to 150 terms; forth and back for the gradient.
  ExpectErrors((*row)["errors"], {.unit = kF32Roundoff, .chain = 17 * 150});
}

// Errors are against direct filters, and so include that of the cubics.
TEST(TimeSteps, WithATableAreNearlyAsExact) {
  BenchCase table = kSmall;
  table.filter = "table";
  EXPECT_EQ(NameOf(table), "bench: schnet with table, 8 nodes, 16 edges, eager, plain, f32");
  const absl::StatusOr<nlohmann::ordered_json> row = TimeSteps(table, {.warm_up = 1, .steps = 2}, *OpenCpu());
  ASSERT_THAT(row, IsOk());
  EXPECT_EQ((*row)["filter"], "table");
  const double of_rounding = ErrorBound({.unit = kF32Roundoff, .chain = 2 * 17 * 150}), of_cubics = 4e-6;
  EXPECT_LT((*row)["errors"]["predictions"], of_rounding + of_cubics);
  EXPECT_LT((*row)["errors"]["worst_part"], of_rounding + of_cubics);
}

TEST(TimeSteps, InBf16AreLessExactAndLearnAsMuch) {
  BenchCase bf16 = kSmall;
  bf16.precision = "bf16";
  const BenchOptions options = {.warm_up = 1, .steps = 20};
  const absl::StatusOr<nlohmann::ordered_json> row = TimeSteps(bf16, options, *OpenCpu());
  ASSERT_THAT(row, IsOk());
  EXPECT_EQ((*row)["precision"], "bf16");
  // Gaussians, filters and what lies between them: five roundings in each of three layers. Few terms average in
  // so small a batch.
  ExpectErrors((*row)["errors"], {.unit = kBf16Roundoff, .chain = 15});
  EXPECT_GT((*row)["errors"]["predictions"], 1e-5);
  EXPECT_GT((*row)["errors"]["worst_part"], (*row)["errors"]["gradient"]);
  const auto mae = (*TimeSteps(kSmall, options, *OpenCpu()))["mae"].get<double>();
  EXPECT_GT(mae, 0);
  EXPECT_NEAR((*row)["mae"], mae, 0.01 * mae);
}

TEST(TimeSteps, RefusesWhatTheDeviceOrTheProgramLacks) {
  BenchCase bench = kSmall;
  bench.captured = true;
  EXPECT_THAT(TimeSteps(bench, {}, *OpenCpu()), StatusIs(absl::StatusCode::kInvalidArgument));
  bench = kSmall;
  bench.precision = "tf32";
  EXPECT_THAT(TimeSteps(bench, {}, *OpenCpu()), StatusIs(absl::StatusCode::kInvalidArgument));
  bench.model = "none";
  EXPECT_THAT(TimeSteps(bench, {}, *OpenCpu()), StatusIs(absl::StatusCode::kNotFound));
}

std::string ContentOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(WriteBatch, WritesADictionaryOfTensors) {
  const std::string file = ::testing::TempDir() + "packtrain_bench_batch.pt";
  ASSERT_THAT(WriteBatch(kSmall, file), IsOk());
  const std::string content = ContentOf(file);
  std::filesystem::remove(file);
  EXPECT_THAT(content,
              Not(::testing::HasSubstr("torch.jit")));  // whose functions torch.load(weights_only=True) refuses
  const c10::IValue read = torch::jit::pickle_load({content.begin(), content.end()});
  const auto tensor = [batch = read.toGenericDict()](const char* name) { return batch.at(name).toTensor(); };
  EXPECT_EQ(read.toGenericDict().size(), 8);
  EXPECT_TRUE(
      tensor("receivers").equal(at::tensor({0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 6, 7}, at::kLong)));
  EXPECT_TRUE(tensor("graph_of_node").equal(at::tensor({0, 0, 0, 1, 1, 1, 2, 2}, at::kLong)));
  EXPECT_TRUE(tensor("mask").equal(at::tensor({1.0f, 1.0f, 0.0f})));
  EXPECT_EQ(tensor("target").sizes(), at::IntArrayRef({3}));
  EXPECT_EQ(tensor("classes").scalar_type(), at::kLong);
  const at::Tensor positions = tensor("positions");
  EXPECT_TRUE(
      tensor("vectors").equal(positions.index({tensor("senders")}) - positions.index({tensor("receivers")})));
}

TEST(WriteBatch, SaysWhereItCannotWrite) {
  EXPECT_FALSE(WriteBatch(kSmall, ::testing::TempDir() + "packtrain_no_folder/batch.pt").ok());
}

TEST(BenchCases, HaveNamesOfTheirOwnAndFit) {
  std::vector<std::string> names;
  for (const BenchCase& bench : BenchCases()) {
    names.push_back(NameOf(bench));
    EXPECT_LT(bench.real.graphs, bench.padded.graphs);
    EXPECT_LT(bench.real.nodes, bench.padded.nodes);
    EXPECT_LE(bench.real.edges, bench.padded.edges);
  }
  EXPECT_EQ(names.front(), "bench: schnet, 576 nodes, 9984 edges, eager, plain, f32");
  EXPECT_EQ(names.size(), 52);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace packtrain::trainer
