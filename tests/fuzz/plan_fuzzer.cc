// Any bytes are a spec, a world and the sizes of a split. A plan made of them keeps what plan.h promises; one
// that is refused is refused for a reason.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/batching/plan.h"
#include "server/batching/spec_rules.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/input.h"
#include "tests/server/batching/scenario.h"

namespace {

using namespace packtrain::batching;  // NOLINT(google-build-using-namespace): all that is fuzzed here
using packtrain::fuzz::Expect;
using packtrain::fuzz::Input;
namespace wire = packtrain::wire;
using PlanPtr = std::unique_ptr<const Plan>;

// So many that one run stays quick whatever the policy.
constexpr std::size_t kMaxGraphs = 256;
constexpr std::uint32_t kMaxSegments = 4;
// Of a step that lacks batches, in which there may be 2^32 ranks.
constexpr std::uint64_t kEmptyBatchesSeen = 3;

// A byte says a small number itself; the greatest bytes name numbers at which something ends, or four bytes
// that follow.
std::uint32_t Number(Input& input) {
  constexpr std::uint32_t kEnds[] = {0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffbf, 1u << 24, (1u << 24) + 1,
                                     1'000'000,  65'535,     65'536,     4096,       1024};
  constexpr std::uint8_t kFirstEnd = 0xff - std::size(kEnds);
  const std::uint8_t byte = input.Byte();
  if (byte < kFirstEnd) return byte;
  if (byte < 0xff) return kEnds[byte - kFirstEnd];
  std::uint32_t word = 0;
  for (int shift = 0; shift < 32; shift += 8) word |= std::uint32_t{input.Byte()} << shift;
  return word;
}

template <typename T>
T One(std::uint8_t byte, std::initializer_list<T> of) {
  return of.begin()[byte % of.size()];
}
template <typename T>
T One(Input& input, std::initializer_list<T> of) {
  return One(input.Byte(), of);
}

std::optional<std::uint32_t> NumberIf(bool is_given, Input& input) {
  return is_given ? std::optional(Number(input)) : std::nullopt;
}

wire::BatchSpec ReadSpec(Input& input) {
  wire::BatchSpec spec;
  spec.policy = One(input, {wire::Policy::kStatic, wire::Policy::kDynamic, wire::Policy::kPacked,
                            wire::Policy::kTuple, wire::Policy::kSupergraph});
  spec.order = One(input, {wire::Order::kFull, wire::Order::kNone, wire::Order::kWindow});
  const std::uint8_t left_out = input.Byte();  // as oversize, and as above a limit
  const auto oversize = One(left_out, {wire::Oversize::kAlone, wire::Oversize::kSkip, wire::Oversize::kError});
  if (spec.policy != wire::Policy::kStatic) spec.oversize = oversize;
  spec.balance = One(input, {wire::Balance::kNone, wire::Balance::kCost});
  const std::uint8_t given = input.Byte();
  spec.graphs = Number(input);
  if (given & 1)
    spec.pad = One(input, {wire::Pad::kNone, wire::Pad::kMultiple, wire::Pad::kPow2, wire::Pad::kConstant,
                           wire::Pad::kLadder});
  spec.ladder_rungs = NumberIf(spec.pad == wire::Pad::kLadder, input);
  spec.order_window = NumberIf(spec.order == wire::Order::kWindow, input);
  spec.max_graphs = NumberIf(given & 2, input);
  spec.nodes = NumberIf(given & 4, input);
  spec.edges = NumberIf(given & 8, input);
  spec.budget_sample = NumberIf(given & 16, input);
  spec.lookahead = NumberIf(given & 32, input);
  if (given & 64) spec.cost = wire::CostCoefficients{Number(input), Number(input), Number(input)};
  spec.drop_last = (given & 128) != 0;
  spec.seed = Number(input);
  spec.blocks = NumberIf(spec.policy == wire::Policy::kSupergraph, input);
  spec.block_nodes = NumberIf(spec.policy == wire::Policy::kSupergraph, input);
  using By = std::optional<wire::SkipAbove>;
  spec.skip_above = One(left_out / 3, {By(), By(wire::SkipAbove::kNodes), By(wire::SkipAbove::kBandwidth)});
  spec.skip_above_limit = NumberIf(spec.skip_above.has_value(), input);
  return spec;
}

wire::World ReadWorld(Input& input) {
  wire::World world;
  for (std::uint32_t left = input.Byte() % (kMaxSegments + 1); left > 0; --left) {
    world.segments.push_back({Number(input), Number(input)});
  }
  world.size = Number(input);
  return world;
}

// How the sizes of a run of graphs follow from those of its first.
enum class Run : std::uint8_t { kEqual, kRising, kPareto, kSwapped };

std::uint32_t SizeInRun(Run run, std::uint32_t first, std::uint32_t other, std::uint32_t position) {
  switch (run) {
    case Run::kEqual:
      return first;
    case Run::kRising:
      return first + position;
    case Run::kPareto:
      return first / (position + 1);
    case Run::kSwapped:
      return position % 2 == 0 ? first : other;
  }
  std::abort();
}

void ReadRun(Input& input, Scenario& scenario) {
  const Run run = One(input, {Run::kEqual, Run::kRising, Run::kPareto, Run::kSwapped});
  const std::size_t room = kMaxGraphs - scenario.n_node.size();
  const auto graphs = static_cast<std::uint32_t>(std::min<std::size_t>(input.Byte() + 1, room));
  const std::uint32_t n_node = Number(input);
  const std::uint32_t n_edge = Number(input);
  for (std::uint32_t position = 0; position < graphs; ++position) {
    scenario.n_node.push_back(SizeInRun(run, n_node, n_edge, position));
    scenario.n_edge.push_back(SizeInRun(run, n_edge, n_node, position));
  }
}

// Every graph, or all but each k-th.
std::vector<std::uint32_t> SplitOf(std::uint32_t graphs, std::uint32_t left_out) {
  std::vector<std::uint32_t> split;
  for (std::uint32_t graph = 0; graph < graphs; ++graph) {
    if (left_out == 0 || graph % left_out != 0) split.push_back(graph);
  }
  return split;
}

Scenario ReadScenario(Input& input) {
  Scenario scenario;
  scenario.spec = ReadSpec(input);
  scenario.epoch = std::uint64_t{Number(input)} << 32;
  scenario.epoch |= Number(input);
  const std::uint32_t left_out = input.Byte();
  const std::uint32_t nodes_of_bandwidth = scenario.has_blocks() ? input.Byte() + 1 : 1;
  while (!input.empty() && scenario.n_node.size() < kMaxGraphs) ReadRun(input, scenario);
  for (const std::uint32_t n_node : scenario.n_node) {
    scenario.bandwidth.push_back(n_node / nodes_of_bandwidth);
  }
  scenario.split = SplitOf(static_cast<std::uint32_t>(scenario.n_node.size()), left_out);
  return scenario;
}

PlannedBatch At(const Plan& plan, std::uint64_t index) {
  const absl::StatusOr<PlannedBatch> batch = plan.BatchAt(index);
  Expect(batch.ok(), absl::StrCat("there is a batch ", index));
  return *batch;
}

// The indices of all batches with graphs, of some of those without and of the last one.
std::vector<std::uint64_t> IndicesOf(const Plan& plan) {
  const std::uint64_t slots = plan.FirstOfStep(plan.steps());
  const std::uint64_t seen = std::min(slots, plan.Summarize().batches + kEmptyBatchesSeen);
  std::vector<std::uint64_t> indices(seen);
  for (std::uint64_t index = 0; index < seen; ++index) indices[index] = index;
  if (seen < slots) indices.push_back(slots - 1);
  return indices;
}

void ExpectEqual(const Plan& a, const Plan& b, const std::string& which) {
  Expect(a.steps() == b.steps(), absl::StrCat(which, ": as many steps"));
  Expect(a.FirstOfStep(a.steps()) == b.FirstOfStep(b.steps()), absl::StrCat(which, ": as many batches"));
  for (const std::uint64_t index : IndicesOf(a)) {
    Expect(Equal(At(a, index), At(b, index)), absl::StrCat(which, ": the same batch ", index));
  }
}

// Every rank has one batch at every step; empty ones fill up the last step alone.
void CheckSteps(const wire::World& world, const Plan& plan) {
  const std::uint64_t batches = plan.Summarize().batches;
  Expect(plan.steps() >= 1 && plan.steps() <= batches, "every step has a batch with graphs");
  std::uint64_t index = 0;
  for (std::uint64_t step = 0; step < plan.steps(); index += RanksAt(world, step), ++step) {
    Expect(plan.FirstOfStep(step) == index, absl::StrCat("step ", step, " begins behind the one before"));
    Expect(!At(plan, index).empty, absl::StrCat("rank 0 has graphs at step ", step));
  }
  Expect(plan.FirstOfStep(plan.steps()) == index, "the last step is whole");
  Expect(!plan.BatchAt(index).ok(), "nothing comes behind the last step");
  Expect(batches > plan.FirstOfStep(plan.steps() - 1), "no step is empty");
}

void CheckPlace(const wire::World& world, const Plan& plan, const PlannedBatch& batch, std::uint64_t index) {
  Expect(batch.index == index && batch.step < plan.steps(), "a batch knows its place");
  Expect(batch.rank < RanksAt(world, batch.step), "a batch goes to a rank that there is");
  Expect(plan.FirstOfStep(batch.step) + batch.rank == index, "batches go to the ranks in turn");
}

void CheckEmpty(const Plan& plan, const PlannedBatch& batch) {
  Expect(batch.step == plan.steps() - 1, "empty batches fill up the last step");
  Expect(batch.graphs.empty() && batch.real == wire::Shape() && !batch.oversize,
         "an empty batch holds nothing");
  Expect(batch.padded == At(plan, plan.FirstOfStep(batch.step)).padded, "an empty batch has rank 0's shape");
}

struct Sums {
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
};

Sums SumOf(const Scenario& scenario, const PlannedBatch& batch) {
  Sums sums;
  for (const std::uint32_t graph : batch.graphs) {
    sums.nodes += scenario.n_node.at(graph);
    sums.edges += scenario.n_edge.at(graph);
  }
  return sums;
}

void CheckReal(const Scenario& scenario, const PlannedBatch& batch) {
  const Sums sums = SumOf(scenario, batch);
  Expect(!batch.graphs.empty(), "a batch that is not empty holds graphs");
  Expect(batch.real.graphs == batch.graphs.size(), "a batch counts its graphs");
  Expect(batch.real.nodes == sums.nodes && batch.real.edges == sums.edges,
         "real counts are those of the graphs");
}

void CheckPadded(const Scenario& scenario, const PlannedBatch& batch) {
  constexpr std::uint32_t kMaxSlots = 0x7fffffff;
  const wire::Shape& real = batch.real;
  const wire::Shape& padded = batch.padded;
  Expect(padded.nodes <= kMaxSlots && padded.edges <= kMaxSlots, "int32 numbers every slot");
  if (scenario.spec.pad == wire::Pad::kNone) return Expect(padded == real, "pad none pads nothing");
  Expect(padded.graphs > real.graphs, "a padding graph is to spare");
  Expect(padded.edges >= real.edges, "the edges fit");
  const bool whole_blocks = batch.oversize && scenario.has_blocks() && padded.edges == real.edges;
  Expect(padded.nodes > real.nodes || (whole_blocks && padded.nodes == real.nodes),
         "a padding node is to spare");
  Expect((padded.block_nodes > 0) == scenario.has_blocks(), "supergraphs have blocks");
  if (padded.block_nodes == 0) return;
  Expect(padded.nodes % padded.block_nodes == 0, "blocks are whole");
  for (const std::uint32_t graph : batch.graphs) {
    Expect(scenario.bandwidth.at(graph) <= padded.block_nodes, "no graph is wider than a block");
  }
}

void CheckBudget(const Scenario& scenario, const std::optional<wire::Shape>& budget,
                 const PlannedBatch& batch) {
  if (!budget) return Expect(!batch.oversize, "nothing is oversize where there is no budget");
  for (const std::uint32_t graph : batch.graphs) {
    Expect(batch.oversize != scenario.Fits(graph, *budget), "oversize is what the budget does not hold");
  }
  if (batch.oversize) return Expect(batch.graphs.size() == 1, "an oversize graph is alone");
  const wire::Shape& real = batch.real;
  Expect(real.graphs <= budget->graphs && real.nodes < budget->nodes && real.edges <= budget->edges,
         "a batch is within the budget");
}

void CheckBatches(const Scenario& scenario, const wire::World& world, const Plan& plan) {
  const wire::PlanSummary summary = plan.Summarize();
  for (const std::uint64_t index : IndicesOf(plan)) {
    const PlannedBatch batch = At(plan, index);
    CheckPlace(world, plan, batch, index);
    Expect(batch.empty == (index >= summary.batches), "the batches with graphs come first");
    Expect(!batch.empty || !scenario.spec.drop_last, "drop_last leaves nothing to fill up");
    if (batch.empty) {
      CheckEmpty(plan, batch);
      continue;
    }
    CheckReal(scenario, batch);
    CheckPadded(scenario, batch);
    CheckBudget(scenario, summary.budget, batch);
  }
}

// Every shape is stated, and comes as often as stated.
void CheckShapes(const Plan& plan) {
  const wire::PlanSummary summary = plan.Summarize();
  std::map<wire::Shape, std::uint64_t> left;
  for (const wire::ShapeCount& count : summary.shapes) left[count.shape] = count.batches;
  Expect(left.size() == summary.shapes.size(), "a shape is stated once");
  for (std::uint64_t index = 0; index < summary.batches; ++index) {
    Expect(left[At(plan, index).padded]-- > 0, absl::StrCat("the shape of batch ", index, " is stated"));
  }
  for (const auto& [shape, batches] : left) Expect(batches == 0, "a stated shape comes as often as stated");
}

void CheckSummary(const Plan& plan) {
  const wire::PlanSummary summary = plan.Summarize();
  Expect(summary.steps == plan.steps(), "a plan and its summary have the same steps");
  Expect(summary.bound_batches >= 1 && summary.bound_batches <= summary.batches, "no plan is below the bound");
  for (const double fill : {summary.fill_graphs, summary.fill_nodes, summary.fill_edges}) {
    Expect(fill >= 0 && fill <= 1, "a fill is a share");
  }
  Expect(summary.rank_load_mean_over_max > 0 && summary.rank_load_mean_over_max <= 1,
         "a mean is below the greatest");
}

// Ascending.
std::vector<std::uint32_t> Delivered(const Plan& plan) {
  std::vector<std::uint32_t> graphs;
  const std::uint64_t batches = plan.Summarize().batches;
  for (std::uint64_t index = 0; index < batches; ++index) {
    const PlannedBatch batch = At(plan, index);
    graphs.insert(graphs.end(), batch.graphs.begin(), batch.graphs.end());
  }
  std::ranges::sort(graphs);
  return graphs;
}

// The graphs of the slice, less those above the budget under Oversize::kSkip.
std::vector<std::uint32_t> ToDeliver(const Scenario& scenario, const std::optional<wire::Shape>& budget) {
  std::vector<std::uint32_t> graphs = scenario.Slice();
  if (!budget || scenario.spec.oversize != wire::Oversize::kSkip) return graphs;
  std::erase_if(graphs, [&](std::uint32_t graph) { return !scenario.Fits(graph, *budget); });
  return graphs;
}

// Each graph once, less counted skips and what drop_last may leave out: less than a step.
void CheckExactlyOnce(const Scenario& scenario, const wire::World& world, const Plan& plan,
                      const Plan& one_rank) {
  const wire::PlanSummary summary = plan.Summarize();
  const std::vector<std::uint32_t> expected = ToDeliver(scenario, summary.budget);
  const std::vector<std::uint32_t> delivered = Delivered(plan);
  Expect(Delivered(one_rank) == expected, "one rank gets each graph once");
  Expect(summary.graphs == delivered.size(), "delivered graphs are counted");
  Expect(scenario.spec.oversize != wire::Oversize::kSkip ||
             expected.size() == scenario.split.size() - summary.skipped_graphs - summary.oversize,
         "skips are counted");
  Expect(scenario.Slice().size() == scenario.split.size() - summary.skipped_graphs,
         "what a slice leaves out is counted");
  if (!scenario.spec.drop_last) return Expect(delivered == expected, "each graph comes once");
  Expect(std::ranges::adjacent_find(delivered) == delivered.end(), "no graph comes twice");
  Expect(std::ranges::includes(expected, delivered), "no other graph comes");
  Expect(one_rank.Summarize().batches - summary.batches < world.size, "drop_last leaves out less than a step");
}

// The flat arrays of a plan, twice over for vectors that grew and twice for those that are balanced.
void CheckMemory(const Scenario& scenario, const Plan& plan) {
  Expect(plan.memory_bytes() <= 4 * 16 * scenario.split.size() + 4096, "memory is linear in the split");
}

// The world in which segment `segment` was trained.
wire::World During(const wire::World& world, std::size_t segment) {
  wire::World then = {world.segments[segment].world_size, world.segments};
  then.segments.resize(segment);
  return then;
}

// The batches with graphs of steps [first, last) are the same in both, at the same place.
void ExpectSameSteps(const Plan& a, const Plan& b, std::uint64_t first, std::uint64_t last) {
  Expect(b.FirstOfStep(first) == a.FirstOfStep(first), "a segment begins where it began");
  const std::uint64_t end = std::min(a.FirstOfStep(last), a.Summarize().batches);
  for (std::uint64_t index = a.FirstOfStep(first); index < end; ++index) {
    Expect(Equal(At(a, index), At(b, index)), "a segment is what its ranks got");
  }
}

// What the ranks of a segment got does not depend on what came after it.
void CheckSegments(const wire::World& world, const Plan& plan) {
  std::uint64_t step = 0;
  for (std::size_t segment = 0; segment < world.segments.size(); ++segment) {
    const absl::StatusOr<PlanPtr> then = plan.DealtTo(During(world, segment));
    Expect(then.ok(), "a segment had a plan");
    const std::uint64_t end = step + world.segments[segment].steps;
    ExpectSameSteps(plan, **then, step, end);
    step = end;
  }
}

void CheckPlan(const Scenario& scenario, const wire::World& world, const Plan& plan, const Plan& one_rank) {
  CheckSteps(world, plan);
  CheckBatches(scenario, world, plan);
  CheckShapes(plan);
  CheckSummary(plan);
  CheckExactlyOnce(scenario, world, plan, one_rank);
  CheckMemory(scenario, plan);
  CheckSegments(world, plan);
}

// What one rank gets fails or not for every epoch alike.
void CheckOtherEpoch(Scenario scenario, const absl::Status& status) {
  ++scenario.epoch;
  Expect(Plan::Create(scenario.Request({})).status() == status, "epochs fail alike");
}

bool IsWorld(const wire::World& world) {
  const auto has_ranks = [](const wire::Segment& segment) {
    return segment.world_size > 0 && segment.steps > 0;
  };
  return world.size > 0 && std::ranges::all_of(world.segments, has_ranks);
}

void CheckStatus(const Scenario& scenario, const wire::World& world, const absl::Status& status) {
  const bool is_valid = CheckSpec(scenario.spec).ok() && !scenario.split.empty() && IsWorld(world);
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return Expect(is_valid, "no plan of what is invalid");
    case absl::StatusCode::kInvalidArgument:
      return Expect(!is_valid, "INVALID_ARGUMENT says that a request is invalid");
    case absl::StatusCode::kOutOfRange:
      return Expect(!world.segments.empty(), "OUT_OF_RANGE is for segments");
    default:
      Expect(status.code() == absl::StatusCode::kFailedPrecondition,
             absl::StrCat("a code of Create's: ", status.ToString()));
  }
}

void Check(const Scenario& scenario, const wire::World& world) {
  const absl::StatusOr<PlanPtr> plan = Plan::Create(scenario.Request(world));
  CheckStatus(scenario, world, plan.status());
  const absl::StatusOr<PlanPtr> one_rank = Plan::Create(scenario.Request({}));
  CheckOtherEpoch(scenario, one_rank.status());
  if (!one_rank.ok()) return Expect(!plan.ok(), "what one rank cannot have no world can");
  const absl::StatusOr<PlanPtr> dealt = (*one_rank)->DealtTo(world);
  Expect(dealt.status() == plan.status(), "DealtTo fails as Create does");
  if (!plan.ok()) return;
  ExpectEqual(**plan, **Plan::Create(scenario.Request(world)), "made again");
  ExpectEqual(**plan, **dealt, "dealt from another");
  CheckPlan(scenario, world, **plan, **one_rank);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const wire::World world = ReadWorld(input);
  Check(ReadScenario(input), world);
  return 0;
}
