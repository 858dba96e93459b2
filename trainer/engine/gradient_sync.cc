#include "trainer/engine/gradient_sync.h"

#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trainer/engine/status_words.h"

namespace packtrain::trainer {
namespace {

class AloneSync final : public GradientSync {
 public:
  explicit AloneSync(World world) : world_(std::move(world)) {}

  const World& world() const override { return world_; }
  absl::Status Sum(at::Tensor) override { return absl::OkStatus(); }
  absl::StatusOr<std::string> Share(const std::string&, const std::string& value) override { return value; }
  absl::Status Barrier() override { return absl::OkStatus(); }
  void Leave(const absl::Status&) override {}

 private:
  const World world_;
};

// The first line of a Torch exception, without its stack.
std::string LeaveKey(std::uint32_t rank) { return absl::StrCat("left/", rank); }

class GlooSync final : public GradientSync {
 public:
  GlooSync(World world, std::chrono::milliseconds roll_call, c10::intrusive_ptr<c10d::Store> store,
           c10::intrusive_ptr<c10d::ProcessGroupGloo> group)
      : world_(std::move(world)), roll_call_(roll_call), store_(std::move(store)), group_(std::move(group)) {}

  const World& world() const override { return world_; }

  absl::Status Sum(at::Tensor tensor) override {
    return Collective([&] {
      std::vector<at::Tensor> tensors = {tensor};
      group_->allreduce(tensors)->wait();
    });
  }

  absl::StatusOr<std::string> Share(const std::string& name, const std::string& value) override {
    const std::string key = absl::StrCat("shared/", name);
    std::string shared = value;
    absl::Status status = Collective([&] {
      if (world_.rank == 0) {
        store_->set(key, value);
      } else {
        shared = store_->get_to_str(key);
      }
    });
    if (!status.ok()) return status;
    return shared;
  }

  absl::Status Barrier() override {
    return Collective([&] { group_->barrier()->wait(); });
  }

  void Leave(const absl::Status& reason) override {
    if (diagnosed_) return;
    try {
      store_->set(LeaveKey(world_.rank), std::string(reason.message()));
      group_.reset();  // lets ranks that wait for this one fail at once
      if (world_.rank == 0) CallRoll();
    } catch (const std::exception&) {
      // Rank 0 is gone, so there is nobody to tell.
    }
  }

 private:
  template <typename Body>
  absl::Status Collective(Body body) {
    if (group_ == nullptr) return absl::AbortedError("the ranks have lost each other");
    try {
      body();
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return Diagnose(FirstLine(error));
    }
  }

  // Finds out which rank is the cause of a failed collective.
  absl::Status Diagnose(const std::string& failure) {
    diagnosed_ = true;
    try {
      store_->set(LeaveKey(world_.rank), "");
      group_.reset();
      const std::vector<std::string> causes = CallRoll();
      if (causes.empty()) return absl::AbortedError(absl::StrCat("the ranks lost each other: ", failure));
      return absl::AbortedError(absl::StrJoin(causes, "; "));
    } catch (const std::exception&) {
      return absl::AbortedError("rank 0 is gone");
    }
  }

  // What is known of the ranks that failed or do not answer. Ranks that only met the failure leave an empty
  // word.
  std::vector<std::string> CallRoll() {
    std::vector<std::string> causes;
    for (std::uint32_t rank = 0; rank < world_.size; ++rank) {
      if (rank == world_.rank) continue;
      if (!HasLeft(rank)) {
        causes.push_back(absl::StrCat("rank ", rank, " is gone or does not answer"));
      } else if (const std::string word = store_->get_to_str(LeaveKey(rank)); !word.empty()) {
        causes.push_back(absl::StrCat("rank ", rank, " failed: ", word));
      }
    }
    return causes;
  }

  bool HasLeft(std::uint32_t rank) {
    try {
      store_->wait({LeaveKey(rank)}, roll_call_);
      return true;
    } catch (const c10::DistStoreError&) {
      return false;
    }
  }

  const World world_;
  const std::chrono::milliseconds roll_call_;
  const c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;  // null once this rank goes
  bool diagnosed_ = false;                            // the others know that this rank goes
};

// The network that the ranks use among themselves: GLOO_SOCKET_IFNAME, else loopback where rank 0 is reached by
// it, else the one that this host's name resolves to.
std::shared_ptr<gloo::transport::Device> NetworkDevice(const World& world) {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME")) {
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  }
  if (world.master_address == "localhost" || world.master_address.starts_with("127.")) {
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  }
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

std::unique_ptr<GradientSync> ConnectGloo(const World& world, const SyncOptions& sync_options) {
  c10d::TCPStoreOptions store_options;
  store_options.port = world.master_port;
  store_options.isServer = world.rank == 0;
  store_options.numWorkers = world.size;
  store_options.timeout = sync_options.timeout;
  auto store = c10::make_intrusive<c10d::TCPStore>(world.master_address, store_options);

  auto options = c10d::ProcessGroupGloo::Options::create(sync_options.timeout);
  options->devices.push_back(NetworkDevice(world));
  auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(
      c10::make_intrusive<c10d::PrefixStore>("gloo", store), world.rank, world.size, options);
  return std::make_unique<GlooSync>(world, sync_options.roll_call, std::move(store), std::move(group));
}

}  // namespace

absl::StatusOr<std::unique_ptr<GradientSync>> GradientSync::Connect(const World& world,
                                                                    const SyncOptions& options) {
  if (world.size == 1) return std::make_unique<AloneSync>(world);
  try {
    return ConnectGloo(world, options);
  } catch (const std::exception& error) {
    return absl::DeadlineExceededError(absl::StrCat("rank ", world.rank, " of ", world.size,
                                                    " did not meet the others at ", world.master_address, ":",
                                                    world.master_port, ": ", FirstLine(error)));
  }
}

// As a sum in which each rank's part is zero on all others.
absl::StatusOr<std::vector<std::string>> GradientSync::Gather(const std::string& bytes) {
  const at::Tensor sizes = at::zeros({world().size}, at::kLong);
  sizes[world().rank].fill_(static_cast<std::int64_t>(bytes.size()));
  if (absl::Status status = Sum(sizes); !status.ok()) return status;
  const at::Tensor all = at::zeros({sizes.sum().item<std::int64_t>()}, at::kByte);
  const std::int64_t offset = sizes.narrow(0, 0, world().rank).sum().item<std::int64_t>();
  std::copy(bytes.begin(), bytes.end(), all.mutable_data_ptr<std::uint8_t>() + offset);
  if (all.numel() > 0) {
    if (absl::Status status = Sum(all); !status.ok()) return status;
  }
  std::vector<std::string> parts;
  const auto* part = reinterpret_cast<const char*>(all.const_data_ptr<std::uint8_t>());
  for (std::uint32_t rank = 0; rank < world().size; ++rank) {
    parts.emplace_back(part, sizes[rank].item<std::int64_t>());
    part += parts.back().size();
  }
  return parts;
}

absl::Status GradientSync::Agree(const std::string& name, const std::string& value) {
  const absl::StatusOr<std::string> shared = Share(name, value);
  if (!shared.ok()) return shared.status();
  if (*shared == value) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the ranks differ in ", name, ": here '", value, "', on rank 0 '", *shared, "'"));
}

}  // namespace packtrain::trainer
