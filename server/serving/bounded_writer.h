// The one way to write a listing: ListSteps, ExportDataset and Fsck.
#ifndef PACKTRAIN_SERVER_SERVING_BOUNDED_WRITER_H_
#define PACKTRAIN_SERVER_SERVING_BOUNDED_WRITER_H_

#include <grpcpp/server_context.h>

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "server/serving/idle_watch.h"
#include "server/serving/packed_call.h"

namespace packtrain::serving {

// Writes the messages of one call, each once gRPC has taken the one before, so that a client that reads slowly
// slows the listing down and makes it hold no more than a message and the connection's window. The call ends,
// and Write says so, when the client cancels it, loses its connection, lets its deadline pass, or leaves a
// message unread for the limit of the idle watch, and when the server has a reason to end it. Used by the
// call's thread.
//
//   BoundedWriter<v1::ListStepsResponse> out(*context, writer, idle_);
//   return runs::ListSteps(store_, *request, [&](const auto& block) { return out.Write(block); });
template <typename Response>
class BoundedWriter {
 public:
  // Whether the server goes on with such calls; any other status ends the call.
  using GoesOn = std::function<absl::Status()>;

  // `context`, `writer` and `idle` are borrowed.
  BoundedWriter(grpc::ServerContext& context, PackedWriter<Response>& writer, IdleWatch& idle,
                GoesOn goes_on = absl::OkStatus)
      : writer_(writer), goes_on_(std::move(goes_on)), unread_(idle, [&context] { context.TryCancel(); }) {}

  // Blocks while the client does not read. CANCELLED: the call has ended. Otherwise the server's reason.
  absl::Status Write(const Response& message) {
    unread_.BeginWait();
    const bool written = writer_.Write(message);
    unread_.EndWait();
    return written ? goes_on_() : absl::CancelledError("the client went away");
  }

 private:
  PackedWriter<Response>& writer_;
  const GoesOn goes_on_;
  IdleWatch::Call unread_;
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_BOUNDED_WRITER_H_
