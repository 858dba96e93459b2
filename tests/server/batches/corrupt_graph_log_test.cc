#include "server/batches/corrupt_graph_log.h"

#include <gmock/gmock.h>

#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "server/log/event_log.h"

namespace packtrain::batches {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CorruptGraphLogTest : public ::testing::Test {
 protected:
  CorruptGraphLogTest() { log::SetUp({}, out_); }
  ~CorruptGraphLogTest() override { log::SetUp({}); }

  std::string Add(std::vector<std::uint64_t> graphs) {
    out_.str("");
    wire::BatchHeader header;
    header.epoch = 2;
    header.index = 7;
    header.corrupt_graphs = std::move(graphs);
    log_.Add("qm9@1", header);
    return out_.str();
  }

  std::ostringstream out_;
  std::chrono::steady_clock::time_point now_{};
  CorruptGraphLog log_{[this] { return now_; }};
};

TEST_F(CorruptGraphLogTest, ALineNamesBatchAndGraphs) {
  EXPECT_THAT(Add({3, 17}),
              HasSubstr("level=warning event=corrupt_graphs_left_out dataset=qm9@1 epoch=2 batch=7 "
                        "count=2 graphs=3,17 not_logged_before=0"));
}

TEST_F(CorruptGraphLogTest, ALineIsNoLongerThanTwentyGraphs) {
  std::vector<std::uint64_t> graphs(21);
  std::iota(graphs.begin(), graphs.end(), 0);
  EXPECT_THAT(Add(graphs), HasSubstr("count=21 graphs=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,... "));
}

TEST_F(CorruptGraphLogTest, AreSaidOnceInTenSecondsAndTheOthersAreCounted) {
  Add({1});
  now_ += kCorruptGraphLogPeriod - std::chrono::milliseconds(1);
  EXPECT_THAT(Add({2, 3}), IsEmpty());
  EXPECT_THAT(Add({4}), IsEmpty());
  now_ += std::chrono::milliseconds(1);
  EXPECT_THAT(Add({5}), HasSubstr("graphs=5 not_logged_before=3"));
  now_ += kCorruptGraphLogPeriod;
  EXPECT_THAT(Add({6}), HasSubstr("graphs=6 not_logged_before=0"));
}

}  // namespace
}  // namespace packtrain::batches
