#include "client/cli/local_plan.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/thread_loop.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/refusal.h"
#include "client/spec_convert.h"
#include "proto/wire/content_hash.h"
#include "server/batching/plan.h"

namespace packtrain::cli {
namespace {

constexpr char kSplit[] = "all";

// Takes the next number off `text`.
bool TakeNumber(std::string_view* text, std::uint32_t* number) {
  const std::size_t begin = text->find_first_not_of(" \t");
  if (begin == std::string_view::npos) return false;
  const char* const end = text->data() + text->size();
  const std::from_chars_result result = std::from_chars(text->data() + begin, end, *number);
  if (result.ec != std::errc()) return false;
  text->remove_prefix(static_cast<std::size_t>(result.ptr - text->data()));
  return text->empty() || text->front() == ' ' || text->front() == '\t';
}

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

absl::Status BadLine(const std::string& path, std::uint64_t number) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ":", number, ": a line is `n_node n_edge`, whole numbers"));
}

absl::Status AddLine(std::string_view line, std::uint64_t number, const std::string& path, SizeList* sizes) {
  std::uint32_t n_node = 0;
  std::uint32_t n_edge = 0;
  if (!TakeNumber(&line, &n_node) || !TakeNumber(&line, &n_edge)) return BadLine(path, number);
  if (n_node == 0) return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": a graph has no nodes"));
  sizes->n_node.push_back(n_node);
  sizes->n_edge.push_back(n_edge);
  sizes->line.push_back(number);
  return absl::OkStatus();
}

std::string HashSizes(const SizeList& sizes) {
  wire::Sha256 hash;
  hash.Update(std::as_bytes(std::span(sizes.n_node)));
  hash.Update(std::as_bytes(std::span(sizes.n_edge)));
  return hash.HexDigest();
}

// The message has been checked word by word, so each value is a known one, or unspecified: then the default.
std::optional<batching::Pad> ToPlanner(v1::Pad pad) {
  switch (pad) {
    case v1::PAD_NONE:
      return batching::Pad::kNone;
    case v1::PAD_MULTIPLE:
      return batching::Pad::kMultiple;
    case v1::PAD_POW2:
      return batching::Pad::kPow2;
    case v1::PAD_CONSTANT:
      return batching::Pad::kConstant;
    case v1::PAD_LADDER:
      return batching::Pad::kLadder;
    default:
      return std::nullopt;
  }
}

batching::Policy ToPlanner(v1::Policy policy) {
  switch (policy) {
    case v1::POLICY_DYNAMIC:
      return batching::Policy::kDynamic;
    case v1::POLICY_PACKED:
      return batching::Policy::kPacked;
    case v1::POLICY_TUPLE:
      return batching::Policy::kTuple;
    default:
      return batching::Policy::kStatic;
  }
}

batching::Order ToPlanner(v1::Order order) {
  switch (order) {
    case v1::ORDER_NONE:
      return batching::Order::kNone;
    case v1::ORDER_WINDOW:
      return batching::Order::kWindow;
    default:
      return batching::Order::kFull;
  }
}

batching::Oversize ToPlanner(v1::Oversize oversize) {
  switch (oversize) {
    case v1::OVERSIZE_ALONE:
      return batching::Oversize::kAlone;
    case v1::OVERSIZE_SKIP:
      return batching::Oversize::kSkip;
    default:
      return batching::Oversize::kError;
  }
}

batching::BatchSpec ToPlanner(const v1::BatchSpec& message) {
  batching::BatchSpec spec;
  spec.policy = ToPlanner(message.policy());
  spec.pad = ToPlanner(message.pad());
  if (message.has_ladder_rungs()) spec.rungs = message.ladder_rungs();
  spec.graphs = message.graphs();
  if (message.has_max_graphs()) spec.max_graphs = message.max_graphs();
  if (message.has_nodes()) spec.nodes = message.nodes();
  if (message.has_edges()) spec.edges = message.edges();
  spec.order = ToPlanner(message.order());
  if (message.has_order_window()) spec.window = message.order_window();
  spec.seed = message.seed();
  spec.oversize = ToPlanner(message.oversize());
  spec.drop_last = message.drop_last();
  if (message.has_budget_sample()) spec.budget_sample = message.budget_sample();
  if (message.balance() == v1::BALANCE_COST) spec.balance = batching::Balance::kCost;
  const v1::CostCoefficients& cost = message.cost();
  if (message.has_cost()) spec.cost = {cost.graph(), cost.node(), cost.edge()};
  if (message.has_lookahead()) spec.lookahead = message.lookahead();
  return spec;
}

void SetShape(const batching::Shape& from, v1::Shape* to) {
  to->set_graphs(from.graphs);
  to->set_nodes(from.nodes);
  to->set_edges(from.edges);
}

void SetOversize(const batching::PlanSummary& summary, const SizeList& sizes, v1::Oversize action,
                 v1::OversizeSummary* to) {
  to->set_action(action == v1::OVERSIZE_UNSPECIFIED ? v1::OVERSIZE_ERROR : action);
  to->set_count(summary.oversize);
  for (const std::uint32_t graph : summary.oversize_graphs)
    to->add_ids(absl::StrCat("line ", sizes.line[graph]));
  to->set_truncated(summary.oversize > summary.oversize_graphs.size());
}

v1::GetPlanResponse ToMessage(const batching::PlanSummary& summary) {
  v1::GetPlanResponse plan;
  plan.set_batches(summary.batches);
  plan.set_steps(summary.steps);
  plan.set_graphs(summary.graphs);
  if (summary.budget.has_value()) SetShape(*summary.budget, plan.mutable_budget());
  plan.mutable_fill()->set_graphs(summary.fill_graphs);
  plan.mutable_fill()->set_nodes(summary.fill_nodes);
  plan.mutable_fill()->set_edges(summary.fill_edges);
  for (const batching::ShapeCount& shape : summary.shapes) {
    v1::ShapeCount* count = plan.add_shapes();
    SetShape(shape.shape, count->mutable_shape());
    count->set_batches(shape.batches);
  }
  plan.set_mean_graphs(summary.mean_graphs);
  plan.set_min_graphs(summary.min_graphs);
  plan.set_max_graphs(summary.max_graphs);
  plan.set_rank_load_mean_over_max(summary.rank_load_mean_over_max);
  plan.set_bound_batches(summary.bound_batches);
  plan.set_plan_version(batching::kPlanVersion);
  return plan;
}

absl::StatusOr<v1::BatchSpec> LocalMessage(const client::SpecFlags& flags) {
  if (flags.spec.split.empty() || flags.spec.split == kSplit) return client::ToMessage(flags.spec);
  return absl::InvalidArgumentError(
      absl::StrCat("--split ", flags.spec.split, ": a list of sizes has no splits but 'all'"));
}

// A request for the list, and what it borrows beside the list.
class ListRequest {
 public:
  ListRequest(const SizeList& sizes, const client::SpecFlags& flags, const batching::BatchSpec& spec)
      : split_(sizes.n_node.size()) {
    std::iota(split_.begin(), split_.end(), 0u);
    request_.spec = spec;
    request_.sizes = {sizes.n_node, sizes.n_edge};
    request_.split = split_;
    request_.epoch = flags.epoch;
    request_.world = {.size = flags.world_size};
    request_.parallel_for = std::bind_front(RunOnThreads, HardwareThreads());
  }
  ListRequest(const ListRequest&) = delete;
  ListRequest& operator=(const ListRequest&) = delete;

  const batching::PlanRequest& get() const { return request_; }

 private:
  std::vector<std::uint32_t> split_;
  batching::PlanRequest request_;
};

absl::StatusOr<v1::GetPlanResponse> PlanList(const SizeList& sizes, const client::SpecFlags& flags,
                                             const v1::BatchSpec& spec) {
  const ListRequest request(sizes, flags, ToPlanner(spec));
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<std::unique_ptr<const batching::Plan>> plan = batching::Plan::Create(request.get());
  if (!plan.ok()) return plan.status();
  const batching::PlanSummary summary = (*plan)->Summarize();
  v1::GetPlanResponse response = ToMessage(summary);
  response.set_plan_seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  SetOversize(summary, sizes, spec.oversize(), response.mutable_oversize());
  response.set_fingerprint(
      wire::PlanFingerprint(sizes.version, kSplit, batching::CanonicalText(request.get().spec)));
  return response;
}

}  // namespace

absl::StatusOr<SizeList> ReadSizes(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ingest::LineReader>> reader = ingest::LineReader::Open(path, {});
  if (!reader.ok()) return reader.status();
  SizeList sizes{path, {}, {}, {}, {}};
  std::string_view line;
  for (;;) {
    const absl::StatusOr<bool> more = (*reader)->Next(&line);
    if (ingest::ReasonOf(more.status()) == "line_too_long") return BadLine(path, (*reader)->line_number() + 1);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (IsBlank(line)) continue;
    if (absl::Status added = AddLine(line, (*reader)->line_number(), path, &sizes); !added.ok()) return added;
  }
  if (sizes.n_node.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": holds no sizes"));
  sizes.version = HashSizes(sizes);
  return sizes;
}

absl::StatusOr<batching::BatchSpec> LocalSpec(const client::SpecFlags& flags) {
  const absl::StatusOr<v1::BatchSpec> message = LocalMessage(flags);
  if (!message.ok()) return message.status();
  return ToPlanner(*message);
}

absl::StatusOr<v1::GetPlanResponse> PlanSizes(const SizeList& sizes, const client::SpecFlags& flags) {
  const absl::StatusOr<v1::BatchSpec> spec = LocalMessage(flags);
  if (!spec.ok()) return spec.status();
  absl::StatusOr<v1::GetPlanResponse> plan = PlanList(sizes, flags, *spec);
  if (plan.ok()) plan->set_dataset(sizes.path);
  return plan;
}

absl::StatusOr<std::vector<batching::TunedBudget>> TuneSizes(const SizeList& sizes,
                                                             const client::SpecFlags& flags) {
  const absl::StatusOr<batching::BatchSpec> spec = LocalSpec(flags);
  if (!spec.ok()) return spec.status();
  return batching::TuneBudget(ListRequest(sizes, flags, *spec).get());
}

}  // namespace packtrain::cli
