#include "server/serving/decoded_bytes.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>

#include "packtrain/v1/run.pb.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::serving {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::uint64_t kAny = 1 << 30;

absl::StatusOr<std::uint64_t> BytesOf(const google::protobuf::Message& message,
                                      std::uint64_t max_elements = kAny) {
  return DecodedBytes(*message.GetDescriptor(), message.SerializeAsString(), max_elements);
}

// The memory of the message once it was packed and parsed again.
std::uint64_t BytesOnceParsed(const google::protobuf::Message& message) {
  const std::unique_ptr<google::protobuf::Message> parsed(message.New());
  EXPECT_TRUE(parsed->ParseFromString(message.SerializeAsString()));
  return static_cast<std::uint64_t>(parsed->SpaceUsedLong());
}

TEST(DecodedBytesTest, IsABoundOfWhatTheMessageTakes) {
  v1::ReportStepsRequest steps;
  steps.set_run(std::string(300, 'x'));
  v1::StartRunRequest start;
  v1::ReportCorruptGraphsRequest corrupt;
  v1::ReportEventsRequest events;
  for (int k = 0; k < 1'000; ++k) {
    steps.mutable_steps()->add_step(k);
    steps.mutable_steps()->add_loss(0.5 * k);
    steps.mutable_steps()->add_flags(1);
    (*start.mutable_description()->mutable_labels())[std::to_string(k)] = "";
    events.add_events();
    corrupt.add_batches()->add_graphs(k);
  }
  for (const google::protobuf::Message* message : {static_cast<const google::protobuf::Message*>(&steps),
                                                   static_cast<const google::protobuf::Message*>(&start),
                                                   static_cast<const google::protobuf::Message*>(&events),
                                                   static_cast<const google::protobuf::Message*>(&corrupt)}) {
    const auto bytes = BytesOf(*message);
    ASSERT_THAT(bytes, IsOk());
    EXPECT_GE(*bytes, BytesOnceParsed(*message)) << message->GetTypeName();
    EXPECT_LE(*bytes, 12 * BytesOnceParsed(*message)) << message->GetTypeName();
  }
}

TEST(DecodedBytesTest, NumbersAreCountedPackedOrNot) {
  v1::StepBlock block;
  for (int k = 0; k < 10; ++k) block.add_step(1u << 3 * k);
  EXPECT_THAT(BytesOf(block, 10), IsOk());
  EXPECT_THAT(BytesOf(block, 9),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("10 values of step, at most 9")));
  const std::string unpacked("\x08\x01\x08\x02\x08\x03");  // three times field 1, a varint
  EXPECT_THAT(DecodedBytes(*block.GetDescriptor(), unpacked, 3), IsOk());
  EXPECT_THAT(DecodedBytes(*block.GetDescriptor(), unpacked, 2), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(DecodedBytesTest, UnknownFieldsCount) {
  std::string unknown;
  for (int k = 0; k < 1'000; ++k) unknown += "\xf8\x7f\x01";  // field 2047
  v1::GetRunRequest parsed;
  ASSERT_TRUE(parsed.ParseFromString(unknown));
  const auto bytes = DecodedBytes(*parsed.GetDescriptor(), unknown, kAny);
  ASSERT_THAT(bytes, IsOk());
  EXPECT_GE(*bytes, static_cast<std::uint64_t>(parsed.SpaceUsedLong()));
}

TEST(DecodedBytesTest, WhatIsCutOffOrNestedTooDeepIsNoMessage) {
  v1::ReportStepsRequest request;
  request.set_run("a run");
  request.mutable_steps()->add_step(1);
  const std::string packed = request.SerializeAsString();
  const auto bytes = [&](const std::string& text) {
    return DecodedBytes(*request.GetDescriptor(), text, kAny);
  };
  EXPECT_THAT(bytes(packed), IsOk());
  for (const std::string& wrong : {packed.substr(0, packed.size() - 1), std::string("\x0b\x0c"),
                                   std::string("\x00\x00", 2), std::string(11, '\xff')}) {
    EXPECT_THAT(bytes(wrong), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

}  // namespace
}  // namespace packtrain::serving
