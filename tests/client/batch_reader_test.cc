#include "client/batch_reader.h"

#include <gmock/gmock.h>

#include <deque>
#include <future>
#include <iterator>
#include <utility>
#include <vector>

#include "proto/base/error_details.h"
#include "proto/base/status_convert.h"
#include "tests/client/scripted_services.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using testing::BuildBatch;
using testing::BuiltBatch;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::InProcessServer;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::OptionsFor;
using testing::ScriptedBatches;
using testing::ScriptedInfo;
using ::testing::SizeIs;
using testing::StatusIs;

using Calls = std::deque<ScriptedBatches::Call>;

constexpr milliseconds kPatient{60'000};
constexpr std::uint64_t kEpochSteps = 4;
// Messages of this size cut a batch of BuildBatch into several parts.
constexpr int kSmallMessage = 4'096;

StreamRequest Request(std::uint64_t epochs) {
  StreamRequest request;
  request.dataset = "qm9";
  request.spec.policy = wire::Policy::kStatic;
  request.spec.graphs = 2;
  request.epochs = epochs;
  return request;
}

// A server with one scripted stream service, and a connection to it.
class Served {
 public:
  explicit Served(Calls calls, milliseconds give_up = kPatient)
      : batches(kEpochSteps, std::move(calls)), server({&info, &batches}) {
    ConnectionOptions options = OptionsFor(server.address(), give_up);
    options.max_message_bytes = kSmallMessage;
    options.on_notice = [this](const std::string& line) { notices.push_back(line); };
    connection = Connection::Open(options).value();
  }

  ScriptedInfo info;
  ScriptedBatches batches;
  InProcessServer server;
  std::vector<std::string> notices;  // to be read when no reader is left
  std::shared_ptr<Connection> connection;
};

// Everything up to the end or the first error.
struct Received {
  std::vector<wire::Batch> batches;
  absl::Status status;
};

Received ReadAll(BatchReader& reader) {
  Received received;
  while (true) {
    absl::StatusOr<std::optional<wire::Batch>> batch = reader.Next();
    if (!batch.ok()) {
      received.status = batch.status();
      return received;
    }
    if (!batch->has_value()) return received;
    received.batches.push_back(**std::move(batch));
  }
}

Received ReadAll(const std::shared_ptr<Connection>& connection, const StreamRequest& request) {
  const auto reader = BatchReader::Open(connection, request);
  if (!reader.ok()) return {{}, reader.status()};
  return ReadAll(**reader);
}

void ExpectBatches(const std::vector<wire::Batch>& batches, std::uint64_t epochs) {
  ASSERT_THAT(batches, SizeIs(epochs * kEpochSteps));
  for (std::size_t k = 0; k < batches.size(); ++k) {
    const BuiltBatch built = BuildBatch(k / kEpochSteps, k % kEpochSteps, kEpochSteps);
    EXPECT_EQ(batches[k].header().epoch, built.header.epoch);
    EXPECT_EQ(batches[k].header().step, built.header.step);
    EXPECT_EQ(batches[k].header().body_crc32c, built.header.body_crc32c);
    EXPECT_TRUE(
        std::equal(built.body.begin(), built.body.end(), batches[k].body().begin(), batches[k].body().end()));
  }
}

TEST(BatchReader, ReadsEveryBatchOfSeveralEpochs) {
  Served served(Calls{});
  const Received received = ReadAll(served.connection, Request(3));
  EXPECT_THAT(received.status, IsOk());
  ExpectBatches(received.batches, 3);
  EXPECT_EQ(received.batches.front().timing().build_ns, 5u);
  EXPECT_EQ(received.batches.front().timing().queue_ns, 7u);
  EXPECT_THAT(served.batches.requests(), SizeIs(1));
}

TEST(BatchReader, CountsTheBodiesThatItHeldAgainstTheirChecksums) {
  for (const std::size_t ahead : {0, 1}) {
    Served served(Calls{});
    StreamRequest request = Request(3);
    request.read_ahead.batches = ahead;
    const auto reader = BatchReader::Open(served.connection, request);
    ASSERT_THAT(reader, IsOk());
    EXPECT_EQ(ReadAll(**reader).batches.size(), 3 * kEpochSteps);
    EXPECT_EQ((*reader)->body_checks(), 3 * kEpochSteps);
  }
}

TEST(BatchReader, TellsOfALossAndOfTheReturnOnceEach) {
  Served served(Calls{{.parts = 3}, {.parts = 0}, {.parts = 0}});
  EXPECT_THAT(ReadAll(served.connection, Request(1)).status, IsOk());
  EXPECT_THAT(served.notices,
              ElementsAre(AllOf(HasSubstr(served.server.address()), HasSubstr("cannot be reached (draining)"),
                                HasSubstr("trying for 60 s")),
                          HasSubstr("is back")));
}

TEST(BatchReader, DoesNotTellOfAStreamThatIsOpenAgainAtOnce) {
  Served served(Calls{{.parts = 3}});
  EXPECT_THAT(ReadAll(served.connection, Request(1)).status, IsOk());
  EXPECT_THAT(served.notices, IsEmpty());
}

TEST(BatchReader, KeepsTheOrderAtEveryDepth) {
  for (const std::size_t depth : {0, 1, 2, 7, 100}) {
    Served served(Calls{{.parts = 5}});
    StreamRequest request = Request(3);
    request.read_ahead.batches = depth;
    const Received received = ReadAll(served.connection, request);
    EXPECT_THAT(received.status, IsOk());
    ExpectBatches(received.batches, 3);
  }
}

TEST(BatchReader, GivesWhatLiesReadyBeforeItFails) {
  for (const std::size_t depth : {0, 3}) {
    Served served(Calls{{.parts = 12, .end = grpc::Status(grpc::StatusCode::DATA_LOSS, "bad block")}});
    StreamRequest request = Request(1);
    request.read_ahead.batches = depth;
    const Received received = ReadAll(served.connection, request);
    EXPECT_THAT(received.batches, SizeIs(3));
    EXPECT_THAT(received.status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("bad block")));
  }
}

TEST(BatchReader, SendsTheWholeRequest) {
  Served served(Calls{});
  StreamRequest request = Request(1);
  request.start_epoch = 0;
  request.start_step = 2;
  request.expected_fingerprint = "f00d";
  request.place = "a place at random";
  EXPECT_THAT(ReadAll(served.connection, request).batches, SizeIs(2));
  const v1::StreamBatchesRequest sent = served.batches.requests().at(0);
  EXPECT_EQ(sent.dataset(), "qm9");
  EXPECT_EQ(sent.spec().policy(), v1::POLICY_STATIC);
  EXPECT_EQ(sent.spec().graphs(), 2u);
  EXPECT_EQ(sent.world_size(), 1u);
  EXPECT_EQ(sent.start_step(), 2u);
  EXPECT_EQ(sent.epochs(), 1u);
  EXPECT_EQ(sent.max_message_bytes(), static_cast<std::uint32_t>(kSmallMessage));
  EXPECT_EQ(sent.expected_fingerprint(), "f00d");
  EXPECT_EQ(sent.place(), "a place at random");
}

TEST(BatchReader, AsksForSegmentsOnlyInTheirEpoch) {
  Served served(Calls{{.parts = 0}, {.parts = 7}});
  StreamRequest request = Request(2);
  request.start_step = 3;
  request.segments = {{.world_size = 1, .steps = 2}};
  EXPECT_THAT(ReadAll(served.connection, request).batches, SizeIs(1 + kEpochSteps));
  const std::vector<v1::StreamBatchesRequest> sent = served.batches.requests();
  ASSERT_THAT(sent, SizeIs(3));
  for (int call : {0, 1}) {
    ASSERT_EQ(sent[call].segments_size(), 1);
    EXPECT_EQ(sent[call].segments(0).world_size(), 1u);
    EXPECT_EQ(sent[call].segments(0).steps(), 2u);
  }
  EXPECT_EQ(sent[2].start_epoch(), 1u);
  EXPECT_EQ(sent[2].segments_size(), 0);
}

// Cuts the stream after every possible number of parts, in the middle of batches too.
TEST(BatchReader, GoesOnAtTheSameBatchWhereverTheStreamBreaks) {
  for (std::size_t parts = 0; parts < 24; ++parts) {
    Served served(Calls{{.parts = parts}});
    const Received received = ReadAll(served.connection, Request(2));
    EXPECT_THAT(received.status, IsOk()) << parts;
    ExpectBatches(received.batches, 2);
    if (served.batches.requests().size() < 2) continue;
    const v1::StreamBatchesRequest again = served.batches.requests().at(1);
    EXPECT_EQ(again.epochs(), 2 - again.start_epoch());
  }
}

TEST(BatchReader, SurvivesManyBreaks) {
  Served served(Calls{{.parts = 5}, {.parts = 0}, {.parts = 1}, {.parts = 9}});
  const Received received = ReadAll(served.connection, Request(2));
  EXPECT_THAT(received.status, IsOk());
  ExpectBatches(received.batches, 2);
  EXPECT_THAT(served.batches.requests(), SizeIs(5));
}

grpc::Status AtStreamLimit() {
  return base::ToGrpcStatus(
      base::WithReason(absl::ResourceExhaustedError("128 batch streams are open"), base::kStreamLimit));
}

TEST(BatchReader, ComesBackUntilItsFormerPlaceIsFree) {
  Served served(
      Calls{{.parts = 5}, {.parts = 0, .end = AtStreamLimit()}, {.parts = 0, .end = AtStreamLimit()}});
  const Received received = ReadAll(served.connection, Request(2));
  EXPECT_THAT(received.status, IsOk());
  ExpectBatches(received.batches, 2);
  EXPECT_THAT(served.batches.requests(), SizeIs(4));
}

TEST(BatchReader, DoesNotWaitForAFirstPlace) {
  Served served(Calls{{.parts = 0, .end = AtStreamLimit()}});
  EXPECT_THAT(ReadAll(served.connection, Request(1)).status,
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("128 batch streams")));
  EXPECT_THAT(served.batches.requests(), SizeIs(1));
}

TEST(BatchReader, WaitsUntilTheStreamThatHadItsPlaceBeforeIsSeenToEnd) {
  Served served(Calls{{.parts = 0, .end = AtStreamLimit()}});
  StreamRequest request = Request(1);
  request.place = "a place at random";
  EXPECT_THAT(ReadAll(served.connection, request).status, IsOk());
  EXPECT_THAT(served.batches.requests(), SizeIs(2));
}

TEST(BatchReader, ComesAgainWhereTheServerHasNoMemoryForItYet) {
  const grpc::Status reset(grpc::StatusCode::RESOURCE_EXHAUSTED, "Received RST_STREAM with error code 11");
  Served served(Calls{{.parts = 0, .end = testing::NoMemoryYet()},
                      {.parts = 5, .end = testing::NoMemoryYet()},
                      {.parts = 0, .end = reset},
                      {.parts = 1, .end = reset}});
  const Received received = ReadAll(served.connection, Request(2));
  EXPECT_THAT(received.status, IsOk());
  ExpectBatches(received.batches, 2);
  EXPECT_THAT(served.batches.requests(), SizeIs(5));
}

TEST(BatchReader, EndsWithTheRefusalOfAServerThatNeverHasMemoryForIt) {
  Served served(Calls(1000, {.parts = 0, .end = testing::NoMemoryYet()}), milliseconds(200));
  EXPECT_THAT(ReadAll(served.connection, Request(1)).status,
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("the memory is in use")));
  EXPECT_GE(served.batches.requests().size(), 2);
}

TEST(BatchReader, AsksForTheSamePlanAfterABreak) {
  Served served(Calls{{.parts = 5}, {.fingerprint = "beef"}});
  const Received received = ReadAll(served.connection, Request(1));
  EXPECT_THAT(received.status, StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("beef")));
  EXPECT_EQ(served.batches.requests().at(1).expected_fingerprint(), "f00d");
}

TEST(BatchReader, GivesUpOnALostServerNamingIt) {
  Served served(Calls{}, milliseconds(200));
  StreamRequest endless = Request(0);
  const auto reader = BatchReader::Open(served.connection, endless);
  ASSERT_THAT(reader, IsOk());
  ASSERT_THAT((*reader)->Next(), IsOk());
  served.server.Shutdown();
  const Received rest = ReadAll(**reader);
  EXPECT_THAT(rest.status, StatusIs(absl::StatusCode::kUnavailable,
                                    AllOf(HasSubstr(served.server.address()), HasSubstr("--give-up"))));
  EXPECT_THAT((*reader)->Next(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(BatchReader, GoesOnWithAServerThatCameBack) {
  Served served(Calls{});
  const auto reader = BatchReader::Open(served.connection, Request(500));
  ASSERT_THAT(reader, IsOk());
  std::vector<wire::Batch> batches;
  batches.push_back((*reader)->Next().value().value());
  served.server.Shutdown();
  ScriptedInfo info;
  ScriptedBatches service(kEpochSteps);
  InProcessServer again({&info, &service}, served.server.port());
  Received rest = ReadAll(**reader);
  EXPECT_THAT(rest.status, IsOk());
  batches.insert(batches.end(), std::make_move_iterator(rest.batches.begin()),
                 std::make_move_iterator(rest.batches.end()));
  ExpectBatches(batches, 500);
}

TEST(BatchReader, SurfacesARefusalAtOnceWithTheServersWords) {
  for (const auto code :
       {grpc::StatusCode::NOT_FOUND, grpc::StatusCode::INVALID_ARGUMENT, grpc::StatusCode::FAILED_PRECONDITION,
        grpc::StatusCode::OUT_OF_RANGE, grpc::StatusCode::RESOURCE_EXHAUSTED, grpc::StatusCode::DATA_LOSS}) {
    Served served(Calls{{.parts = 0, .end = grpc::Status(code, "no data set qm10")}});
    const Received received = ReadAll(served.connection, Request(1));
    EXPECT_THAT(received.status, StatusIs(static_cast<absl::StatusCode>(code), HasSubstr("no data set qm10")));
    EXPECT_THAT(served.batches.requests(), SizeIs(1));
  }
}

TEST(BatchReader, RefusesABatchThatWasNotDue) {
  Served served(Calls{{.skip_steps = 1}});
  EXPECT_THAT(ReadAll(served.connection, Request(1)).status,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("step 1 came where epoch 0, step 0 was due")));
}

TEST(BatchReader, RefusesACorruptBody) {
  Served served(Calls{{.corrupt = true}});
  EXPECT_THAT(ReadAll(served.connection, Request(1)).status,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("epoch 0, step 0")));
}

TEST(BatchReader, RefusesAStreamThatEndsEarly) {
  Served served(Calls{{.parts = 5, .end = grpc::Status::OK}});
  EXPECT_THAT(ReadAll(served.connection, Request(1)).status,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("ended the stream")));
}

TEST(BatchReader, RefusesABodyAboveItsLimit) {
  Served served(Calls{});
  ConnectionOptions options = OptionsFor(served.server.address(), kPatient);
  options.max_batch_bytes = 1'000;
  const auto connection = Connection::Open(options);
  ASSERT_THAT(connection, IsOk());
  EXPECT_THAT(ReadAll(*connection, Request(1)).status,
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("; --graphs and --pad decide")));
}

TEST(BatchReader, RefusesABadRequestWithoutAServer) {
  Served served(Calls{});
  StreamRequest request = Request(1);
  request.rank = 1;
  EXPECT_THAT(BatchReader::Open(served.connection, request), StatusIs(absl::StatusCode::kInvalidArgument));
  request = Request(1);
  request.spec.policy.reset();
  EXPECT_THAT(BatchReader::Open(served.connection, request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--policy")));
  EXPECT_THAT(served.batches.requests(), SizeIs(0));
}

TEST(BatchReader, CancelEndsABlockedNext) {
  for (const std::size_t depth : {0, 1}) {
    Served served(Calls{}, kPatient);
    StreamRequest request = Request(0);
    request.read_ahead.batches = depth;
    const auto reader = BatchReader::Open(served.connection, request);
    ASSERT_THAT(reader, IsOk());
    ASSERT_THAT((*reader)->Next(), IsOk());
    served.server.Shutdown();  // so that the reader waits for a server that does not come
    auto blocked = std::async(std::launch::async, [&] { return ReadAll(**reader).status; });
    (*reader)->Cancel();
    EXPECT_THAT(blocked.get(), StatusIs(absl::StatusCode::kCancelled));
    EXPECT_THAT((*reader)->Next(), StatusIs(absl::StatusCode::kCancelled));
  }
}

TEST(BatchReader, CanBeDestroyedWithBatchesUnread) {
  for (const std::size_t depth : {0, 1}) {
    Served served(Calls{});
    StreamRequest request = Request(0);
    request.read_ahead.batches = depth;
    const auto reader = BatchReader::Open(served.connection, request);
    ASSERT_THAT(reader, IsOk());
    EXPECT_THAT((*reader)->Next(), IsOk());
  }
}

}  // namespace
}  // namespace packtrain::client
