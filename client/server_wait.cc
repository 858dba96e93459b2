#include "client/server_wait.h"

#include <utility>

#include "client/internal/retry.h"
#include "client/internal/stop_signal.h"

namespace packtrain::client {

struct ServerWait::State {
  explicit State(ConnectionOptions from) : options(std::move(from)) {}

  const ConnectionOptions options;
  StopSignal never_stopped;
  Retry retry{options, never_stopped};
};

ServerWait::ServerWait(ConnectionOptions options) : state_(std::make_unique<State>(std::move(options))) {}
ServerWait::~ServerWait() = default;

absl::Status ServerWait::After(const absl::Status& failure) { return state_->retry.WaitAfter(failure); }

}  // namespace packtrain::client
