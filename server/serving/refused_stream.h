// A server-streaming call that is refused before it begins.
#ifndef PACKTRAIN_SERVER_SERVING_REFUSED_STREAM_H_
#define PACKTRAIN_SERVER_SERVING_REFUSED_STREAM_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/status/status.h"
#include "proto/base/status_convert.h"

namespace packtrain::serving {

// Ends the call with `status` and owns itself until gRPC has let go of it.
class RefusedStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  explicit RefusedStream(const absl::Status& status) { Finish(base::ToGrpcStatus(status)); }
  void OnDone() override { delete this; }
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_REFUSED_STREAM_H_
