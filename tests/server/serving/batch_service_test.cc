#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proto/base/error_details.h"
#include "proto/wire/body_pool.h"
#include "server/batches/build_ahead.h"
#include "tests/server/serving/serving_client.h"
#include "tests/testing/eventually.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"

namespace packtrain::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::uint32_t kMolecules = 60;
constexpr v1::Policy kPolicies[] = {v1::POLICY_STATIC, v1::POLICY_DYNAMIC, v1::POLICY_PACKED, v1::POLICY_TUPLE};

// A server that holds `molecules`: 60 graphs of 1 to 5 nodes.
class BatchServiceTest : public ::testing::Test {
 protected:
  void SetUp() override { StartServer({}); }

  void StartServer(node::ServerOptions options) {
    auto server = TestServer::Start(std::move(options));
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    auto stored = client().Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(kMolecules)));
    ASSERT_THAT(stored, IsOk());
    reference_ = *stored;
  }

  ServingClient client() const { return ServingClient(server_->NewChannel()); }

  v1::StreamBatchesRequest Request(v1::Policy policy = v1::POLICY_DYNAMIC, std::uint32_t graphs = 7) const {
    v1::StreamBatchesRequest request;
    request.set_dataset("molecules");
    request.mutable_spec()->set_policy(policy);
    request.mutable_spec()->set_graphs(graphs);
    request.mutable_spec()->set_seed(3);
    request.set_epochs(1);
    return request;
  }

  std::unique_ptr<TestServer> server_;
  std::string reference_;
};

void AddSegment(std::uint32_t world_size, std::uint64_t steps, v1::StreamBatchesRequest& request) {
  v1::Segment& segment = *request.add_segments();
  segment.set_world_size(world_size);
  segment.set_steps(steps);
}

// The body's checksum of every batch, by epoch and index.
using Checksums = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t>;
Checksums ChecksumsOf(const ReceivedStream& stream) {
  Checksums checksums;
  for (const ReceivedBatch& received : stream.batches) {
    const wire::BatchHeader& header = received.batch.header();
    EXPECT_TRUE(checksums.insert({{header.epoch, header.index}, header.body_crc32c}).second);
  }
  return checksums;
}

std::map<std::uint64_t, int> CountGraphs(const std::vector<ReceivedStream>& ranks) {
  std::map<std::uint64_t, int> counts;
  for (const ReceivedStream& rank : ranks) {
    for (const ReceivedBatch& batch : rank.batches) {
      for (std::uint64_t graph : batch.graphs()) ++counts[graph];
    }
  }
  return counts;
}

MATCHER(IsOnce, "") { return arg.second == 1; }

TEST_F(BatchServiceTest, EachGraphComesOnceAnEpochAndRanksHaveEqualSteps) {
  for (v1::Policy policy : kPolicies) {
    for (std::uint32_t world_size : {1u, 2u, 3u, 8u}) {
      std::vector<ReceivedStream> ranks;
      for (std::uint32_t rank = 0; rank < world_size; ++rank) {
        v1::StreamBatchesRequest request = Request(policy);
        request.set_rank(rank);
        request.set_world_size(world_size);
        ranks.push_back(client().Stream(request));
        ASSERT_THAT(ranks.back().status, IsOk());
        EXPECT_THAT(ranks.back().batches, SizeIs(ranks.front().batches.size()));
      }
      EXPECT_THAT(CountGraphs(ranks), AllOf(SizeIs(kMolecules), Each(IsOnce())));
    }
  }
}

// What the server may not let show in a batch: a restart, its threads, and who asked before.
TEST_F(BatchServiceTest, EqualRequestsGiveEqualBytes) {
  for (v1::Policy policy : kPolicies) {
    v1::StreamBatchesRequest request = Request(policy);
    request.set_epochs(2);
    const ReceivedStream first = client().Stream(request);
    EXPECT_THAT(ChecksumsOf(first), SizeIs(first.batches.size()));
    EXPECT_EQ(client().Stream(request).bytes(), first.bytes());
    for (int builders : {1, 8, 1, 8}) {
      node::ServerOptions options;
      options.builders = builders;
      ASSERT_THAT(server_->StartAgain(options), IsOk());
      const ReceivedStream again = client().Stream(request);
      EXPECT_EQ(ChecksumsOf(again), ChecksumsOf(first)) << builders << " builders";
      EXPECT_EQ(again.bytes(), first.bytes()) << builders << " builders";
    }
  }
}

TEST_F(BatchServiceTest, StreamsSideBySideGiveTheBytesOfOneAlone) {
  node::ServerOptions options;
  options.builders = 8;
  ASSERT_THAT(server_->StartAgain(options), IsOk());
  v1::StreamBatchesRequest request = Request();
  request.set_epochs(20);
  const std::string alone = client().Stream(request).bytes();
  std::vector<std::string> together(4);
  std::vector<std::thread> threads;
  for (std::string& bytes : together) {
    threads.emplace_back([&] { bytes = client().Stream(request).bytes(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(together, Each(alone));
}

// World sizes and steps as a run that is killed twice in one epoch would have them.
TEST_F(BatchServiceTest, AfterSegmentsNewRanksGetExactlyTheBatchesLeft) {
  for (v1::Policy policy : kPolicies) {
    const Checksums unbroken = ChecksumsOf(client().Stream(Request(policy)));
    Checksums batches;
    v1::StreamBatchesRequest request = Request(policy);
    for (const auto& [world_size, steps] :
         std::vector<std::pair<std::uint32_t, std::uint64_t>>{{2, 1}, {1, 2}, {3, 9}}) {
      request.set_world_size(world_size);
      for (std::uint32_t rank = 0; rank < world_size; ++rank) {
        request.set_rank(rank);
        ReceivedStream stream = client().Stream(request);
        ASSERT_THAT(stream.status, IsOk());
        while (stream.batches.size() > steps) stream.batches.pop_back();
        EXPECT_EQ(stream.batches[0].batch.header().step, request.start_step());
        EXPECT_EQ(stream.batches[0].batch.header().world_size, world_size);
        batches.merge(ChecksumsOf(stream));
      }
      AddSegment(world_size, steps, request);
      request.set_start_step(request.start_step() + steps);
    }
    for (const auto& [place, checksum] : unbroken) EXPECT_EQ(batches[place], checksum);
    EXPECT_LT(batches.size() - unbroken.size(), 3);  // empty batches of the last step
  }
}

TEST_F(BatchServiceTest, ASegmentMayEndTheEpoch) {
  v1::StreamBatchesRequest request = Request();
  request.set_world_size(2);
  const std::uint64_t steps = client().Stream(request).batches[0].batch.header().epoch_steps;
  AddSegment(2, steps, request);
  request.set_world_size(1);
  request.set_start_step(steps);
  EXPECT_THAT(client().Stream(request).status, IsOk());
  EXPECT_THAT(client().Stream(request).batches, IsEmpty());
  request.set_epochs(2);
  const ReceivedStream next = client().Stream(request);
  request.clear_segments();
  request.set_start_step(0);
  request.set_start_epoch(1);
  request.set_epochs(1);
  EXPECT_EQ(next.bytes(), client().Stream(request).bytes());
}

TEST_F(BatchServiceTest, SegmentsThatCannotHaveBeenAreRefused) {
  constexpr std::uint64_t kHuge64 = 0xffffffffffffffff;
  v1::StreamBatchesRequest request = Request();
  AddSegment(0, 1, request);
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("segments[0]")));
  request = Request();
  AddSegment(2, 0, request);
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kInvalidArgument));
  request = Request();
  for (int i = 0; i < 1025; ++i) AddSegment(1, 1, request);
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1024")));
  request = Request();
  AddSegment(2, 2, request);
  request.set_start_step(1);
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("start_step 1")));
  request = Request();
  AddSegment(2, 1, request);
  AddSegment(3, 1000, request);
  request.set_start_step(1001);
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("segments[1]")));
  request = Request();
  AddSegment(0xffffffff, kHuge64, request);
  AddSegment(1, 1, request);
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_F(BatchServiceTest, AnotherEpochIsAnotherOrder) {
  v1::StreamBatchesRequest request = Request();
  const ReceivedStream first = client().Stream(request);
  request.set_start_epoch(1);
  const ReceivedStream second = client().Stream(request);
  EXPECT_THAT(second.status, IsOk());
  EXPECT_NE(first.batches[0].graphs(), second.batches[0].graphs());
}

TEST_F(BatchServiceTest, AStreamFromAnyStepGoesOnAsTheUnbrokenOne) {
  v1::StreamBatchesRequest request = Request();
  request.set_epochs(2);
  const ReceivedStream unbroken = client().Stream(request);
  ASSERT_THAT(unbroken.status, IsOk());
  const std::uint64_t steps = unbroken.batches[0].batch.header().epoch_steps;
  for (std::uint64_t step = 0; step <= steps; ++step) {
    v1::StreamBatchesRequest later = request;
    later.set_start_step(step);
    const ReceivedStream rest = client().Stream(later);
    ASSERT_THAT(rest.status, IsOk());
    ASSERT_THAT(rest.batches, SizeIs(unbroken.batches.size() - step));
    for (std::size_t i = 0; i < rest.batches.size(); ++i) {
      EXPECT_EQ(rest.batches[i].body(), unbroken.batches[i + step].body());
      EXPECT_EQ(rest.batches[i].batch.header().step, unbroken.batches[i + step].batch.header().step);
      EXPECT_EQ(rest.batches[i].batch.header().epoch, unbroken.batches[i + step].batch.header().epoch);
    }
  }
}

TEST_F(BatchServiceTest, HeaderSaysWhereTheBatchStands) {
  v1::StreamBatchesRequest request = Request();
  request.set_rank(1);
  request.set_world_size(2);
  request.set_start_epoch(5);
  request.set_start_step(1);
  const ReceivedStream stream = client().Stream(request);
  ASSERT_THAT(stream.batches, Not(IsEmpty()));
  const wire::BatchHeader& header = stream.batches[0].batch.header();
  EXPECT_EQ(header.epoch, 5);
  EXPECT_EQ(header.step, 1);
  EXPECT_EQ(header.rank, 1);
  EXPECT_EQ(header.world_size, 2);
  EXPECT_EQ(header.index, 3);
  EXPECT_EQ(header.epoch_steps, stream.batches.size() + 1);
  EXPECT_EQ(header.edge_rule, wire::EdgeRule::kFull);
  EXPECT_EQ(stream.batches[0].batch.FindSection("senders"), nullptr);
  EXPECT_GT(stream.batches[0].batch.timing().build_ns, 0);
}

TEST_F(BatchServiceTest, FieldsAreThoseOfTheGraphs) {
  v1::StreamBatchesRequest request = Request(v1::POLICY_STATIC, kMolecules);
  request.mutable_spec()->set_order(v1::ORDER_NONE);
  const ReceivedStream stream = client().Stream(request);
  ASSERT_THAT(stream.batches, SizeIs(1));
  const wire::Batch& batch = stream.batches[0].batch;
  std::vector<std::uint8_t> z;
  std::vector<double> y;
  for (const Molecule& molecule : ManyMolecules(kMolecules)) {
    z.insert(z.end(), molecule.z.begin(), molecule.z.end());
    y.push_back(molecule.energy);
  }
  EXPECT_THAT(*batch.Elements<std::uint8_t>("z"), ::testing::ElementsAreArray(z));
  EXPECT_THAT(*batch.Elements<double>("y"), ::testing::ElementsAreArray(y));
}

TEST_F(BatchServiceTest, StoredEndpointsAreAsWideAsTheLargestGraphNeeds) {
  ASSERT_THAT(client().Store("chains", ChainSchema(), ChainBlock({1, 2, 300, 3})), IsOk());
  v1::StreamBatchesRequest request = Request(v1::POLICY_STATIC, 2);
  request.set_dataset("chains");
  request.mutable_spec()->set_order(v1::ORDER_NONE);
  const ReceivedStream stream = client().Stream(request);
  ASSERT_THAT(stream.status, IsOk());
  ASSERT_THAT(stream.batches, SizeIs(2));
  const wire::Batch& small = stream.batches[0].batch;
  EXPECT_THAT(*small.Elements<std::uint16_t>("senders"), ElementsAre(1, 0));
  EXPECT_THAT(*small.Elements<std::uint16_t>("receivers"), ElementsAre(0, 1));
  const auto senders = *stream.batches[1].batch.Elements<std::uint16_t>("senders");
  ASSERT_THAT(senders, SizeIs(2 * 299 + 4));
  EXPECT_EQ(senders[597], 298);
  EXPECT_THAT(senders.last(4), ElementsAre(1, 0, 2, 1));
}

TEST_F(BatchServiceTest, NoMessageIsLargerThanTheClientTakes) {
  ASSERT_THAT(client().Store("many", MoleculeSchema(), BlockOf(ManyMolecules(2000))), IsOk());
  v1::StreamBatchesRequest request = Request(v1::POLICY_STATIC, 1000);
  request.set_dataset("many");
  const std::string whole = client().Stream(request).bytes();
  request.set_max_message_bytes(4096);
  const ReceivedStream stream = client().Stream(request);
  ASSERT_THAT(stream.status, IsOk());
  for (const ReceivedBatch& batch : stream.batches) {
    EXPECT_GT(batch.parts, 1);
    EXPECT_LE(batch.largest_message, 4096);
  }
  EXPECT_EQ(stream.bytes(), whole);
}

TEST_F(BatchServiceTest, ARequestThatContradictsItselfIsToldSoWhereNoPlaceIsFree) {
  v1::StreamBatchesRequest endless = Request(), wrong = Request();
  endless.set_epochs(0);
  wrong.set_rank(5);
  node::ServerOptions one_stream;
  one_stream.max_streams = 1;
  ASSERT_THAT(server_->StartAgain(one_stream), IsOk());
  OpenStream stream(server_->NewChannel(), endless);
  ASSERT_TRUE(stream.Read());
  EXPECT_THAT(client().Stream(wrong).status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 5")));
  EXPECT_THAT(client().Stream(Request()).status, StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(BatchServiceTest, TwoStreamsOfOnePlaceCountAsOneAndAThirdIsRefused) {
  node::ServerOptions one_stream;
  one_stream.max_streams = 1;
  ASSERT_THAT(server_->StartAgain(one_stream), IsOk());
  v1::StreamBatchesRequest training = Request(), elsewhere = Request();
  training.set_epochs(0);
  training.set_place("sixteen characters");
  elsewhere.set_place("sixteen others ..");
  v1::StreamBatchesRequest evaluation = training;
  evaluation.set_epochs(1);
  OpenStream stream(server_->NewChannel(), training);
  ASSERT_TRUE(stream.Read());
  {
    OpenStream second(server_->NewChannel(), training);
    ASSERT_TRUE(second.Read());
    const absl::Status third = client().Stream(evaluation).status;
    EXPECT_THAT(third, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("place")));
    EXPECT_TRUE(base::RetryDelayOf(third).has_value());
    for (const v1::StreamBatchesRequest& other : {elsewhere, Request()}) {
      EXPECT_THAT(client().Stream(other).status,
                  StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--max-streams")));
    }
  }
  absl::Status again;
  do {
    again = client().Stream(evaluation).status;
  } while (again.code() == absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(again, IsOk());
  EXPECT_THAT(client().Stream(elsewhere).status, StatusIs(absl::StatusCode::kResourceExhausted))
      << "one is open yet";
}

TEST_F(BatchServiceTest, APlaceIsNeitherShortNorLong) {
  v1::StreamBatchesRequest request = Request();
  for (const std::size_t size : {15u, 65u}) {
    request.set_place(std::string(size, 'x'));
    EXPECT_THAT(client().Stream(request).status,
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("place")));
  }
  request.set_place(std::string(64, 'x'));
  EXPECT_THAT(client().Stream(request).status, IsOk());
}

TEST_F(BatchServiceTest, CancellingEndsAnEndlessStream) {
  v1::StreamBatchesRequest request = Request();
  request.set_epochs(0);
  node::ServerOptions one_stream;
  one_stream.max_streams = 1;
  ASSERT_THAT(server_->StartAgain(one_stream), IsOk());
  OpenStream stream(server_->NewChannel(), request);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(stream.Read());
  EXPECT_THAT(client().Stream(Request()).status,
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--max-streams")));
  stream.Cancel();
  EXPECT_THAT(stream.Finish(), StatusIs(absl::StatusCode::kCancelled));
  // The place is free as soon as the server has seen it.
  absl::Status status;
  ASSERT_TRUE(Eventually([&] {
    status = client().Stream(Request()).status;
    return !absl::IsResourceExhausted(status);
  }));
  EXPECT_THAT(status, IsOk());
}

TEST_F(BatchServiceTest, ClientsThatDoNotReadHoldTwoBatchesEach) {
  ASSERT_THAT(client().Store("many", MoleculeSchema(), BlockOf(ManyMolecules(50'000))), IsOk());
  v1::StreamBatchesRequest request = Request(v1::POLICY_STATIC, 50'000);
  request.set_dataset("many");
  ASSERT_THAT(client().Stream(request).status, IsOk());  // so that the records are in memory before
  request.set_epochs(0);
  const std::uint64_t before = client().GetServerInfo()->memory().used_bytes();
  std::vector<std::unique_ptr<OpenStream>> streams;
  for (int i = 0; i < 5; ++i) {
    streams.push_back(std::make_unique<OpenStream>(server_->NewChannel(), request));
    ASSERT_TRUE(streams.back()->Read());
  }
  const std::uint64_t body_bytes = streams[0]->message().header().body_bytes();
  ASSERT_GT(2 * body_bytes, batches::kStreamWindowBytes);
  const auto info = client().GetServerInfo();
  ASSERT_THAT(info, IsOk());
  const std::uint64_t plans = 1 << 20;  // of three epochs, and more
  EXPECT_LE(info->memory().used_bytes(), before + 5 * 2 * wire::BodyPool::CapacityOf(body_bytes) + plans);
  EXPECT_LE(info->memory().used_bytes(), info->memory().cap_bytes());
}

TEST_F(BatchServiceTest, AStreamCutAtAnyMessageLeavesNothingBehind) {
  node::ServerOptions one_stream;
  one_stream.max_streams = 1;
  ASSERT_THAT(server_->StartAgain(one_stream), IsOk());
  ASSERT_THAT(client().Store("many", MoleculeSchema(), BlockOf(ManyMolecules(600))), IsOk());
  v1::StreamBatchesRequest request = Request(v1::POLICY_STATIC, 200);
  request.set_dataset("many");
  request.set_max_message_bytes(4096);
  const ReceivedStream whole = client().Stream(request);
  ASSERT_THAT(whole.status, IsOk());
  std::size_t messages = 0;
  for (const ReceivedBatch& batch : whole.batches) messages += batch.parts;
  ASSERT_GT(messages, whole.batches.size());
  const auto memory = [this] { return client().GetServerInfo()->memory(); };
  ASSERT_TRUE(Eventually([&] { return memory().resident_dataset_bytes() > 0; }));
  std::uint64_t least = memory().used_bytes();
  for (std::size_t cut = 0; cut < messages; ++cut) {
    {
      OpenStream stream(server_->NewChannel(), request);
      for (std::size_t read = 0; read < cut; ++read) ASSERT_TRUE(stream.Read());
    }
    // Its place is free again, and its bodies are freed when gRPC lets go of them.
    absl::Status next;
    ASSERT_TRUE(Eventually([&] {
      next = client().Stream(request).status;
      return !absl::IsResourceExhausted(next);
    }));
    ASSERT_THAT(next, IsOk());
    // Never more than after the streams before it; less, where those still held something.
    std::uint64_t used = 0;
    ASSERT_TRUE(Eventually([&] { return (used = memory().used_bytes()) <= least; })) << "cut " << cut;
    least = used;
  }
}

TEST_F(BatchServiceTest, UnknownDataSetAndSplitAreNotFound) {
  v1::StreamBatchesRequest request = Request();
  request.set_dataset("nothing");
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("nothing")));
  request.set_dataset("molecules@0000");
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kNotFound));
  request = Request();
  request.mutable_spec()->set_split("holdout");
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("holdout")));
  request.set_dataset("");
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("dataset")));
}

TEST_F(BatchServiceTest, AGraphAboveTheBudgetIsRefusedBeforeTheFirstBatch) {
  v1::StreamBatchesRequest request = Request();
  request.mutable_spec()->set_nodes(4);
  const ReceivedStream stream = client().Stream(request);
  EXPECT_THAT(stream.status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(stream.batches, IsEmpty());
  request.mutable_spec()->set_oversize(v1::OVERSIZE_ALONE);
  EXPECT_THAT(client().Stream(request).status, IsOk());
}

TEST_F(BatchServiceTest, AnotherFingerprintIsRefused) {
  v1::StreamBatchesRequest request = Request();
  request.set_expected_fingerprint("00000000000000000000000000000000");
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("fingerprint")));
  request.clear_expected_fingerprint();
  const ReceivedStream stream = client().Stream(request);
  request.set_expected_fingerprint(stream.batches[0].batch.header().fingerprint);
  EXPECT_THAT(client().Stream(request).status, IsOk());
}

TEST_F(BatchServiceTest, PositionsAndRanksOutsideAreRefused) {
  v1::StreamBatchesRequest request = Request();
  request.set_start_step(1'000'000);
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("1000000")));
  request = Request();
  request.set_rank(2);
  request.set_world_size(2);
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 2")));
  request = Request();
  request.set_max_message_bytes(4095);
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_message_bytes")));
}

TEST_F(BatchServiceTest, UnknownEnumValuesAreRefused) {
  v1::StreamBatchesRequest request = Request();
  request.mutable_spec()->set_policy(static_cast<v1::Policy>(99));
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("policy")));
  request.mutable_spec()->set_policy(v1::POLICY_UNSPECIFIED);
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--policy")));
  request = Request();
  request.mutable_spec()->set_order(static_cast<v1::Order>(-1));
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("order")));
}

TEST_F(BatchServiceTest, HugeNumbersAreAnsweredNotObeyed) {
  constexpr std::uint32_t kHuge32 = 0xffffffff;
  constexpr std::uint64_t kHuge64 = 0xffffffffffffffff;
  v1::StreamBatchesRequest request = Request();
  request.set_start_epoch(kHuge64);
  request.set_epochs(0);
  EXPECT_THAT(client().Stream(request).status, IsOk());  // the last epoch there is
  request = Request();
  request.set_start_step(kHuge64);
  EXPECT_THAT(client().Stream(request).status, StatusIs(absl::StatusCode::kOutOfRange));
  request = Request();
  request.set_world_size(kHuge32);
  request.set_rank(kHuge32 - 1);
  const ReceivedStream empty = client().Stream(request);
  ASSERT_THAT(empty.status, IsOk());
  ASSERT_THAT(empty.batches, SizeIs(1));
  EXPECT_TRUE(empty.batches[0].batch.header().empty);
  request = Request();
  request.set_max_message_bytes(kHuge32);
  EXPECT_THAT(client().Stream(request).status, IsOk());
  request = Request(v1::POLICY_STATIC, kHuge32);
  request.mutable_spec()->set_pad(v1::PAD_CONSTANT);
  const absl::StatusCode code = client().Stream(request).status.code();
  EXPECT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kInvalidArgument) << code;
}

TEST_F(BatchServiceTest, ABatchAboveTheServersLimitIsRefused) {
  ASSERT_THAT(client().Store("many", MoleculeSchema(), BlockOf(ManyMolecules(2000))), IsOk());
  node::ServerOptions options;
  options.max_batch_bytes = 4096;
  ASSERT_THAT(server_->StartAgain(options), IsOk());
  v1::StreamBatchesRequest request = Request(v1::POLICY_STATIC, 2000);
  request.set_dataset("many");
  EXPECT_THAT(
      client().Stream(request).status,
      StatusIs(absl::StatusCode::kResourceExhausted, AllOf(HasSubstr("4096"), HasSubstr("--max-batch-bytes"))));
}

TEST_F(BatchServiceTest, AnEpochWithoutAStepIsRefused) {
  v1::StreamBatchesRequest request = Request();
  request.set_world_size(1000);
  request.mutable_spec()->set_drop_last(true);
  request.set_epochs(0);
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--drop-last")));
}

}  // namespace
}  // namespace packtrain::testing
