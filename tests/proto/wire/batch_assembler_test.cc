#include "proto/wire/batch_assembler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "absl/strings/escaping.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/base/crc32c.h"
#include "proto/wire/header_convert.h"
#include "tests/proto/wire/sample_batches.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::wire {
namespace {

using packtrain::testing::EmptyBatch;
using packtrain::testing::FullBatch;
using packtrain::testing::IsOk;
using packtrain::testing::Messages;
using packtrain::testing::PlainBatch;
using packtrain::testing::StatusIs;
using packtrain::testing::StoredBatch;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kLimit = 1 << 20;

using Result = absl::StatusOr<std::optional<Batch>>;

// Copies of the pieces of a message, each in memory of its own, so that reading past one is seen by the
// address sanitizer; the first piece starts at an odd address.
class Pieces {
 public:
  Pieces(const std::string& message, std::size_t piece_bytes) {
    const auto bytes = std::as_bytes(std::span(message));
    for (std::size_t at = 0; at < bytes.size(); at += piece_bytes) {
      const auto piece = bytes.subspan(at, std::min(piece_bytes, bytes.size() - at));
      memory_.emplace_back(1 + piece.size());
      std::copy(piece.begin(), piece.end(), memory_.back().begin() + 1);
    }
    for (const auto& memory : memory_) fragments_.push_back(Fragment(memory).subspan(1));
  }
  std::span<const Fragment> fragments() const { return fragments_; }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<Fragment> fragments_;
};

Result Add(BatchAssembler& assembler, const std::string& message, std::size_t piece_bytes = 1000) {
  return assembler.Add(Pieces(message, piece_bytes).fragments());
}

// The batch of these messages, nullopt where more are needed, or the first error.
Result Assemble(const std::vector<std::string>& messages, std::size_t piece_bytes = 1000) {
  BatchAssembler assembler(kLimit);
  Result result = std::nullopt;
  for (const std::string& message : messages) {
    result = Add(assembler, message, piece_bytes);
    if (!result.ok()) return result;
  }
  return result;
}

bool Equals(const Batch& batch, const PlainBatch& sent) {
  return ToMessage(batch.header()).SerializeAsString() == ToMessage(sent.header).SerializeAsString() &&
         std::equal(batch.body().begin(), batch.body().end(), sent.body.begin(), sent.body.end());
}

void ExpectArrives(const PlainBatch& sent, std::uint32_t max_message_bytes, std::size_t piece_bytes) {
  const Result result = Assemble(Messages(sent, max_message_bytes), piece_bytes);
  ASSERT_THAT(result, IsOk());
  ASSERT_TRUE(result->has_value());
  EXPECT_TRUE(Equals(**result, sent)) << "pieces of " << piece_bytes << " bytes";
}

TEST(BatchAssembler, GivesTheBatchThatWasSent) {
  ExpectArrives(FullBatch({3, 1, 29}), kLimit, 1 << 20);
  ExpectArrives(StoredBatch(DType::kU8), kLimit, 1 << 20);
  ExpectArrives(EmptyBatch(), kLimit, 1 << 20);
}

TEST(BatchAssembler, ReadsTheGoldenParts) {
  std::ifstream file(PACKTRAIN_GOLDEN "/batch_parts.hex");
  std::vector<std::string> messages(1);
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) messages.emplace_back();
    messages.back() += absl::HexStringToBytes(line);
  }
  messages.pop_back();
  const Result result = Assemble(messages);
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(Equals(**result, StoredBatch(DType::kU8)));
}

TEST(BatchAssembler, GivesTheTimingThatWasSent) {
  const Result result = Assemble(Messages(FullBatch({2}), kLimit));
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ((*result)->timing().build_ns, 1200u);
  EXPECT_EQ((*result)->timing().queue_ns, 34u);
}

TEST(BatchAssembler, GivesTheGraphsThatWereLeftOut) {
  PlainBatch sent = StoredBatch(DType::kU8);
  sent.header.padded.graphs = 6;
  sent.header.corrupt_graphs = {7, std::uint64_t{1} << 40};
  const Result result = Assemble(Messages(sent, kLimit));
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ((*result)->header().corrupt_graphs, sent.header.corrupt_graphs);
}

TEST(BatchAssembler, TakesMessagesCutAnywhere) {
  const PlainBatch sent = StoredBatch(DType::kU16);
  for (std::size_t piece_bytes = 1; piece_bytes < 90; ++piece_bytes) ExpectArrives(sent, 512, piece_bytes);
}

TEST(BatchAssembler, TakesEmptyFragments) {
  const std::string message = Messages(FullBatch({2}), kLimit)[0];
  const auto bytes = std::as_bytes(std::span(message));
  const std::vector<Fragment> fragments{{}, bytes.first(9), {}, {}, bytes.subspan(9), {}};
  EXPECT_THAT(BatchAssembler(kLimit).Add(fragments), IsOk());
}

TEST(BatchAssembler, AlignsTheBody) {
  const Result result = Assemble(Messages(FullBatch({3}), kLimit), 77);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*result)->body().data()) % kSectionAlignment, 0u);
  EXPECT_THAT(*(*result)->Elements<double>("y"), ElementsAre(-76.25));
}

TEST(BatchAssembler, TakesBatchAfterBatch) {
  BatchAssembler assembler(kLimit);
  for (std::uint32_t n = 1; n < 5; ++n) {
    const PlainBatch sent = FullBatch({n, 20});
    for (const std::string& message : Messages(sent, 512)) {
      const Result result = Add(assembler, message);
      ASSERT_THAT(result, IsOk());
      EXPECT_EQ(assembler.idle(), result->has_value());
      if (result->has_value()) {
        EXPECT_TRUE(Equals(**result, sent));
      }
    }
    EXPECT_TRUE(assembler.idle());
  }
}

TEST(BatchAssembler, SkipsFieldsItDoesNotKnow) {
  // Field 9, varint 5; field 10, three bytes; field 12, a group with a fixed64 in it.
  const std::string unknown(
      "\x48\x05\x52\x03zzz\x63\x49"
      "12345678"
      "\x64",
      18);
  const PlainBatch sent = FullBatch({3});
  const Result result = Assemble({unknown + Messages(sent, kLimit)[0]}, 5);
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(Equals(**result, sent));
}

void ExpectDataLoss(const std::vector<std::string>& messages, const std::string& message) {
  EXPECT_THAT(Assemble(messages), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(message)));
}

TEST(BatchAssembler, RefusesPartsOutOfOrder) {
  const std::vector<std::string> parts = Messages(FullBatch({29, 29}), 512);
  ASSERT_GT(parts.size(), 2u);
  ExpectDataLoss({parts[1]}, "the first part of a batch has no header");
  ExpectDataLoss({parts[0], parts[2]}, "part 2 where part 1 is due");
  ExpectDataLoss({parts[0], parts[1], parts[1]}, "part 1 where part 2 is due");
  ExpectDataLoss({parts[0], parts[0]}, "a header in part 1");
}

// One part as a message, to be damaged field by field.
std::vector<v1::StreamBatchesResponse> Parsed(const std::vector<std::string>& messages) {
  std::vector<v1::StreamBatchesResponse> parts(messages.size());
  for (std::size_t k = 0; k < messages.size(); ++k) EXPECT_TRUE(parts[k].ParseFromString(messages[k]));
  return parts;
}

std::vector<std::string> Serialized(const std::vector<v1::StreamBatchesResponse>& parts) {
  std::vector<std::string> messages;
  for (const v1::StreamBatchesResponse& part : parts) messages.push_back(part.SerializeAsString());
  return messages;
}

TEST(BatchAssembler, RefusesTooManyAndTooFewBytes) {
  auto parts = Parsed(Messages(FullBatch({29, 29}), 512));
  parts.back().mutable_body()->push_back('x');
  ExpectDataLoss(Serialized(parts), "bytes, ");
  parts.back().mutable_body()->resize(1);
  ExpectDataLoss(Serialized(parts), "is the last, with 1 bytes of");
}

TEST(BatchAssembler, RefusesALastPartThatDoesNotSaySo) {
  auto parts = Parsed(Messages(FullBatch({29, 29}), 512));
  parts.back().set_last(false);
  ExpectDataLoss(Serialized(parts), "is not the last");
}

TEST(BatchAssembler, RefusesAPartWithoutBytes) {
  auto parts = Parsed(Messages(FullBatch({29, 29}), 512));
  parts[1].clear_body();
  ExpectDataLoss(Serialized(parts), "part 1 brings no bytes");
}

TEST(BatchAssembler, RefusesFieldsBehindTheBody) {
  ExpectDataLoss({Messages(FullBatch({3}), kLimit)[0] + "\x20\x01"}, "bytes follow");
}

TEST(BatchAssembler, RefusesADamagedBody) {
  auto parts = Parsed(Messages(FullBatch({3}), kLimit));
  parts[0].mutable_body()->back() ^= 1;
  ExpectDataLoss(Serialized(parts), "batch 7 of epoch 2: the body does not match its CRC32C");
}

TEST(BatchAssembler, CountsTheBodiesThatItHeldAgainstTheirChecksums) {
  BatchAssembler assembler(kLimit);
  for (std::uint64_t batches = 0; batches < 3; ++batches) {
    EXPECT_EQ(assembler.body_checks(), batches);
    for (const std::string& message : Messages(FullBatch({3}), kLimit))
      EXPECT_THAT(Add(assembler, message), IsOk());
  }
  auto parts = Parsed(Messages(FullBatch({3}), kLimit));
  parts[0].mutable_body()->back() ^= 1;
  EXPECT_FALSE(Add(assembler, parts[0].SerializeAsString()).ok());
  EXPECT_EQ(assembler.body_checks(), 4);
  parts[0].clear_header_crc32c();
  EXPECT_FALSE(Add(assembler, parts[0].SerializeAsString()).ok());
  EXPECT_EQ(assembler.body_checks(), 4);
}

TEST(BatchAssembler, RefusesADamagedHeader) {
  auto parts = Parsed(Messages(FullBatch({3}), kLimit));
  parts[0].mutable_header()->set_oversize(true);
  ExpectDataLoss(Serialized(parts), "the header does not match its CRC32C");
  parts[0].clear_header_crc32c();
  ExpectDataLoss(Serialized(parts), "the header does not match its CRC32C");
}

// Messages whose header is as `change` makes it and whose checksum is right.
std::vector<std::string> WithHeader(void (*change)(v1::BatchHeader&)) {
  auto parts = Parsed(Messages(StoredBatch(DType::kU8), kLimit));
  change(*parts[0].mutable_header());
  const std::string header = parts[0].header().SerializeAsString();
  parts[0].set_header_crc32c(base::Crc32c(std::as_bytes(std::span(header))));
  return Serialized(parts);
}

TEST(BatchAssembler, RefusesWordsItDoesNotKnow) {
  ExpectDataLoss(WithHeader([](v1::BatchHeader& h) { h.set_edge_rule(static_cast<v1::EdgeRule>(9)); }),
                 "unknown edge rule 9");
  ExpectDataLoss(WithHeader([](v1::BatchHeader& h) { h.clear_edge_rule(); }), "unknown edge rule 0");
  ExpectDataLoss(WithHeader([](v1::BatchHeader& h) {
                   h.mutable_sections(2)->set_data_type(static_cast<v1::DataType>(300));
                 }),
                 "section \"n_edge\" has the unknown data type 300");
  ExpectDataLoss(WithHeader([](v1::BatchHeader& h) { h.mutable_sections(2)->clear_data_type(); }),
                 "section \"n_edge\" has the unknown data type 0");
  ExpectDataLoss(WithHeader([](v1::BatchHeader& h) { h.mutable_sections(2)->clear_encoding(); }),
                 "section \"n_edge\" has the unknown encoding 0");
}

TEST(BatchAssembler, ChecksTheHeaderBeforeItTakesMemory) {
  ExpectDataLoss(WithHeader([](v1::BatchHeader& h) { h.mutable_sections(1)->set_size_bytes(11); }),
                 "takes 11 bytes, its dimensions 12");
  EXPECT_THAT(Assemble(WithHeader([](v1::BatchHeader& h) { h.set_body_bytes(~0ull); })),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("above the limit of 1048576")));
}

TEST(BatchAssembler, ChecksTheContent) {
  PlainBatch batch = StoredBatch(DType::kU8);
  batch.Set("senders", 0, std::uint8_t{4});
  ExpectDataLoss(Messages(batch, kLimit), "graph 0 has an edge at node 4 of 4 nodes");
}

TEST(BatchAssembler, RefusesAGraphThatIsInTheBatchAndLeftOut) {
  PlainBatch sent = StoredBatch(DType::kU8);
  sent.header.corrupt_graphs = {1000};
  ExpectDataLoss(Messages(sent, kLimit), "graph 1000 is in it");
}

TEST(BatchAssembler, StartsAfreshAfterAnError) {
  const PlainBatch sent = FullBatch({29, 29});
  const std::vector<std::string> parts = Messages(sent, 512);
  BatchAssembler assembler(kLimit);
  ASSERT_THAT(Add(assembler, parts[0]), IsOk());
  ASSERT_FALSE(Add(assembler, "no protobuf").ok());
  EXPECT_TRUE(assembler.idle());
  for (const std::string& part : parts) ASSERT_THAT(Add(assembler, part), IsOk());
  EXPECT_TRUE(assembler.idle());
}

TEST(BatchAssembler, ForgetsThePartsGatheredWhenReset) {
  const std::vector<std::string> parts = Messages(FullBatch({29, 29}), 512);
  BatchAssembler assembler(kLimit);
  ASSERT_THAT(Add(assembler, parts[0]), IsOk());
  assembler.Reset();
  EXPECT_TRUE(assembler.idle());
  EXPECT_THAT(Add(assembler, parts[0]), IsOk());
}

TEST(HostileBytes, NoTruncatedMessageMakesABatch) {
  for (const std::uint32_t max_message_bytes : {512u, 4096u}) {
    const std::vector<std::string> messages = Messages(StoredBatch(DType::kU8), max_message_bytes);
    for (std::size_t k = 0; k < messages.size(); ++k) {
      for (std::size_t size = 0; size < messages[k].size(); ++size) {
        std::vector<std::string> damaged = messages;
        damaged[k].resize(size);
        EXPECT_FALSE(Assemble(damaged).ok()) << "part " << k << " cut to " << size << " bytes";
      }
    }
  }
}

TEST(HostileBytes, NoFlippedByteMakesAnotherBatch) {
  const PlainBatch sent = StoredBatch(DType::kU8);
  const std::vector<std::string> messages = Messages(sent, 512);
  for (std::size_t k = 0; k < messages.size(); ++k) {
    for (std::size_t at = 0; at < messages[k].size(); ++at) {
      for (int flip = 1; flip < 256; ++flip) {
        std::vector<std::string> damaged = messages;
        damaged[k][at] = static_cast<char>(damaged[k][at] ^ flip);
        const Result result = Assemble(damaged);
        if (!result.ok()) continue;
        ASSERT_TRUE(result->has_value() && Equals(**result, sent))
            << "part " << k << ", byte " << at << " xor " << flip;
      }
    }
  }
}

TEST(HostileBytes, ABodyWithoutChecksumIsStillCheckedInEveryWord) {
  PlainBatch sent = StoredBatch(DType::kU8);
  for (std::size_t at = 0; at < sent.body.size(); ++at) {
    for (int flip = 1; flip < 256; flip += 2) {
      PlainBatch damaged = sent;
      damaged.body[at] ^= static_cast<std::byte>(flip);
      damaged.header.body_crc32c = base::Crc32c(damaged.body);
      const Result result = Assemble(Messages(damaged, kLimit));
      EXPECT_TRUE(result.ok() || absl::IsDataLoss(result.status())) << result.status();
    }
  }
}

}  // namespace
}  // namespace packtrain::wire
