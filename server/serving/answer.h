// How a call is answered.
#ifndef PACKTRAIN_SERVER_SERVING_ANSWER_H_
#define PACKTRAIN_SERVER_SERVING_ANSWER_H_

#include <grpcpp/support/status.h>

#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/status_convert.h"

namespace packtrain::serving {

// Moves a result into the response, or converts its status.
template <typename Response>
grpc::Status Answer(absl::StatusOr<Response> result, Response* response) {
  if (!result.ok()) return base::ToGrpcStatus(result.status());
  *response = *std::move(result);
  return grpc::Status::OK;
}

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_ANSWER_H_
