#include <gmock/gmock.h>
#include <torch/types.h>

#include <string>
#include <vector>

#include "tests/proto/sample_batches.h"
#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "trainer/data/host_feed.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;

// A hydrogen molecule, with a row too many in `field`.
wire::Batch Hydrogen(const std::string& field) {
  testing::PlainBatch batch = testing::CountsOf({2}, {2}, wire::EdgeRule::kFull);
  const auto rows = [&](const std::string& of, std::uint64_t number) {
    return of == field ? number + 1 : number;
  };
  const std::uint64_t z = rows("z", 2), pos = rows("pos", 2), y = rows("y", 1);
  batch.AddSection("z", wire::DType::kU8, {z}, std::vector<std::uint8_t>(z, 1));
  batch.AddSection("pos", wire::DType::kF32, {pos, 3}, std::vector<float>(3 * pos, 0.5f));
  batch.AddSection("y", wire::DType::kF64, {y, 2}, std::vector<double>(2 * y, -4.478));
  return batch.Unchecked();
}

absl::Status Expand(const wire::Batch& batch) {
  HostFeed feed(testing::MoleculesTarget("energy"), testing::MoleculesClasses());
  return feed.Expand(batch, NewGraphTensors(batch.header().padded, at::kCPU));
}

TEST(HostFeed, RefusesAFieldOfAnotherShape) {
  EXPECT_THAT(Expand(Hydrogen("")), IsOk());
  for (const std::string field : {"z", "pos", "y"}) {
    EXPECT_THAT(Expand(Hydrogen(field)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("shape of field '" + field + "'")));
  }
}

}  // namespace
}  // namespace packtrain::trainer
