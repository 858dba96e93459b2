#include "client/cli/bench/pass_ledger.h"

#include <gmock/gmock.h>

#include <vector>

#include "tests/testing/status_matchers.h"

namespace packtrain::cli {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;

using Graphs = std::vector<std::uint64_t>;

TEST(PassLedgerTest, CountsPassesOfDistinctGraphs) {
  PassLedger ledger(3, 3, 1);
  for (const std::uint64_t epoch : {4, 5}) {
    EXPECT_THAT(ledger.Add(epoch, Graphs{2, 0}), IsOk());
    EXPECT_THAT(ledger.Add(epoch, Graphs{1}), IsOk());
    EXPECT_THAT(ledger.Leave(epoch), IsOk());
  }
  EXPECT_EQ(ledger.passes(), 2u);
}

TEST(PassLedgerTest, AGraphThatComesTwiceInAPassIsDataLoss) {
  PassLedger ledger(3, 3, 1);
  EXPECT_THAT(ledger.Add(0, Graphs{2, 0}), IsOk());
  EXPECT_THAT(ledger.Add(1, Graphs{2}), IsOk());
  EXPECT_THAT(ledger.Add(0, Graphs{1, 2}), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 2 twice")));
}

TEST(PassLedgerTest, AGraphThatTheDatasetDoesNotHaveIsDataLoss) {
  PassLedger ledger(3, 3, 1);
  EXPECT_THAT(ledger.Add(0, Graphs{3}), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 3")));
}

TEST(PassLedgerTest, APassIsOverWhenAllItsReadersHaveLeft) {
  PassLedger ledger(4, 4, 2);
  EXPECT_THAT(ledger.Add(0, Graphs{0, 1}), IsOk());
  EXPECT_THAT(ledger.Leave(0), IsOk());
  EXPECT_EQ(ledger.passes(), 0u);
  EXPECT_THAT(ledger.Add(0, Graphs{2, 3}), IsOk());
  EXPECT_THAT(ledger.Leave(0), IsOk());
  EXPECT_EQ(ledger.passes(), 1u);
}

TEST(PassLedgerTest, APassThatMissesGraphsIsDataLoss) {
  PassLedger ledger(4, 4, 1);
  EXPECT_THAT(ledger.Add(0, Graphs{0, 1}), IsOk());
  EXPECT_THAT(ledger.Leave(0), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("held 2 graphs")));
}

TEST(PassLedgerTest, HowManyAPassHoldsMayBeUnknown) {
  PassLedger ledger(4, std::nullopt, 1);
  EXPECT_THAT(ledger.Add(0, Graphs{0, 1}), IsOk());
  EXPECT_THAT(ledger.Leave(0), IsOk());
}

}  // namespace
}  // namespace packtrain::cli
