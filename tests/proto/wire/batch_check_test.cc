#include "proto/wire/batch_check.h"

#include <gmock/gmock.h>

#include <functional>
#include <ostream>

#include "tests/proto/wire/sample_batches.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::wire {
namespace {

using packtrain::testing::EmptyBatch;
using packtrain::testing::FullBatch;
using packtrain::testing::IsOk;
using packtrain::testing::PlainBatch;
using packtrain::testing::StatusIs;
using packtrain::testing::StoredBatch;
using ::testing::HasSubstr;

constexpr std::uint64_t kLimit = 1 << 20;

TEST(CheckHeader, TakesBatchesOfEveryKind) {
  EXPECT_THAT(CheckHeader(FullBatch({3, 1, 29}).header, kLimit), IsOk());
  EXPECT_THAT(CheckHeader(StoredBatch(DType::kU16).header, kLimit), IsOk());
  EXPECT_THAT(CheckHeader(EmptyBatch().header, kLimit), IsOk());
  BatchHeader left_out = EmptyBatch().header;
  left_out.corrupt_graphs = {4, 9};
  EXPECT_THAT(CheckHeader(left_out, kLimit), IsOk());
}

TEST(CheckHeader, TakesAShapeWithoutPadding) {
  BatchHeader header = FullBatch({3, 1}).header;
  header.padded = header.real;
  EXPECT_THAT(CheckHeader(header, kLimit), IsOk());
}

TEST(CheckHeader, RefusesABodyAboveTheLimit) {
  BatchHeader header = FullBatch({3}).header;
  header.padded = header.real;
  EXPECT_THAT(CheckHeader(header, header.body_bytes), IsOk());
  EXPECT_THAT(CheckHeader(header, header.body_bytes - 1),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("above the limit of")));
}

TEST(CheckHeader, RefusesAPaddedShapeAboveTheLimit) {
  BatchHeader header = FullBatch({3}).header;
  header.padded = {2, 64, (1 << 17) - 33};
  EXPECT_THAT(CheckHeader(header, kLimit), IsOk());
  header.padded.edges += 1;
  EXPECT_THAT(CheckHeader(header, kLimit),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("takes at least 1048584 bytes")));
}

struct Damage {
  const char* what;
  std::function<void(BatchHeader&)> apply;
  const char* message;
};

void PrintTo(const Damage& row, std::ostream* out) { *out << row.what; }

// Sections of StoredBatch: graph_index, n_node, n_edge, senders, receivers, z.
const Damage kDamages[] = {
    {"RankAboveWorld", [](BatchHeader& h) { h.rank = 2; }, "rank 2 of world size 2"},
    {"NoWorld", [](BatchHeader& h) { h.world_size = 0; }, "world size 0"},
    {"StepPastEpoch", [](BatchHeader& h) { h.epoch_steps = 3; }, "step 3 of an epoch of 3"},
    {"MoreGraphsThanSlots", [](BatchHeader& h) { h.padded.graphs = 2; }, "3 real graphs in 2 slots"},
    {"MoreNodesThanSlots", [](BatchHeader& h) { h.padded.nodes = 7; }, "8 real nodes in 7 slots"},
    {"MoreEdgesThanSlots", [](BatchHeader& h) { h.padded.edges = 6; }, "7 real edges in 6 slots"},
    {"TooManySlots", [](BatchHeader& h) { h.padded.edges = 0x80000000u; }, "2147483648 slots for edges"},
    {"FlaggedEmpty", [](BatchHeader& h) { h.empty = true; }, "3 real graphs, flagged empty"},
    {"EdgesWithoutPaddingNode", [](BatchHeader& h) { h.padded.nodes = 8; }, "without a padding node"},
    {"NodesWithoutPaddingGraph", [](BatchHeader& h) { h.padded.graphs = 3; }, "without a padding graph"},
    {"NoGraphIndex", [](BatchHeader& h) { h.sections.erase(h.sections.begin()); },
     "no section \"graph_index\""},
    {"NoNodeCounts", [](BatchHeader& h) { h.sections.erase(h.sections.begin() + 1); }, "no section \"n_node\""},
    {"NoEdgeCounts", [](BatchHeader& h) { h.sections.erase(h.sections.begin() + 2); }, "no section \"n_edge\""},
    {"NoSenders", [](BatchHeader& h) { h.sections.erase(h.sections.begin() + 3); }, "no section \"senders\""},
    {"NoReceivers", [](BatchHeader& h) { h.sections.erase(h.sections.begin() + 4); },
     "no section \"receivers\""},
    {"EndpointsOfFullEdges", [](BatchHeader& h) { h.edge_rule = EdgeRule::kFull; }, "that the receiver makes"},
    {"CountsOfAnotherType", [](BatchHeader& h) { h.sections[1].dtype = DType::kI32; }, "wrong data type 3"},
    {"EndpointsOfTwoTypes",
     [](BatchHeader& h) {
       h.sections[4].dtype = DType::kU16;
       h.sections[4].size_bytes = 14;
     },
     "senders and receivers of two data types"},
    {"CountsAsMatrix",
     [](BatchHeader& h) {
       h.sections[1].dims = {3, 1};
     },
     "not a vector of 3"},
    {"EndpointsOfNodes",
     [](BatchHeader& h) {
       h.sections[3].dims = {8};
       h.sections[3].size_bytes = 8;
     },
     "not a vector of 7"},
    {"RowsOfNothing", [](BatchHeader& h) { h.sections[5].dims = {9}; }, "has 9 rows"},
    {"NoDimensions", [](BatchHeader& h) { h.sections[5].dims.clear(); }, "has 0 dimensions"},
    {"TooManyDimensions", [](BatchHeader& h) { h.sections[5].dims = {8, 1, 1, 1, 1, 1, 1, 1, 1}; },
     "has 9 dimensions"},
    {"NoType", [](BatchHeader& h) { h.sections[5].dtype = static_cast<DType>(0); }, "unknown data type 0"},
    {"OtherSize", [](BatchHeader& h) { h.sections[5].size_bytes = 7; }, "takes 7 bytes, its dimensions 8"},
    {"SizeOverflows",
     [](BatchHeader& h) {
       h.sections[5].dims = {8, 1ull << 62};
     },
     "overflow"},
    {"NotAligned", [](BatchHeader& h) { h.sections[5].offset_bytes += 32; }, "not at a multiple of 64"},
    {"Overlaps", [](BatchHeader& h) { h.sections[5].offset_bytes = 0; }, "before the end of the last"},
    {"NotSorted", [](BatchHeader& h) { std::swap(h.sections[4], h.sections[5]); },
     "before the end of the last"},
    {"EndsOutside", [](BatchHeader& h) { h.body_bytes -= 1; }, "ends outside the body"},
    {"StartsOutside", [](BatchHeader& h) { h.sections[5].offset_bytes = ~0ull - 63; }, "ends outside the body"},
    {"NoName", [](BatchHeader& h) { h.sections[5].field = ""; }, "without a name"},
    {"SameNameTwice", [](BatchHeader& h) { h.sections[5].field = "n_node"; }, "two sections \"n_node\""},
    {"GraphsLeftOutWithoutRoom",
     [](BatchHeader& h) {
       h.corrupt_graphs = {1, 2};
     },
     "2 graphs left out, room for 1"},
    {"NodesLeftOutWithoutRoom",
     [](BatchHeader& h) {
       h.padded = {7, 9, 7};
       h.corrupt_graphs = {1, 2};
     },
     "2 graphs left out, room for 1"},
    {"GraphsLeftOutNotSorted",
     [](BatchHeader& h) {
       h.padded.graphs = 6;
       h.corrupt_graphs = {3, 5, 4};
     },
     "graph 4 follows graph 5 among those left out"},
    {"GraphLeftOutTwice",
     [](BatchHeader& h) {
       h.padded.graphs = 6;
       h.corrupt_graphs = {3, 3};
     },
     "graph 3 follows graph 3 among those left out"},
    {"TooManySections", [](BatchHeader& h) { h.sections.resize(257); }, "257 sections"},
};

class DamagedHeader : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedHeader, IsRefusedByName) {
  BatchHeader header = StoredBatch(DType::kU8).header;
  GetParam().apply(header);
  EXPECT_THAT(CheckHeader(header, kLimit),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(CheckHeader, DamagedHeader, ::testing::ValuesIn(kDamages),
                         [](const auto& damage) { return damage.param.what; });

absl::Status CheckContentOf(const PlainBatch& batch) { return CheckContent(batch.Unchecked()); }

TEST(CheckContent, TakesBatchesOfEveryKind) {
  EXPECT_THAT(CheckContentOf(FullBatch({3, 1, 29})), IsOk());
  EXPECT_THAT(CheckContentOf(EmptyBatch()), IsOk());
  for (DType endpoints : {DType::kU8, DType::kU16, DType::kU32}) {
    EXPECT_THAT(CheckContentOf(StoredBatch(endpoints)), IsOk());
  }
}

TEST(CheckContent, RefusesCountsThatDoNotAddUp) {
  PlainBatch nodes = StoredBatch(DType::kU8);
  nodes.Set("n_node", 1, 2u);
  EXPECT_THAT(CheckContentOf(nodes),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("n_node adds up to 9, the header says 8")));
  PlainBatch edges = StoredBatch(DType::kU8);
  edges.Set("n_edge", 1, 0xffffffffu);
  EXPECT_THAT(CheckContentOf(edges), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("n_edge adds up to")));
}

TEST(CheckContent, RefusesAGraphWithoutNodes) {
  PlainBatch batch = StoredBatch(DType::kU8);
  batch.Set("n_node", 0, 5u);
  batch.Set("n_node", 1, 0u);
  EXPECT_THAT(CheckContentOf(batch), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 1 has no node")));
}

TEST(CheckContent, RefusesEdgeCountsThatAreNotFull) {
  PlainBatch batch = FullBatch({3, 3});
  batch.Set("n_edge", 0, 5u);
  batch.Set("n_edge", 1, 7u);
  EXPECT_THAT(CheckContentOf(batch),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("has 5 edges, not all 6")));
}

template <typename T>
void ExpectEndpointsChecked(DType dtype) {
  for (const char* field : {"senders", "receivers"}) {
    PlainBatch batch = StoredBatch(dtype);
    batch.Set(field, 6, T{3});
    EXPECT_THAT(CheckContentOf(batch),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 2 has an edge at node 3 of 3 nodes")));
  }
}

TEST(CheckContent, RefusesEndpointsOutsideTheirGraph) {
  ExpectEndpointsChecked<std::uint8_t>(DType::kU8);
  ExpectEndpointsChecked<std::uint16_t>(DType::kU16);
  ExpectEndpointsChecked<std::uint32_t>(DType::kU32);
}

TEST(CheckContent, RefusesEdgesThatDoNotAscendByReceiverThenSender) {
  PlainBatch receivers = StoredBatch(DType::kU8);
  receivers.Set("receivers", 0, std::uint8_t{3});
  EXPECT_THAT(CheckContentOf(receivers),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 0 do not ascend")));
  PlainBatch senders = StoredBatch(DType::kU8);
  senders.Set("senders", 1, std::uint8_t{3});
  EXPECT_THAT(CheckContentOf(senders),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 0 do not ascend")));
}

TEST(CheckContent, RefusesEdgesThatReachBeyondTheNextBlock) {
  const auto check = [](PlainBatch batch, std::uint32_t block_nodes) {
    batch.header.padded.block_nodes = block_nodes;
    return CheckContentOf(batch);
  };
  const auto refused = [](const char* message) {
    return StatusIs(absl::StatusCode::kDataLoss, HasSubstr(message));
  };
  for (DType endpoints : {DType::kU8, DType::kU16, DType::kU32}) {
    EXPECT_THAT(check(StoredBatch(endpoints), 2), IsOk());
    EXPECT_THAT(check(StoredBatch(endpoints), 1), refused("joins nodes 2 apart, in blocks of 1"));
  }
  EXPECT_THAT(check(FullBatch({3, 1, 29}), 28), IsOk());
  EXPECT_THAT(check(FullBatch({3, 1, 29}), 27), refused("joins nodes 28 apart, in blocks of 27"));
}

TEST(CheckContent, TakesSeveralEdgesBetweenTwoNodes) {
  PlainBatch batch = StoredBatch(DType::kU8);
  batch.Set("senders", 1, std::uint8_t{2});
  EXPECT_THAT(CheckContentOf(batch), IsOk());
}

TEST(CheckContent, RefusesAGraphThatIsInItAndLeftOut) {
  PlainBatch batch = StoredBatch(DType::kU8);  // of graphs 1000 to 1002
  batch.header.padded.graphs = 6;
  batch.header.corrupt_graphs = {7, 999};
  EXPECT_THAT(CheckHeader(batch.header, kLimit), IsOk());
  EXPECT_THAT(CheckContentOf(batch), IsOk());
  batch.header.corrupt_graphs = {7, 1001};
  EXPECT_THAT(CheckContentOf(batch), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 1001 is in it")));
}

TEST(CheckContent, RefusesBytesBetweenSections) {
  PlainBatch batch = StoredBatch(DType::kU8);
  batch.Set("graph_index", 3, std::uint64_t{1});
  EXPECT_THAT(CheckContentOf(batch),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not 0 between sections, from 24 to 64")));
}

}  // namespace
}  // namespace packtrain::wire
