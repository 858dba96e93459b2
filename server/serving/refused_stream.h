// A server-streaming call that is refused before it begins.
#ifndef PACKTRAIN_SERVER_SERVING_REFUSED_STREAM_H_
#define PACKTRAIN_SERVER_SERVING_REFUSED_STREAM_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "proto/base/status_convert.h"
#include "server/log/event_log.h"

namespace packtrain::serving {

// Ends the call with `status` and owns itself until gRPC has let go of it.
class RefusedStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  explicit RefusedStream(const absl::Status& status) { Finish(base::ToGrpcStatus(status)); }
  void OnDone() override { delete this; }
};

// Refuses it, and logs that it was refused to `peer`.
inline RefusedStream* RefuseStream(const absl::Status& status, const std::string& peer) {
  log::Log(log::Level::kInfo, "stream_refused",
           {{"peer", peer},
            {"code", absl::StatusCodeToString(status.code())},
            {"message", std::string_view(status.message().data(), status.message().size())}});
  return new RefusedStream(status);
}

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_REFUSED_STREAM_H_
