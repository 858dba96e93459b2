#include "trainer/ranks/gloo_sync.h"

#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/ranks/peer_status.h"
#include "trainer/ranks/rank_errors.h"
#include "trainer/ranks/store_rendezvous.h"

namespace packtrain::trainer {
namespace {

// OK: no two ranks have the same card, and each has one.
absl::Status CheckCards(const std::vector<std::string>& cards) {
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    if (cards[rank].empty()) {
      return absl::FailedPreconditionError(absl::StrCat("rank ", rank, " sums its gradients on the host"));
    }
    for (std::size_t other = 0; other < rank; ++other) {
      if (cards[other] != cards[rank]) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("ranks ", other, " and ", rank, " share a card, so gradients are summed on the host"));
    }
  }
  return absl::OkStatus();
}

class GlooSync final : public GradientSync {
 public:
  GlooSync(World world, SyncOptions options, c10::intrusive_ptr<c10d::Store> store,
           c10::intrusive_ptr<c10d::ProcessGroupGloo> group)
      : world_(std::move(world)),
        options_(std::move(options)),
        store_(std::move(store)),
        peer_status_(store_, world_, options_.watch.peer_timeout),
        group_(std::move(group)),
        device_sums_(absl::FailedPreconditionError("the ranks' devices have not met")) {}

  const World& world() const override { return world_; }
  absl::Status device_sums() const override { return device_sums_; }

  absl::Status JoinDevices(const CommunicatorMaker* maker) override {
    ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> cards, Gather(maker == nullptr ? "" : maker->card()));
    device_sums_ = CheckCards(cards);
    if (!device_sums_.ok()) return absl::OkStatus();
    StartWatch();
    const absl::StatusOr<std::string> made = world_.rank == 0 ? maker->NewToken() : "";
    ABSL_RETURN_IF_ERROR(AllSucceed(made.status()));
    ABSL_ASSIGN_OR_RETURN(const std::string token, Share(*made));
    ABSL_ASSIGN_OR_RETURN(communicator_, maker->Connect(token, world_));
    watched_ = communicator_.get();
    return CheckRanks();
  }

  absl::Status Sum(at::Tensor tensor) override {
    return Collective([&] {
      std::vector<at::Tensor> tensors = {tensor};
      group_->allreduce(tensors)->wait();
    });
  }

  absl::Status SumOnDevice(at::Tensor tensor) override {
    if (communicator_ == nullptr) return SumOnHost(tensor);
    ABSL_RETURN_IF_ERROR(CheckRanks());
    const absl::Status status = communicator_->Sum(tensor);
    return status.ok() ? status : Diagnose(std::string(status.message()));
  }

  absl::Status Barrier() override {
    return Collective([&] { group_->barrier()->wait(); });
  }

  absl::Status CheckRanks() const override {
    if (!lost_.ok() || watch_ == nullptr) return lost_;
    return watch_->status();
  }

  void Leave(const absl::Status& reason) override {
    if (!CheckRanks().ok()) return;  // the others know that this rank goes
    const absl::Status told = peer_status_.Leave(std::string(reason.message()));
    lost_ = reason;
    group_.reset();
    if (watch_ != nullptr) watch_->Abandon(reason);
    // Where the ranks meet.
    if (told.ok() && world_.rank == 0) peer_status_.AwaitOthers().IgnoreError();
  }

 private:
  template <typename Body>
  absl::Status Collective(Body body) {
    ABSL_RETURN_IF_ERROR(CheckRanks());
    try {
      body();
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return Diagnose(FirstLine(error));
    }
  }

  absl::Status SumOnHost(at::Tensor tensor) {
    if (tensor.is_cpu()) return Sum(std::move(tensor));
    const at::Tensor host = tensor.cpu();
    ABSL_RETURN_IF_ERROR(Sum(host));
    tensor.copy_(host);
    return absl::OkStatus();
  }

  // Finds out which rank is the cause of a failed collective. Ranks that wait for this one fail at once, as its
  // part of the group is gone.
  absl::Status Diagnose(const std::string& failure) {
    group_.reset();
    lost_ = CheckRanks();
    if (lost_.ok()) lost_ = peer_status_.Diagnose(failure);
    if (watch_ != nullptr) watch_->Abandon(lost_);
    return lost_;
  }

  // Before the communicator: its ranks wait for each other without limit.
  void StartWatch() {
    watch_ = std::make_unique<RankWatch>(
        store_->clone(), world_, options_.watch,
        WatchActions{.abort = [this] { Abort(); }, .end_process = options_.end_process});
  }

  void Abort() {
    if (Communicator* communicator = watched_) communicator->Abort();
  }

  const World world_;
  const SyncOptions options_;
  const c10::intrusive_ptr<c10d::Store> store_;
  PeerStatus peer_status_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;  // null once a rank is lost
  absl::Status lost_;                                 // what this thread has found out; OK: nothing
  absl::Status device_sums_;
  std::unique_ptr<Communicator> communicator_;  // null: sums of devices are made on the host
  std::atomic<Communicator*> watched_ = nullptr;
  std::unique_ptr<RankWatch> watch_;  // last: it uses all of the above
};

constexpr char kInterfaceVariable[] = "GLOO_SOCKET_IFNAME";

// The network that the ranks use among themselves: GLOO_SOCKET_IFNAME, else loopback where rank 0 is reached by
// it, else the one that this host's name resolves to. Throws where there is none.
std::shared_ptr<gloo::transport::Device> NetworkDevice(const World& world) {
  if (const char* interface = std::getenv(kInterfaceVariable)) {
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  }
  if (world.master_address == "localhost" || world.master_address.starts_with("127.")) {
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  }
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

// FAILED_PRECONDITION: there is no such network on this host.
absl::StatusOr<std::shared_ptr<gloo::transport::Device>> OpenNetworkDevice(const World& world) {
  try {
    return NetworkDevice(world);
  } catch (const std::exception& error) {
    const char* interface = std::getenv(kInterfaceVariable);
    const std::string network = interface == nullptr
                                    ? absl::StrCat("the host's name, without ", kInterfaceVariable)
                                    : absl::StrCat(kInterfaceVariable, " '", interface, "'");
    return absl::FailedPreconditionError(
        absl::StrCat("no network for the ranks by ", network, ": ", FirstLine(error)));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<GradientSync>> ConnectGloo(const World& world, const SyncOptions& sync_options,
                                                          Meeting& meeting) {
  meeting.Await("the network of this host");
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<gloo::transport::Device> device, OpenNetworkDevice(world));
  ABSL_ASSIGN_OR_RETURN(c10::intrusive_ptr<c10d::Store> store,
                        RendezvousAtStore(world, sync_options.resolve_timeout, meeting));
  meeting.Await("connections of Gloo among the ranks, which have joined");
  auto options = c10d::ProcessGroupGloo::Options::create(TimeUntil(meeting.deadline()));
  options->devices.push_back(std::move(device));
  auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(
      c10::make_intrusive<c10d::PrefixStore>("gloo", store), world.rank, world.size, options);
  store->setTimeout(sync_options.timeout);
  group->setTimeout(sync_options.timeout);
  return std::make_unique<GlooSync>(world, sync_options, std::move(store), std::move(group));
}

}  // namespace packtrain::trainer
