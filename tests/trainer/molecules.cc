#include "tests/trainer/molecules.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "tests/proto/wire/sample_batches.h"
#include "trainer/data/host_feed.h"

namespace packtrain::testing {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

client::TargetStatistics StatisticsOf(const std::string& name, const std::string& unit, std::size_t column) {
  client::TargetStatistics statistics{.target = name, .unit = unit, .count = 0, .mean = 0, .stddev = 0};
  double square = 0;
  for (const Molecule& molecule : Molecules()) {
    if (std::isnan(molecule.y[column])) continue;
    ++statistics.count;
    statistics.mean += molecule.y[column];
    square += molecule.y[column] * molecule.y[column];
  }
  const auto count = static_cast<double>(statistics.count);
  statistics.mean /= count;
  statistics.stddev = std::sqrt(square / count - statistics.mean * statistics.mean);
  return statistics;
}

// What BatchOf adds up.
struct Columns {
  std::vector<std::uint32_t> n_node, n_edge;
  std::vector<std::uint8_t> z;
  std::vector<float> pos;
  std::vector<double> y;
};

Columns ColumnsOf(std::span<const Molecule> molecules) {
  Columns columns;
  for (const Molecule& molecule : molecules) {
    const auto n = static_cast<std::uint32_t>(molecule.z.size());
    columns.n_node.push_back(n);
    columns.n_edge.push_back(n * (n - 1));
    columns.z.insert(columns.z.end(), molecule.z.begin(), molecule.z.end());
    for (const std::array<float, 3>& point : molecule.pos) {
      columns.pos.insert(columns.pos.end(), point.begin(), point.end());
    }
    columns.y.insert(columns.y.end(), molecule.y.begin(), molecule.y.end());
  }
  return columns;
}

PlainBatch PlainBatchOf(std::span<const Molecule> molecules) {
  const Columns columns = ColumnsOf(molecules);
  PlainBatch batch = CountsOf(columns.n_node, columns.n_edge, wire::EdgeRule::kFull);
  batch.AddSection("z", wire::DType::kU8, {columns.z.size()}, columns.z);
  batch.AddSection("pos", wire::DType::kF32, {columns.z.size(), 3}, columns.pos);
  batch.AddSection("y", wire::DType::kF64, {molecules.size(), 2}, columns.y);
  batch.header.empty = molecules.empty();
  return batch;
}

class VectorReader final : public client::BatchReader {
 public:
  VectorReader(std::vector<std::vector<Molecule>> batches, absl::Status end)
      : batches_(std::move(batches)), end_(std::move(end)) {}

  absl::StatusOr<std::optional<wire::Batch>> Next() override {
    if (next_ < batches_.size()) return BatchOf(batches_[next_++], {.graphs = 6, .nodes = 64, .edges = 64});
    if (end_.ok()) return std::nullopt;
    return end_;
  }
  void Cancel() override {}

 private:
  const std::vector<std::vector<Molecule>> batches_;
  const absl::Status end_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<Molecule> Molecules() {
  return {
      {.z = {1}, .pos = {{0, 0, 0}}, .y = {0, kMissing}},
      {.z = {1, 1}, .pos = {{0, 0, 0}, {0, 0, 0.7414f}}, .y = {-4.478, 0}},
      {.z = {8, 1, 1},
       .pos = {{0, 0, 0.1173f}, {0, 0.7572f, -0.4692f}, {0, -0.7572f, -0.4692f}},
       .y = {-9.511, 1.855}},
      {.z = {7, 1, 1, 1},
       .pos = {{0, 0, 0.1162f},
               {0, 0.9397f, -0.2711f},
               {0.8138f, -0.4699f, -0.2711f},
               {-0.8138f, -0.4699f, -0.2711f}},
       .y = {-12.024, 1.472}},
      {.z = {6, 1, 1, 1, 1},
       .pos = {{0, 0, 0},
               {0.6276f, 0.6276f, 0.6276f},
               {0.6276f, -0.6276f, -0.6276f},
               {-0.6276f, 0.6276f, -0.6276f},
               {-0.6276f, -0.6276f, 0.6276f}},
       .y = {-17.018, 0}},
  };
}

client::DatasetInfo MoleculesInfo() {
  const std::vector<client::TargetStatistics> targets = {StatisticsOf("energy", "eV", 0),
                                                         StatisticsOf("dipole", "D", 1)};
  client::DatasetInfo info;
  info.reference = "molecules@1";
  info.graphs = 5;
  info.splits = {{.name = "all", .graphs = 5, .targets = targets},
                 {.name = "train", .graphs = 5, .targets = targets}};
  info.classes = {1, 6, 7, 8};
  return info;
}

trainer::Target MoleculesTarget(const std::string& name) {
  return *trainer::ChooseTarget(MoleculesInfo(), "train", name);
}

trainer::ClassTable MoleculesClasses() { return *trainer::MakeClassTable(MoleculesInfo()); }

wire::Batch BatchOf(std::span<const Molecule> molecules, wire::Shape padded) {
  PlainBatch batch = PlainBatchOf(molecules);
  batch.header.padded = padded;
  return batch.Unchecked();
}

wire::Batch BatchOf(std::span<const Molecule> molecules) {
  PlainBatch batch = PlainBatchOf(molecules);
  batch.header.padded = batch.header.real;
  return batch.Unchecked();
}

trainer::GraphTensors TensorsOf(const wire::Batch& batch, const trainer::Target& target) {
  trainer::GraphTensors tensors = trainer::NewGraphTensors(batch.header().padded, at::kCPU);
  const absl::Status status = trainer::HostFeed(target, MoleculesClasses()).Expand(batch, tensors);
  if (!status.ok()) throw std::invalid_argument(std::string(status.message()));
  return tensors;
}

std::unique_ptr<client::BatchReader> ReaderOf(std::vector<std::vector<Molecule>> batches, absl::Status end) {
  return std::make_unique<VectorReader>(std::move(batches), std::move(end));
}

}  // namespace packtrain::testing
