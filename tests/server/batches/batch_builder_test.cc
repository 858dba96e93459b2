#include "server/batches/batch_builder.h"

#include <gmock/gmock.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "proto/base/crc32c.h"
#include "server/batches/plan_cache.h"
#include "tests/server/batches/scenario.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::batches {
namespace {

using ::packtrain::testing::BodyOf;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::kPlenty;
using ::packtrain::testing::Scenario;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BatchBuilderTest : public ::testing::Test {
 protected:
  // Batch `index` of five graphs each.
  absl::StatusOr<BuiltBatch> Build(std::uint64_t index, std::uint64_t max_batch_bytes = kPlenty) {
    const auto plan = plans_.Get(scenario_.Resolved(5), 0, {.size = 3});
    EXPECT_THAT(plan, IsOk());
    return scenario_.Builder(max_batch_bytes)
        .Build(*(*plan)->plan->BatchAt(index),
               {.epoch = 0, .epoch_steps = (*plan)->plan->steps(), .world_size = 3, .fingerprint = "f"});
  }

  template <typename T>
  static std::vector<T> Elements(const BuiltBatch& batch, std::size_t section) {
    const wire::Section& where = batch.header.sections[section];
    std::vector<T> elements(where.size_bytes / sizeof(T));
    if (!elements.empty())
      std::memcpy(elements.data(), batch.body.get() + where.offset_bytes, where.size_bytes);
    return elements;
  }

  Scenario scenario_{20};
  PlanCache plans_{kPlenty, scenario_.memory()};
};

TEST_F(BatchBuilderTest, SectionsAreAlignedAndInTheOrderOfTheSchema) {
  const auto batch = Build(1);
  ASSERT_THAT(batch, IsOk());
  std::vector<std::string> names;
  std::uint64_t end = 0;
  const std::string body = BodyOf(*batch);
  for (const wire::Section& section : batch->header.sections) {
    names.push_back(section.field);
    EXPECT_EQ(section.offset_bytes % wire::kSectionAlignment, 0);
    EXPECT_EQ(body.substr(end, section.offset_bytes - end), std::string(section.offset_bytes - end, '\0'));
    end = section.offset_bytes + section.size_bytes;
  }
  EXPECT_EQ(end, batch->header.body_bytes);
  EXPECT_THAT(names, ElementsAre("graph_index", "n_node", "n_edge", "z", "pos", "y"));
  EXPECT_THAT(batch->header.sections[4].dims, ElementsAre(15, 3));
}

TEST_F(BatchBuilderTest, CountsAreThoseOfTheGraphs) {
  const auto batch = Build(1);
  ASSERT_THAT(batch, IsOk());
  EXPECT_THAT(Elements<std::uint64_t>(*batch, 0), ElementsAre(5, 6, 7, 8, 9));
  EXPECT_THAT(Elements<std::uint32_t>(*batch, 1), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(Elements<std::uint32_t>(*batch, 2), ElementsAre(0, 2, 6, 12, 20));
}

TEST_F(BatchBuilderTest, ChecksumIsThatOfTheBody) {
  const auto batch = Build(0);
  ASSERT_THAT(batch, IsOk());
  EXPECT_EQ(batch->header.body_crc32c, base::Crc32c({batch->body.get(), batch->header.body_bytes}));
}

TEST_F(BatchBuilderTest, AnEmptyBatchHasEmptySections) {
  const auto batch = Build(5);  // the sixth place of a step pair for four batches
  ASSERT_THAT(batch, IsOk());
  EXPECT_TRUE(batch->header.empty);
  EXPECT_EQ(batch->header.body_bytes, 0);
  EXPECT_EQ(batch->header.body_crc32c, 0);
}

TEST_F(BatchBuilderTest, BodiesAreCountedWhileTheyAreHeld) {
  ASSERT_THAT(Build(0), IsOk());  // makes the plan, which stays
  const std::uint64_t before = scenario_.memory()->used_bytes();
  auto batch = Build(0);
  ASSERT_THAT(batch, IsOk());
  EXPECT_EQ(scenario_.memory()->used_bytes(), before + wire::BodyPool::CapacityOf(batch->header.body_bytes));
  batch->body.reset();
  EXPECT_EQ(scenario_.memory()->used_bytes(), before);
}

TEST_F(BatchBuilderTest, ABodyAboveTheLimitIsRefused) {
  const std::uint64_t size = Build(0)->header.body_bytes;
  EXPECT_THAT(Build(0, size), IsOk());
  EXPECT_THAT(Build(0, size - 1),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr(std::to_string(size) + " bytes"), HasSubstr("--max-batch-bytes"))));
}

TEST_F(BatchBuilderTest, ADamagedRecordIsNamed) {
  scenario_.store().FailRead(0, absl::DataLossError("molecules, graph 3 is damaged"));
  EXPECT_THAT(Build(0), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 3")));
}

TEST_F(BatchBuilderTest, APlanThatContradictsItsGraphsIsABug) {
  batching::PlannedBatch batch;
  const std::uint32_t graphs[] = {0, 1};
  batch.graphs = graphs;
  batch.real = {2, 4, 2};  // really 3 nodes
  EXPECT_THAT(scenario_.Builder().Build(batch, {}), StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace packtrain::batches
