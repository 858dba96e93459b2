#include "proto/wire/batch_encoder.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "packtrain/v1/batch.pb.h"
#include "proto/base/crc32c.h"
#include "tests/proto/wire/sample_batches.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::wire {
namespace {

using packtrain::testing::EmptyBatch;
using packtrain::testing::FullBatch;
using packtrain::testing::Messages;
using packtrain::testing::PlainBatch;
using packtrain::testing::StatusIs;
using packtrain::testing::StoredBatch;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string BodyText(const PlainBatch& batch) {
  return {reinterpret_cast<const char*>(batch.body.data()), batch.body.size()};
}

v1::StreamBatchesResponse Parse(const std::string& message) {
  v1::StreamBatchesResponse part;
  EXPECT_TRUE(part.ParseFromString(message));
  return part;
}

// The bytes as lines of 32 hexadecimal digits, each message on lines of its own, a blank line behind each.
std::string HexText(const std::vector<std::string>& messages) {
  std::ostringstream text;
  text << std::hex;
  for (const std::string& message : messages) {
    for (std::size_t i = 0; i < message.size(); ++i) {
      const int byte = static_cast<unsigned char>(message[i]);
      text << (byte < 16 ? "0" : "") << byte << (i % 16 == 15 || i + 1 == message.size() ? "\n" : "");
    }
    text << "\n";
  }
  return text.str();
}

std::string Golden(const std::string& name) {
  std::ifstream file(PACKTRAIN_GOLDEN "/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(EncodeBatch, WritesTheBytesOfTheGoldenFile) {
  EXPECT_EQ(HexText(Messages(StoredBatch(DType::kU8), 512)), Golden("batch_parts.hex"));
}

TEST(EncodeBatch, WritesWhatGeneratedCodeReads) {
  const PlainBatch batch = FullBatch({3, 2});
  const std::vector<std::string> messages = Messages(batch, 1 << 20);
  ASSERT_THAT(messages, SizeIs(1));
  const v1::StreamBatchesResponse part = Parse(messages[0]);
  EXPECT_EQ(part.part(), 0u);
  EXPECT_TRUE(part.last());
  EXPECT_EQ(part.body(), BodyText(batch));
  EXPECT_EQ(part.timing().build_ns(), 1200u);
  EXPECT_EQ(part.header().index(), 7u);
  EXPECT_EQ(part.header().real().edges(), 8u);
  EXPECT_EQ(part.header().sections(3).field(), "pos");
  EXPECT_EQ(part.header().sections(3).dims(1), 3u);
  EXPECT_EQ(part.header().body_crc32c(), base::Crc32c(batch.body));
  EXPECT_TRUE(part.has_header_crc32c());
}

TEST(EncodeBatch, WritesWhatGeneratedCodeWrites) {
  for (const std::string& message : Messages(FullBatch({3, 2}), 512)) {
    EXPECT_EQ(Parse(message).SerializeAsString(), message);
  }
}

TEST(EncodeBatch, KeepsEveryPartUnderTheLimitAndCutsNothingAway) {
  const PlainBatch batch = FullBatch({29, 18, 1, 23});
  const std::size_t header_bytes = Messages(batch, 1 << 20)[0].size() - batch.body.size();
  for (std::uint32_t limit = header_bytes + 16; limit < header_bytes + 700; limit += 37) {
    std::string body;
    const std::vector<std::string> messages = Messages(batch, limit);
    for (std::size_t k = 0; k < messages.size(); ++k) {
      EXPECT_LE(messages[k].size(), limit);
      const v1::StreamBatchesResponse part = Parse(messages[k]);
      EXPECT_EQ(part.part(), k);
      EXPECT_EQ(part.last(), k + 1 == messages.size());
      EXPECT_EQ(part.has_header(), k == 0);
      EXPECT_EQ(part.has_timing(), k == 0);
      EXPECT_FALSE(part.body().empty());
      body += part.body();
    }
    EXPECT_EQ(body, BodyText(batch)) << limit;
  }
}

TEST(EncodeBatch, PointsIntoTheBodyWithoutACopy) {
  const PlainBatch batch = FullBatch({29, 29});
  const auto parts = EncodeBatch(EncodeHeader(batch.header), batch.timing, batch.body, 512);
  ASSERT_GT(parts->size(), 1u);
  EXPECT_EQ(parts->at(0).body.data(), batch.body.data());
  EXPECT_EQ(parts->at(1).body.data(), batch.body.data() + parts->at(0).body.size());
}

TEST(EncodeBatch, SendsAnEmptyBatchAsOnePartWithoutABody) {
  const std::vector<std::string> messages = Messages(EmptyBatch(), 4096);
  ASSERT_THAT(messages, SizeIs(1));
  EXPECT_TRUE(Parse(messages[0]).last());
  EXPECT_TRUE(Parse(messages[0]).header().empty());
  EXPECT_EQ(Parse(messages[0]).body(), "");
}

TEST(EncodeBatch, RefusesAMessageLimitThatTheHeaderFills) {
  const PlainBatch batch = FullBatch({3, 2});
  EXPECT_THAT(EncodeBatch(EncodeHeader(batch.header), batch.timing, batch.body, 64),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_message_bytes is 64")));
}

}  // namespace
}  // namespace packtrain::wire
