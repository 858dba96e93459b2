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

std::string Sent(const std::string& message) {
  return ToGrpcStatus(absl::InvalidArgumentError(message)).error_message();
}

TEST(StatusConvert, KeepsAMessageThatMetadataTakes) {
  EXPECT_EQ(Sent(std::string(1024, 'x')), std::string(1024, 'x'));
}

TEST(StatusConvert, CutsALongerMessage) {
  EXPECT_EQ(Sent(std::string(1025, 'x')), std::string(1021, 'x') + "...");
  EXPECT_EQ(Sent(std::string(100'000, '\x01')), std::string(1021, '\x01') + "...");
}

TEST(StatusConvert, CutsBetweenCharacters) {
  std::string text;
  while (text.size() < 2000) text += "\xe2\x82\xac";  // the euro sign
  EXPECT_EQ(Sent("ab" + text), "ab" + text.substr(0, 339 * 3) + "...");
  EXPECT_EQ(Sent(text), text.substr(0, 340 * 3) + "...");
}

TEST(StatusConvert, MakesUnknownOfCodesThatGrpcDoesNotHave) {
  for (int code : {17, 31, -1}) {  // what an object of the enumeration may hold
    const absl::Status status = FromGrpcStatus(grpc::Status(static_cast<grpc::StatusCode>(code), "odd"));
    EXPECT_EQ(status, absl::UnknownError("odd")) << code;
  }
}

TEST(StatusConvert, AFailureWithoutAMessageGetsOne) {
  const absl::Status status = FromGrpcStatus(grpc::Status(grpc::StatusCode::INTERNAL, ""));
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_NE(status.message().find("UTF-8"), std::string::npos) << status;
}

}  // namespace
}  // namespace packtrain::wire
