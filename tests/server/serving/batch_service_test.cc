// What batches hold, wherever a stream begins and however many ranks there are.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/server/serving/batch_service_testing.h"
#include "tests/server/serving/serving_client.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr v1::Policy kPolicies[] = {v1::POLICY_STATIC, v1::POLICY_DYNAMIC, v1::POLICY_PACKED, v1::POLICY_TUPLE,
                                    v1::POLICY_SUPERGRAPH};

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

// What a trainer has to know of the blocks stands in each header.
TEST_F(BatchServiceTest, HeadersOfSupergraphsSayTheNodesOfABlock) {
  v1::StreamBatchesRequest request = Request(v1::POLICY_SUPERGRAPH);
  const ReceivedStream stream = client().Stream(request);
  ASSERT_THAT(stream.status, IsOk());
  std::uint32_t max_edges = 0;
  for (const ReceivedBatch& received : stream.batches) {
    max_edges = std::max(max_edges, received.batch.header().real.edges);
  }
  for (const ReceivedBatch& received : stream.batches) {
    EXPECT_EQ(received.batch.header().padded, (wire::Shape{33, 32, max_edges, 4}));
    EXPECT_LT(received.batch.header().real.nodes, 32u);
  }
  request.mutable_spec()->set_block_nodes(1);  // 8 node slots: some chains are too long
  request.mutable_spec()->set_oversize(v1::OVERSIZE_ALONE);
  int alone = 0;
  for (const ReceivedBatch& received : client().Stream(request).batches) {
    const wire::BatchHeader& header = received.batch.header();
    EXPECT_EQ(header.padded.block_nodes, header.oversize ? 64u : 1u);
    EXPECT_EQ(header.padded.nodes, header.oversize ? 64u : 8u);
    alone += header.oversize ? 1 : 0;
  }
  EXPECT_GT(alone, 0);
}

TEST_F(BatchServiceTest, SupergraphsNeedARenumberedDataSet) {
  v1::StreamBatchesRequest request = Request(v1::POLICY_SUPERGRAPH);
  request.set_dataset("molecules");
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--renumber rcm")));
  request.mutable_spec()->clear_blocks();
  EXPECT_THAT(client().Stream(request).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--blocks and --block-nodes")));
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
  ASSERT_THAT(client().Store("paths", PathSchema(), PathBlock({1, 2, 300, 3})), IsOk());
  v1::StreamBatchesRequest request = Request(v1::POLICY_STATIC, 2);
  request.set_dataset("paths");
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

}  // namespace
}  // namespace packtrain::testing
