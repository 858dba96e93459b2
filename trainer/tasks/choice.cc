#include "trainer/tasks/choice.h"

#include <torch/types.h>

#include <limits>

namespace packtrain::trainer {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

enum ChoiceSum { kLabelled, kRight, kCrossEntropy, kConstantRight, kConstantCrossEntropy, kChoiceSums };

// The nodes of a batch as the task sees them. Masks are of [N], or of [G] where they are of graphs.
class Nodes {
 public:
  explicit Nodes(const GraphTensors& graphs)
      : graphs_(graphs.n_node.size(0)),
        graph_of_node_(graphs.graph_of_node.to(at::kLong)),
        is_slot_(graphs.is_slot > 0),
        candidates_((graphs.is_candidate > 0).logical_and(is_slot_.logical_not())),
        right_(candidates_.logical_and(graphs.is_target > 0)),
        labelled_(AnyOf(is_slot_).logical_and(AnyOf(right_))) {}

  const at::Tensor& candidates() const { return candidates_; }
  const at::Tensor& right() const { return right_; }
  // Graphs that have a slot and a right candidate.
  const at::Tensor& labelled() const { return labelled_; }

  // Graphs that have a node in `mask`.
  at::Tensor AnyOf(const at::Tensor& mask) const { return CountOf(mask) > 0; }

  // i64 [G].
  at::Tensor CountOf(const at::Tensor& mask) const {
    return at::zeros({graphs_}, graph_of_node_.options()).index_add(0, graph_of_node_, mask.to(at::kLong));
  }

  // [G], log of the sum of e^score over the nodes in `mask`; 0 where there is none. Scores outside it, numbers
  // or not, get no gradient.
  at::Tensor LogSumExp(const at::Tensor& scores, const at::Tensor& mask) const {
    const at::Tensor greatest = GreatestOf(scores.detach(), mask);
    const at::Tensor offset = at::where(greatest == kNone, at::zeros_like(greatest), greatest);
    const at::Tensor gap = at::where(mask, scores - offset.index_select(0, graph_of_node_), 0);
    const at::Tensor terms = at::where(mask, gap.exp(), 0);
    const at::Tensor sums = at::zeros({graphs_}, scores.options()).index_add(0, graph_of_node_, terms);
    return offset + at::where(sums > 0, sums, 1).log();
  }

  // [G], whether the first node with the greatest of `scores` among those in `mask` is a right one; false where
  // there is none.
  at::Tensor IsRightAtGreatest(const at::Tensor& scores, const at::Tensor& mask) const {
    const std::int64_t count = scores.size(0);
    const at::Tensor greatest = GreatestOf(scores, mask).index_select(0, graph_of_node_);
    const at::Tensor is_greatest = mask.logical_and(scores == greatest);
    const at::Tensor index = at::where(is_greatest, at::arange(count, graph_of_node_.options()), count);
    const at::Tensor first = at::full({graphs_}, count, graph_of_node_.options())
                                 .scatter_reduce(0, graph_of_node_, index, "amin", /*include_self=*/true);
    return at::constant_pad_nd(right_, {0, 1}, false).index_select(0, first);
  }

  // i64 [N], how many of a graph's nodes in `mask` have the name that the node has.
  at::Tensor CountNames(const at::Tensor& names, const at::Tensor& mask) const {
    const at::Tensor key = at::where(mask, graph_of_node_ * (std::int64_t{1} << 32) + names, -1);
    const at::Tensor sorted = std::get<0>(key.sort());
    return at::searchsorted(sorted, key, /*out_int32=*/false, /*right=*/true) - at::searchsorted(sorted, key);
  }

  // Candidates that do not have the slot's name.
  at::Tensor CandidatesOfOtherNames(const at::Tensor& names) const {
    const at::Tensor none = at::full({graphs_}, -1, names.options());
    const at::Tensor slot_name = none.scatter_reduce(0, graph_of_node_, at::where(is_slot_, names, -1), "amax");
    return candidates_.logical_and(names != slot_name.index_select(0, graph_of_node_));
  }

 private:
  // [G]; -infinity where a graph has no node in `mask`.
  at::Tensor GreatestOf(const at::Tensor& scores, const at::Tensor& mask) const {
    const at::Tensor none = at::full({graphs_}, kNone, scores.options());
    return none.scatter_reduce(0, graph_of_node_, at::where(mask, scores, kNone), "amax",
                               /*include_self=*/true);
  }

  const std::int64_t graphs_;
  const at::Tensor graph_of_node_;  // i64 [N]
  const at::Tensor is_slot_;
  const at::Tensor candidates_;
  const at::Tensor right_;
  const at::Tensor labelled_;
};

// [G], -log of the probability of a right candidate; 0 for graphs without a label.
at::Tensor CrossEntropyOf(const Nodes& nodes, const at::Tensor& scores) {
  const at::Tensor gap = nodes.LogSumExp(scores, nodes.candidates()) - nodes.LogSumExp(scores, nodes.right());
  return at::where(nodes.labelled(), gap, 0);
}

class Choice final : public Task {
 public:
  Rows outputs() const override { return Rows::kNodes; }

  Loss LossOf(const at::Tensor& outputs, const GraphTensors& graphs) const override {
    const Nodes nodes(graphs);
    return {.sum = CrossEntropyOf(nodes, outputs).sum(), .terms = nodes.labelled().sum().to(at::kFloat)};
  }

  at::Tensor MetricSumsOf(const at::Tensor& outputs, const GraphTensors& graphs) const override {
    const Nodes nodes(graphs);
    const at::Tensor scores = outputs.to(at::kDouble);
    const at::Tensor names = graphs.tokens.to(at::kLong);
    const at::Tensor others = nodes.CandidatesOfOtherNames(names);
    const at::Tensor frequency = nodes.CountNames(names, others).to(at::kDouble);
    const auto count = [&](const at::Tensor& is_right) {
      return is_right.logical_and(nodes.labelled()).sum().to(at::kDouble);
    };
    return at::stack({nodes.labelled().sum().to(at::kDouble),
                      count(nodes.IsRightAtGreatest(scores, nodes.candidates())),
                      CrossEntropyOf(nodes, scores).sum(), count(nodes.IsRightAtGreatest(frequency, others)),
                      CrossEntropyOf(nodes, at::zeros_like(scores)).sum()});
  }

  std::int64_t metric_sums() const override { return kChoiceSums; }

  SplitMetrics MetricsOf(const at::Tensor& sums) const override {
    const double* sum = sums.const_data_ptr<double>();
    const auto mean = [&](ChoiceSum which) { return sum[which] / sum[kLabelled]; };
    return {.graphs = static_cast<std::uint64_t>(sum[kLabelled]),
            .metrics = {{"accuracy", "accuracy", mean(kRight), mean(kConstantRight)},
                        {"cross_entropy", "cross entropy", mean(kCrossEntropy), mean(kConstantCrossEntropy)}}};
  }
};

}  // namespace

std::unique_ptr<Task> MakeChoiceTask(const std::vector<Target>&, KernelForm) {
  return std::make_unique<Choice>();
}

}  // namespace packtrain::trainer
