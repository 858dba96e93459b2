#include "client/ingest/kept_labels.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <random>
#include <vector>

namespace packtrain::ingest {
namespace {

using Found = std::vector<KeptLabels::Found>;
using Count = KeptLabels::Count;

TEST(KeptLabelsTest, LabelsOfRefusedGraphsAreNotCounted) {
  KeptLabels kept(true);
  for (const Found& labels : {Found{{0, true}}, {{0, true}}, {{0, false}, {1, true}}, {}, {{0, true}}})
    kept.Add(labels);
  EXPECT_EQ(kept.CountsWithout({}).graphs, 5u);
  EXPECT_EQ(kept.CountsWithout({}).Of(0), (Count{4, 3}));
  EXPECT_EQ(kept.CountsWithout({}).Of(1), (Count{1, 1}));
  EXPECT_EQ(kept.CountsWithout({}).Of(2), (Count{0, 0}));
  const std::vector<std::uint64_t> refused = {1, 2};
  EXPECT_EQ(kept.CountsWithout(refused).graphs, 3u);
  EXPECT_EQ(kept.CountsWithout(refused).Of(0), (Count{2, 2}));
  EXPECT_EQ(kept.CountsWithout(refused).Of(1), (Count{0, 0}));
  kept.Restart();
  EXPECT_EQ(kept.CountsWithout({}).graphs, 0u);
}

TEST(KeptLabelsTest, AnyGraphsCanBeTakenBack) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    KeptLabels kept(true), expected(false);
    std::vector<std::uint64_t> refused;
    for (std::uint64_t graph = 0; graph < 200; ++graph) {
      Found labels;
      for (std::uint32_t label = 0; label < 3; ++label) {
        if (random() % 3 == 0) labels.push_back({label, random() % 2 == 0});
      }
      kept.Add(labels);
      if (random() % 4 == 0) {
        refused.push_back(graph);
      } else {
        expected.Add(labels);
      }
    }
    EXPECT_EQ(kept.CountsWithout(refused).graphs, expected.CountsWithout({}).graphs);
    for (std::size_t label = 0; label < 3; ++label) {
      EXPECT_EQ(kept.CountsWithout(refused).Of(label), expected.CountsWithout({}).Of(label));
    }
  }
}

}  // namespace
}  // namespace packtrain::ingest
