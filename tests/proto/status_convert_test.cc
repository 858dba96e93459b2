#include "proto/wire/status_convert.h"

#include <gtest/gtest.h>

namespace packtrain::wire {
namespace {

TEST(StatusConvert, KeepsEveryCodeAndItsMessage) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "what went wrong");
    const grpc::Status there = ToGrpcStatus(status);
    EXPECT_EQ(static_cast<int>(there.error_code()), code);
    EXPECT_EQ(there.error_message(), "what went wrong");
    EXPECT_EQ(FromGrpcStatus(there), status);
  }
}

TEST(StatusConvert, KeepsOk) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_TRUE(FromGrpcStatus(grpc::Status::OK).ok());
}

TEST(StatusConvert, MakesUnknownOfCodesThatGrpcDoesNotHave) {
  for (int code : {17, 99, -1}) {
    const absl::Status status = FromGrpcStatus(grpc::Status(static_cast<grpc::StatusCode>(code), "odd"));
    EXPECT_EQ(status, absl::UnknownError("odd")) << code;
  }
}

}  // namespace
}  // namespace packtrain::wire
