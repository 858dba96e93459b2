// Times training steps on made-up graphs.
#ifndef PACKTRAIN_TRAINER_SELFTEST_BENCH_H_
#define PACKTRAIN_TRAINER_SELFTEST_BENCH_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/wire/batch_layout.h"
#include "trainer/engine/device.h"

namespace packtrain::trainer {

// Steps of one model on graphs of equal sizes, fully connected.
struct BenchCase {
  std::string model;
  wire::Shape real;
  wire::Shape padded;
  bool captured = false;
  bool fused = false;  // with the device's kernels; otherwise with the plain ones
  std::string precision = "f32";
  std::string_view filter = {};  // of ModelEntry::filters; empty: the first
};

// Such as "bench: schnet, 576 nodes, 9984 edges, captured, fused, f32", or "bench: schnet with table, ...".
std::string NameOf(const BenchCase& bench);

// The models of positions. Graphs of 18 nodes, at most 31 in 576 nodes and 9,984 edges and at most 127 in 2,304
// and 39,936: QM9 under `dynamic`. Both engines with both kernels in f32, and the captured one in tf32 and
// bf16; captured in f32 each further filter that a model has, too.
std::vector<BenchCase> BenchCases();

// Writes the batch that the steps of `bench` are made on, of N nodes, E edges and G graphs with their padding,
// as a dictionary of tensors that Python's torch.load reads: classes i64 [N], positions f32 [N, 3], senders and
// receivers i64 [E], vectors f32 [E, 3] (from the receiver to the sender), graph_of_node i64 [N], target f32
// [G], mask f32 [G] (1: a real graph). Errors as those of base::WholeFile.
absl::Status WriteBatch(const BenchCase& bench, const std::string& file);

struct BenchOptions {
  std::uint64_t warm_up = 20;  // steps before those that count
  std::uint64_t steps = 1000;
};

// A row: {"model", "filter" (empty: the model has one), "nodes", "edges", "graphs" (the padded shape),
// "engine" ("eager", "captured"), "kernels"
// ("plain", "fused"), "precision", "step_us": {"median", "p5", "p95"}, "totals_over_wall" (the steps' totals
// over the host's time), "errors" (of the first step: {"predictions", "loss", "gradient", "worst_part"}, see
// PrecisionErrors), "mae" (of the normalised predictions after all steps, on the graphs learnt), "gpu" (the
// device's name)}.
//
// A step is timed by the device, from the end of the one before to its own; one after the other is issued
// without waiting. What fills the inputs is not in it: a captured step finds them filled, and what an eager
// step copies is taken off. INTERNAL: a step found no finite loss. Other codes as SetPrecision and as
// StepEngine::Create.
absl::StatusOr<nlohmann::ordered_json> TimeSteps(const BenchCase& bench, const BenchOptions& options,
                                                 const Device& device);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_BENCH_H_
