#include "server/records/dataset_content.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/records/graph_record.h"
#include "tests/testing/sample_chains.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::records {
namespace {

using ::packtrain::testing::ChainSchema;
using ::packtrain::testing::IsOk;

// The sum of ln(d + 1) of a graph in which degrees[k] edges end in node k, all from node 0.
double LogDegreesOf(const std::vector<std::uint32_t>& degrees) {
  std::vector<std::uint32_t> receivers;
  for (std::uint32_t node = 0; node < degrees.size(); ++node)
    receivers.insert(receivers.end(), degrees[node], node);
  const std::vector<std::uint32_t> senders(receivers.size());
  const std::string places(degrees.size() * sizeof(std::int32_t), 0), links(receivers.size(), 0),
      target(sizeof(double), 0);
  const std::string_view fields[] = {places, links, target};
  const auto layout = RecordLayout::Create(ChainSchema()).value();
  std::string record;
  EXPECT_THAT(EncodeRecord(layout,
                           {.n_node = static_cast<std::uint32_t>(degrees.size()),
                            .n_edge = static_cast<std::uint32_t>(receivers.size()),
                            .senders = senders,
                            .receivers = receivers,
                            .fields = fields,
                            .source_id = "a"},
                           record),
              IsOk());
  auto content = DatasetContent::Create(ChainSchema()).value();
  EXPECT_THAT(content.Add(std::as_bytes(std::span(record))), IsOk());
  return content.log_degrees(0);
}

void ExpectLogDegrees(const std::vector<std::uint32_t>& degrees) {
  double expected = 0;
  for (const std::uint32_t degree : degrees) expected += std::log1p(degree);
  EXPECT_NEAR(LogDegreesOf(degrees), expected, 1e-14 * expected) << degrees.size();
}

// The widths of an endpoint are 1, 2 and 4 bytes.
class EndpointWidths : public ::testing::TestWithParam<std::size_t> {};

TEST_P(EndpointWidths, DegreesAreCountedWhereverTheirEdgesBeginAndEnd) {
  std::vector<std::uint32_t> degrees(GetParam());
  ExpectLogDegrees(degrees);
  for (std::uint32_t node = 0; node < 40; ++node) degrees[node] = node;
  ExpectLogDegrees(degrees);
  degrees.back() = 1000;
  ExpectLogDegrees(degrees);
  for (std::uint32_t& degree : degrees) degree = 1;
  ExpectLogDegrees(degrees);
}

INSTANTIATE_TEST_SUITE_P(All, EndpointWidths, ::testing::Values(256, 257, 65'536, 65'537));

}  // namespace
}  // namespace packtrain::records
