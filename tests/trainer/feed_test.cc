#include <gmock/gmock.h>
#include <torch/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/proto/wire/sample_batches.h"
#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "trainer/data/host_feed.h"
#include "trainer/data/streamed_batches.h"
#include "trainer/data/synthetic_batches.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;

constexpr wire::Shape kPadded = {.graphs = 6, .nodes = 64, .edges = 64};

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

// Counts batches up, and says in each one's targets which it is; fails instead of batch `end`.
class CountingSource final : public BatchSource {
 public:
  CountingSource(std::uint64_t epoch_steps, std::uint64_t end) : end_(end) {
    header_.epoch_steps = epoch_steps;
    header_.padded = kPadded;
  }

  absl::Status Next() override {
    if (cancelled_) return absl::CancelledError("cancelled");
    if (batches_ == end_) return absl::UnavailableError("the server is gone");
    header_.epoch = batches_ / header_.epoch_steps;
    header_.step = batches_++ % header_.epoch_steps;
    return absl::OkStatus();
  }
  const wire::BatchHeader& header() const override { return header_; }
  const wire::BatchTiming& timing() const override { return timing_; }
  absl::Status Expand(const GraphTensors& out) override {
    out.target.fill_(static_cast<double>(batches_ - 1));
    return absl::OkStatus();
  }
  void Cancel() override { cancelled_ = true; }

  std::uint64_t batches() const { return batches_; }
  bool cancelled() const { return cancelled_; }

 private:
  const std::uint64_t end_;
  const wire::BatchTiming timing_{1, 1};
  wire::BatchHeader header_;
  std::uint64_t batches_ = 0;
  bool cancelled_ = false;
};

struct Synthetic {
  explicit Synthetic(std::uint64_t epoch_steps, std::uint64_t end = 1000) {
    auto owned = std::make_unique<CountingSource>(epoch_steps, end);
    source = owned.get();
    batches = std::make_unique<SyntheticBatches>(std::move(owned), at::kCPU);
  }

  float Target() const {
    const GraphTensors out = NewGraphTensors(kPadded, at::kCPU);
    EXPECT_THAT(batches->Expand(out), IsOk());
    return out.target[5].item<float>();
  }

  CountingSource* source;
  std::unique_ptr<SyntheticBatches> batches;
};

TEST(SyntheticBatches, ServesTheFirstEpochRoundByRound) {
  Synthetic synthetic(3);
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_THAT(synthetic.batches->Next(), IsOk());
    EXPECT_EQ(synthetic.batches->header().epoch, i / 3);
    EXPECT_EQ(synthetic.batches->header().step, i % 3);
    EXPECT_EQ(synthetic.batches->timing().build_ns, 0);
    EXPECT_EQ(synthetic.Target(), static_cast<float>(i % 3));
  }
  EXPECT_EQ(synthetic.source->batches(), 3);
  EXPECT_TRUE(synthetic.source->cancelled());
}

TEST(SyntheticBatches, KeepsTheFirstOfALongEpoch) {
  Synthetic synthetic(100);
  for (std::uint64_t i = 0; i <= SyntheticBatches::kMost; ++i) ASSERT_THAT(synthetic.batches->Next(), IsOk());
  EXPECT_EQ(synthetic.batches->header().step, 0);
  EXPECT_EQ(synthetic.batches->header().epoch, 1);
  EXPECT_EQ(synthetic.source->batches(), SyntheticBatches::kMost);
}

TEST(SyntheticBatches, FailsWithItsSource) {
  Synthetic synthetic(3, /*end=*/2);
  EXPECT_THAT(synthetic.batches->Next(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is gone")));
  EXPECT_THAT(synthetic.batches->Next(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is gone")));
}

TEST(StreamedBatches, ExpandsWhatIsStreamed) {
  HostFeed feed(testing::MoleculesTarget("energy"), testing::MoleculesClasses());
  StreamedBatches batches(testing::ReaderOf({testing::Molecules()}, absl::OkStatus()), feed);
  ASSERT_THAT(batches.Next(), IsOk());
  const GraphTensors out = NewGraphTensors(batches.header().padded, at::kCPU);
  ASSERT_THAT(batches.Expand(out), IsOk());
  EXPECT_TRUE(out.weight.equal(at::tensor({1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0f})));
  EXPECT_THAT(batches.Next(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("has ended")));
}

}  // namespace
}  // namespace packtrain::trainer
