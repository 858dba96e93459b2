#include "server/serving/spec_convert.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace packtrain::serving {
namespace {

using batching::BatchSpec;

absl::Status Unknown(const char* field, int value) {
  return absl::InvalidArgumentError(absl::StrCat(
      "spec.", field, " = ", value, " is not known to this server; it may be older than the client"));
}

absl::Status SetPolicy(v1::Policy policy, BatchSpec& spec) {
  switch (policy) {
    case v1::POLICY_UNSPECIFIED:
      return absl::InvalidArgumentError(
          "spec.policy is missing: choose static, dynamic, packed or tuple (--policy)");
    case v1::POLICY_STATIC:
      spec.policy = batching::Policy::kStatic;
      return absl::OkStatus();
    case v1::POLICY_DYNAMIC:
      spec.policy = batching::Policy::kDynamic;
      return absl::OkStatus();
    case v1::POLICY_PACKED:
      spec.policy = batching::Policy::kPacked;
      return absl::OkStatus();
    case v1::POLICY_TUPLE:
      spec.policy = batching::Policy::kTuple;
      return absl::OkStatus();
    default:
      return Unknown("policy", policy);
  }
}

absl::Status SetPad(v1::Pad pad, BatchSpec& spec) {
  switch (pad) {
    case v1::PAD_UNSPECIFIED:
      return absl::OkStatus();
    case v1::PAD_NONE:
      spec.pad = batching::Pad::kNone;
      return absl::OkStatus();
    case v1::PAD_MULTIPLE:
      spec.pad = batching::Pad::kMultiple;
      return absl::OkStatus();
    case v1::PAD_POW2:
      spec.pad = batching::Pad::kPow2;
      return absl::OkStatus();
    case v1::PAD_CONSTANT:
      spec.pad = batching::Pad::kConstant;
      return absl::OkStatus();
    case v1::PAD_LADDER:
      spec.pad = batching::Pad::kLadder;
      return absl::OkStatus();
    default:
      return Unknown("pad", pad);
  }
}

absl::Status SetOrder(v1::Order order, BatchSpec& spec) {
  switch (order) {
    case v1::ORDER_UNSPECIFIED:
    case v1::ORDER_FULL:
      spec.order = batching::Order::kFull;
      return absl::OkStatus();
    case v1::ORDER_NONE:
      spec.order = batching::Order::kNone;
      return absl::OkStatus();
    case v1::ORDER_WINDOW:
      spec.order = batching::Order::kWindow;
      return absl::OkStatus();
    default:
      return Unknown("order", order);
  }
}

absl::Status SetOversize(v1::Oversize oversize, BatchSpec& spec) {
  switch (oversize) {
    case v1::OVERSIZE_UNSPECIFIED:
    case v1::OVERSIZE_ERROR:
      spec.oversize = batching::Oversize::kError;
      return absl::OkStatus();
    case v1::OVERSIZE_ALONE:
      spec.oversize = batching::Oversize::kAlone;
      return absl::OkStatus();
    case v1::OVERSIZE_SKIP:
      spec.oversize = batching::Oversize::kSkip;
      return absl::OkStatus();
    default:
      return Unknown("oversize", oversize);
  }
}

absl::Status SetBalance(v1::Balance balance, BatchSpec& spec) {
  switch (balance) {
    case v1::BALANCE_UNSPECIFIED:
    case v1::BALANCE_NONE:
      spec.balance = batching::Balance::kNone;
      return absl::OkStatus();
    case v1::BALANCE_COST:
      spec.balance = batching::Balance::kCost;
      return absl::OkStatus();
    default:
      return Unknown("balance", balance);
  }
}

std::optional<std::uint32_t> Optional(bool present, std::uint32_t value) {
  return present ? std::optional(value) : std::nullopt;
}

}  // namespace

absl::StatusOr<BatchSpec> FromProto(const v1::BatchSpec& proto) {
  BatchSpec spec;
  if (absl::Status status = SetPolicy(proto.policy(), spec); !status.ok()) return status;
  if (absl::Status status = SetPad(proto.pad(), spec); !status.ok()) return status;
  if (absl::Status status = SetOrder(proto.order(), spec); !status.ok()) return status;
  if (absl::Status status = SetOversize(proto.oversize(), spec); !status.ok()) return status;
  if (absl::Status status = SetBalance(proto.balance(), spec); !status.ok()) return status;
  spec.rungs = Optional(proto.has_ladder_rungs(), proto.ladder_rungs());
  spec.graphs = proto.graphs();
  spec.max_graphs = Optional(proto.has_max_graphs(), proto.max_graphs());
  spec.nodes = Optional(proto.has_nodes(), proto.nodes());
  spec.edges = Optional(proto.has_edges(), proto.edges());
  spec.window = Optional(proto.has_order_window(), proto.order_window());
  spec.seed = proto.seed();
  spec.drop_last = proto.drop_last();
  spec.budget_sample = Optional(proto.has_budget_sample(), proto.budget_sample());
  if (proto.has_cost()) spec.cost = {proto.cost().graph(), proto.cost().node(), proto.cost().edge()};
  spec.lookahead = Optional(proto.has_lookahead(), proto.lookahead());
  return spec;
}

std::uint32_t WorldSizeOrDefault(std::uint32_t requested) { return std::max(requested, 1u); }

batching::World WorldOf(const v1::StreamBatchesRequest& request) {
  batching::World world{.size = WorldSizeOrDefault(request.world_size())};
  for (const v1::Segment& segment : request.segments()) {
    world.segments.push_back({segment.world_size(), segment.steps()});
  }
  return world;
}

v1::Oversize ToProto(batching::Oversize oversize) {
  switch (oversize) {
    case batching::Oversize::kError:
      return v1::OVERSIZE_ERROR;
    case batching::Oversize::kAlone:
      return v1::OVERSIZE_ALONE;
    case batching::Oversize::kSkip:
      return v1::OVERSIZE_SKIP;
  }
  return v1::OVERSIZE_UNSPECIFIED;
}

v1::Shape ToProto(const batching::Shape& shape) {
  v1::Shape proto;
  proto.set_graphs(shape.graphs);
  proto.set_nodes(shape.nodes);
  proto.set_edges(shape.edges);
  return proto;
}

}  // namespace packtrain::serving
