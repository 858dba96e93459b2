#include "proto/base/status_convert.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/cord.h"
#include "google/rpc/error_details.pb.h"
#include "proto/base/error_details.h"

namespace packtrain::base {
namespace {

TEST(StatusConvert, KeepsEveryCodeAndItsMessage) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "what went wrong");
    const grpc::Status there = ToGrpcStatus(status);
    EXPECT_EQ(static_cast<int>(there.error_code()), code);
    EXPECT_EQ(there.error_message(), "what went wrong");
    const absl::Status here = FromGrpcStatus(there);
    EXPECT_EQ(here.code(), status.code());
    EXPECT_EQ(here.message(), status.message());
  }
}

google::rpc::ErrorInfo InfoOf(const absl::Status& status) {
  google::rpc::ErrorInfo info;
  const auto payload = status.GetPayload(kErrorInfoUrl);
  EXPECT_TRUE(payload.has_value() && info.ParseFromString(std::string(*payload))) << status;
  return info;
}

TEST(StatusConvert, DetailsPass) {
  const absl::Status status = WithField(
      WithReason(absl::InvalidArgumentError("rank 5 is not below 4"), "RANK_RANGE", {{"world_size", "4"}}),
      "rank");
  const absl::Status here = FromGrpcStatus(ToGrpcStatus(status));
  EXPECT_EQ(here, status);
  EXPECT_EQ(InfoOf(here).reason(), "RANK_RANGE");
  EXPECT_EQ(InfoOf(here).domain(), "packtrain");
  EXPECT_EQ(InfoOf(here).metadata().at("world_size"), "4");
  google::rpc::BadRequest request;
  ASSERT_TRUE(request.ParseFromString(std::string(*here.GetPayload(kBadRequestUrl))));
  ASSERT_EQ(request.field_violations_size(), 1);
  EXPECT_EQ(request.field_violations(0).field(), "rank");
  EXPECT_EQ(request.field_violations(0).description(), "rank 5 is not below 4");
}

TEST(StatusConvert, AFailureWithoutAReasonGetsThatOfItsCode) {
  EXPECT_EQ(InfoOf(FromGrpcStatus(ToGrpcStatus(absl::DataLossError("damaged")))).reason(), "DATA_LOSS");
}

TEST(StatusConvert, DetailsStayWithinWhatMetadataTakes) {
  absl::Status status = absl::InvalidArgumentError(std::string(5000, 'x'));
  for (int k = 0; k < 100; ++k)
    status.SetPayload("type/" + std::to_string(k), absl::Cord(std::string(1000, 'y')));
  status.SetPayload("type/large", absl::Cord(std::string(1 << 20, 'z')));
  const grpc::Status there = ToGrpcStatus(status);
  // In base64, beside the message, percent-encoded.
  EXPECT_LE(there.error_details().size() * 4 / 3 + 3 * there.error_message().size(), 8000);
  EXPECT_FALSE(FromGrpcStatus(there).ok());
}

TEST(StatusConvert, DetailsThatAreNoneAreLeftOut) {
  const grpc::Status there(grpc::StatusCode::NOT_FOUND, "none", "\xff\xff no google.rpc.Status");
  EXPECT_EQ(FromGrpcStatus(there), absl::NotFoundError("none"));
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
}  // namespace packtrain::base
