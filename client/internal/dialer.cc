#include "client/internal/dialer.h"

#include <grpcpp/channel.h>

#include <chrono>
#include <utility>

namespace packtrain::client {
namespace {

// Between two looks at the channel, which cost next to nothing; an end waits no longer.
constexpr std::chrono::milliseconds kLook{50};

}  // namespace

Dialer::Dialer(std::shared_ptr<grpc::Channel> channel)
    : channel_(std::move(channel)), thread_([this] { Dial(); }) {}

Dialer::~Dialer() {
  stop_.Stop();
  thread_.join();
}

void Dialer::Dial() {
  while (!stop_.stopped()) {
    const grpc_connectivity_state state = channel_->GetState(/*try_to_connect=*/true);
    if (state == GRPC_CHANNEL_READY) {
      stop_.WaitFor(kLook);
    } else {
      channel_->WaitForStateChange(state, std::chrono::system_clock::now() + kLook);
    }
  }
}

}  // namespace packtrain::client
