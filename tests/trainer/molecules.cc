#include "tests/trainer/molecules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/proto/wire/sample_batches.h"
#include "trainer/data/host_feed.h"

namespace packtrain::testing {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

client::TargetStatistics StatisticsOf(const std::string& name, const std::string& unit, std::size_t column) {
  client::TargetStatistics statistics{.target = name, .unit = unit, .count = 0, .mean = 0, .stddev = 0};
  double square = 0;
  std::vector<double> values;
  for (const Molecule& molecule : Molecules()) {
    if (std::isnan(molecule.y[column])) continue;
    ++statistics.count;
    values.push_back(molecule.y[column]);
    statistics.mean += molecule.y[column];
    square += molecule.y[column] * molecule.y[column];
  }
  const auto count = static_cast<double>(statistics.count);
  statistics.mean /= count;
  statistics.stddev = std::sqrt(square / count - statistics.mean * statistics.mean);
  std::ranges::sort(values);
  statistics.median = std::midpoint(values[(values.size() - 1) / 2], values[values.size() / 2]);
  return statistics;
}

// What BatchOf adds up.
struct Columns {
  std::vector<std::uint32_t> n_node, n_edge;
  std::vector<std::uint8_t> z;
  std::vector<float> pos;
  std::vector<double> y;
  std::vector<float> cell;
  std::vector<std::int32_t> shift;
  std::vector<std::int32_t> x;
  std::vector<std::int32_t> token;
  std::vector<float> edge_attr;
  std::vector<std::uint8_t> edge_type;
  std::vector<std::uint8_t> is_slot, is_candidate, is_target;
};

// A heavy atom asks for those of its hydrogens that lie on one side of it: none of one, one of two or three,
// two of four.
void AddNode(const Molecule& molecule, std::size_t node, Columns& columns) {
  const bool heavy = molecule.z[node] > 1;
  const float y = molecule.pos[node][1];
  columns.x.insert(columns.x.end(), {molecule.z[node], static_cast<std::int32_t>(10 * y) % 3});
  columns.token.push_back(heavy || y <= 0 ? molecule.z[node] : 2);
  columns.is_slot.push_back(heavy);
  columns.is_candidate.push_back(!heavy);
  columns.is_target.push_back(!heavy && y > 0);
}

void AddEdge(const Molecule& molecule, std::size_t sender, std::size_t receiver, Columns& columns) {
  const std::uint8_t from = molecule.z[sender], to = molecule.z[receiver];
  columns.shift.insert(columns.shift.end(), {from > to, 0, to > from});
  columns.edge_attr.insert(columns.edge_attr.end(), {from * 0.125f, to - molecule.pos[sender][1]});
  columns.edge_type.push_back((from + 2 * to) % 4);
}

void AddInputs(const Molecule& molecule, Columns& columns) {
  for (int axis = 0; axis < 3; ++axis) {
    for (int other = 0; other < 3; ++other) columns.cell.push_back(axis == other ? 6.0f + axis : 0);
  }
  for (std::size_t receiver = 0; receiver < molecule.z.size(); ++receiver) {
    AddNode(molecule, receiver, columns);
    for (std::size_t sender = 0; sender < molecule.z.size(); ++sender) {
      if (sender != receiver) AddEdge(molecule, sender, receiver, columns);
    }
  }
}

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
    AddInputs(molecule, columns);
  }
  return columns;
}

PlainBatch PlainBatchOf(std::span<const Molecule> molecules) {
  const Columns columns = ColumnsOf(molecules);
  PlainBatch batch = CountsOf(columns.n_node, columns.n_edge, wire::EdgeRule::kFull);
  batch.AddSection("z", wire::DType::kU8, {columns.z.size()}, columns.z);
  batch.AddSection("pos", wire::DType::kF32, {columns.z.size(), 3}, columns.pos);
  batch.AddSection("y", wire::DType::kF64, {molecules.size(), 2}, columns.y);
  batch.AddSection("cell", wire::DType::kF32, {molecules.size(), 3, 3}, columns.cell);
  batch.AddSection("shift", wire::DType::kI32, {columns.edge_type.size(), 3}, columns.shift);
  batch.AddSection("x", wire::DType::kI32, {columns.z.size(), 2}, columns.x);
  batch.AddSection("token", wire::DType::kI32, {columns.token.size()}, columns.token);
  batch.AddSection("edge_attr", wire::DType::kF32, {columns.edge_type.size(), 2}, columns.edge_attr);
  batch.AddSection("edge_type", wire::DType::kU8, {columns.edge_type.size()}, columns.edge_type);
  batch.AddSection("is_slot", wire::DType::kU8, {columns.z.size()}, columns.is_slot);
  batch.AddSection("is_candidate", wire::DType::kU8, {columns.z.size()}, columns.is_candidate);
  batch.AddSection("is_target", wire::DType::kU8, {columns.z.size()}, columns.is_target);
  batch.header.empty = molecules.empty();
  return batch;
}

trainer::GraphTensors Expanded(const wire::Batch& batch, const trainer::FeedOptions& feed) {
  trainer::GraphTensors tensors = trainer::NewGraphTensors(batch.header().padded, feed.layout, at::kCPU);
  const absl::Status status = trainer::HostFeed(feed).Expand(batch, tensors);
  if (!status.ok()) throw std::invalid_argument(std::string(status.message()));
  return tensors;
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
  std::uint64_t body_checks() const override { return 0; }
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

std::vector<trainer::Target> MoleculesTargets(const std::string& names) {
  return *trainer::ChooseTargets(MoleculesInfo(), "train", names);
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

// Tokens are atomic numbers, but 2 for a hydrogen on the side of those that are asked for. Both kinds of
// hydrogen have a class each, nitrogen and oxygen have one, and all else has another.
trainer::TokenClasses MoleculesTokens() { return {.of_token = {0, 3, 2, 0, 0, 0, 0, 1, 1}, .count = 4}; }

trainer::InputSizes MoleculesSizes() {
  return {.classes = 4, .node_features = 2, .edge_features = 2, .edge_types = 8, .mean_log_degree = 1.1};
}

trainer::InputLayout MoleculesLayout() {
  using trainer::Input;
  return {.inputs = {Input::kAtomicNumbers, Input::kPositions, Input::kTargets}, .sizes = MoleculesSizes()};
}

trainer::FeedOptions MoleculesFeed(const std::string& targets) {
  trainer::FeedOptions feed = {.layout = MoleculesLayout(),
                               .targets = MoleculesTargets(targets),
                               .classes = MoleculesClasses(),
                               .token_classes = MoleculesTokens()};
  feed.layout.sizes.targets = static_cast<std::int64_t>(feed.targets.size());
  return feed;
}

trainer::GraphTensors TensorsOf(const wire::Batch& batch, const std::string& targets) {
  return Expanded(batch, MoleculesFeed(targets));
}

trainer::GraphTensors TensorsOf(const wire::Batch& batch, const trainer::InputLayout& layout) {
  trainer::FeedOptions feed = MoleculesFeed();
  feed.layout = layout;
  return Expanded(batch, feed);
}

std::unique_ptr<client::BatchReader> ReaderOf(std::vector<std::vector<Molecule>> batches, absl::Status end) {
  return std::make_unique<VectorReader>(std::move(batches), std::move(end));
}

}  // namespace packtrain::testing
