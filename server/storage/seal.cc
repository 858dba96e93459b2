#include "server/storage/seal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/content_hash.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/batching/split.h"
#include "server/records/schema.h"

namespace packtrain::storage {
namespace {

constexpr char kDatasetNotFound[] = "DATASET_NOT_FOUND";

constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kVersionDigits = 16;

// Of a split: drawn, sorted or gathered; then kept, as it is stored, and in the write of that.
constexpr std::uint64_t kSplitBytesOfAGraph = 16;
// Of an index of ids: the split of a graph; and what a list of graphs leaves behind when it grows.
constexpr std::uint64_t kIdIndexBytesOfAGraph = 16;
// Of a target: the values that its median is sought in.
constexpr std::uint64_t kTargetBytesOfAGraph = sizeof(double);
// Of a bin of a histogram: counted, and in each of the descriptions below.
constexpr std::uint64_t kBytesOfABin = 320;
// Copies of the description: the data set's, the stored one, its bytes, and that of the answer.
constexpr std::uint64_t kDescriptions = 4;
// Of the rest: names, statistics of the targets, classes, and the sizes of one chunk.
constexpr std::uint64_t kSealBytes = 4 << 20;

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsNameByte(char c) { return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-'; }

absl::StatusOr<std::vector<IndexSplit>> SplitByFractions(const records::DatasetContent& content,
                                                         const v1::SplitFractions& fractions) {
  ABSL_ASSIGN_OR_RETURN(batching::SplitIndices indices,
                        batching::SplitByFractions(
                            fractions.seed(), static_cast<std::uint32_t>(content.graphs()),
                            {fractions.train_permille(), fractions.val_permille(), fractions.test_permille()}));
  std::vector<IndexSplit> splits;
  splits.push_back({"train", std::move(indices.train)});
  splits.push_back({"val", std::move(indices.val)});
  splits.push_back({"test", std::move(indices.test)});
  return splits;
}

// Gives out each graph once, by its source id.
class IdIndex {
 public:
  explicit IdIndex(const records::DatasetContent& content) : ids_(content.ids()), splits_(content.graphs()) {}

  // `split` is a word that stays.
  absl::StatusOr<std::uint32_t> Take(const std::string& id, const std::string_view& split) {
    const std::optional<std::uint32_t> graph = ids_.Find(id);
    if (!graph) {
      return absl::InvalidArgumentError(absl::StrCat("split '", std::string(split), "' names '", id,
                                                     "', which no graph has as its source id"));
    }
    if (const std::string_view* before = std::exchange(splits_[*graph], &split)) {
      return absl::InvalidArgumentError(absl::StrCat("source id '", id, "' is named by split '",
                                                     std::string(*before), "' and again by split '",
                                                     std::string(split), "'"));
    }
    return *graph;
  }

 private:
  const records::IdTable& ids_;
  std::vector<const std::string_view*> splits_;  // by graph; null: it was not taken
};

absl::StatusOr<std::vector<IndexSplit>> SplitByIds(const records::DatasetContent& content,
                                                   const v1::SplitByIds& by_ids) {
  IdIndex index(content);
  std::vector<IndexSplit> splits;
  const std::pair<std::string_view, decltype(&by_ids.train())> lists[] = {
      {"train", &by_ids.train()}, {"val", &by_ids.val()}, {"test", &by_ids.test()}};
  for (const auto& [name, ids] : lists) {
    IndexSplit& split = splits.emplace_back(IndexSplit{std::string(name), {}});
    for (const std::string& id : *ids) {
      ABSL_ASSIGN_OR_RETURN(const std::uint32_t graph, index.Take(id, name));
      split.graphs.push_back(graph);
    }
    std::sort(split.graphs.begin(), split.graphs.end());
  }
  return splits;
}

// Takes each graph once, of those there are.
class GraphTaker {
 public:
  explicit GraphTaker(std::uint64_t graphs) : taken_(graphs) {}

  absl::Status Take(std::uint32_t graph, std::string_view split) {
    if (graph >= taken_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("split '", std::string(split), "' names graph ", graph, " of ", taken_.size()));
    }
    if (taken_[graph]) {
      return absl::InvalidArgumentError(absl::StrCat("split '", std::string(split), "' names graph ", graph,
                                                     ", which a split names already"));
    }
    taken_[graph] = true;
    return absl::OkStatus();
  }

 private:
  std::vector<bool> taken_;
};

absl::StatusOr<std::vector<IndexSplit>> SplitByIndex(const records::DatasetContent& content,
                                                     const v1::SplitByIndex& by_index) {
  GraphTaker taker(content.graphs());
  std::vector<IndexSplit> splits;
  const std::pair<std::string_view, decltype(&by_index.train())> lists[] = {
      {"train", &by_index.train()}, {"val", &by_index.val()}, {"test", &by_index.test()}};
  for (const auto& [name, graphs] : lists) {
    IndexSplit& split = splits.emplace_back(IndexSplit{std::string(name), {graphs->begin(), graphs->end()}});
    for (const std::uint32_t graph : split.graphs) {
      ABSL_RETURN_IF_ERROR(taker.Take(graph, name));
    }
    std::sort(split.graphs.begin(), split.graphs.end());
  }
  return splits;
}

absl::StatusOr<std::vector<IndexSplit>> ResolveSplits(const records::DatasetContent& content,
                                                      const v1::SealDatasetRequest& request) {
  switch (request.split_case()) {
    case v1::SealDatasetRequest::kFractions:
      return SplitByFractions(content, request.fractions());
    case v1::SealDatasetRequest::kByIds:
      return SplitByIds(content, request.by_ids());
    case v1::SealDatasetRequest::kByIndex:
      return SplitByIndex(content, request.by_index());
    case v1::SealDatasetRequest::SPLIT_NOT_SET:
      break;
  }
  return std::vector<IndexSplit>{};
}

}  // namespace

std::string Version(const std::string& content_hash, const std::vector<IndexSplit>& splits) {
  base::Sha256 hash;
  hash.UpdateSized("packtrain version 1");
  hash.UpdateSized(content_hash);
  for (const IndexSplit& split : splits) {
    hash.UpdateSized(split.name);
    const std::span<const std::byte> indices = std::as_bytes(std::span(split.graphs));
    hash.UpdateSized({reinterpret_cast<const char*>(indices.data()), indices.size()});
  }
  return hash.HexDigest().substr(0, kVersionDigits);
}

namespace {

// The smallest count that at least `percent` of a hundred graphs do not exceed.
std::uint32_t Percentile(const std::map<std::uint32_t, std::uint64_t>& bins, std::uint64_t graphs,
                         std::uint64_t percent) {
  std::uint64_t below = 0;
  for (const auto& [count, in_bin] : bins) {
    below += in_bin;
    if (below * 100 >= graphs * percent) return count;
  }
  return 0;
}

// Of a histogram.
std::uint64_t MaxBins(const records::GraphColumn& counts) {
  return std::min<std::uint64_t>(counts.size(), std::uint64_t{counts.max()} + 1);
}

v1::CountSummary Summarize(const records::GraphColumn& counts) {
  absl::flat_hash_map<std::uint32_t, std::uint64_t> found;
  for (std::size_t graph = 0; graph < counts.size(); ++graph) ++found[counts[graph]];
  const std::map<std::uint32_t, std::uint64_t> bins(found.begin(), found.end());
  v1::CountSummary summary;
  for (const auto& [count, graphs] : bins) {
    v1::CountBin& bin = *summary.add_histogram();
    bin.set_count(count);
    bin.set_graphs(graphs);
    summary.set_total(summary.total() + count * graphs);
  }
  summary.set_mean(static_cast<double>(summary.total()) / static_cast<double>(counts.size()));
  summary.set_p50(Percentile(bins, counts.size(), 50));
  summary.set_p99(Percentile(bins, counts.size(), 99));
  summary.set_max(bins.rbegin()->first);
  return summary;
}

// Of at least one value; orders them in another way.
double Median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

v1::TargetStatistics Statistics(const records::DatasetContent& content, std::size_t column,
                                std::span<const std::uint32_t> graphs) {
  std::vector<double> values;
  values.reserve(graphs.size());
  double sum = 0;
  for (const std::uint32_t graph : graphs) {
    const double value = content.target(graph, column);
    if (std::isnan(value)) continue;
    values.push_back(value);
    sum += value;
  }
  v1::TargetStatistics statistics;
  statistics.set_target(content.schema().targets(static_cast<int>(column)).name());
  statistics.set_count(values.size());
  if (values.empty()) return statistics;
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  statistics.set_mean(mean);
  statistics.set_stddev(std::sqrt(squares / static_cast<double>(values.size())));
  statistics.set_median(Median(values));
  return statistics;
}

// Of at least one graph.
double MeanLogDegree(const records::DatasetContent& content, std::span<const std::uint32_t> graphs) {
  std::uint64_t nodes = 0;
  double sum = 0;
  for (const std::uint32_t graph : graphs) {
    nodes += content.n_node()[graph];
    sum += content.log_degrees(graph);
  }
  return sum / static_cast<double>(nodes);
}

v1::Split DescribeSplit(const records::DatasetContent& content, std::string_view name,
                        std::span<const std::uint32_t> graphs) {
  v1::Split split;
  split.set_name(std::string(name));
  split.set_graphs(graphs.size());
  for (int column = 0; column < content.schema().targets_size(); ++column) {
    *split.add_targets() = Statistics(content, static_cast<std::size_t>(column), graphs);
  }
  if (!graphs.empty()) split.set_mean_log_degree(MeanLogDegree(content, graphs));
  return split;
}

v1::Dataset Describe(const records::DatasetContent& content, const v1::SealDatasetRequest& request,
                     const std::vector<IndexSplit>& splits) {
  v1::Dataset dataset;
  dataset.set_name(request.name());
  *dataset.mutable_schema() = content.schema();
  dataset.set_graphs(content.graphs());
  *dataset.mutable_nodes() = Summarize(content.n_node());
  *dataset.mutable_edges() = Summarize(content.n_edge());
  if (records::IsRenumbered(content.schema())) {
    *dataset.mutable_bandwidth() = Summarize(content.bandwidth());
    *dataset.mutable_bandwidth_as_read() = Summarize(content.bandwidth_as_read());
  }
  dataset.set_bytes(content.bytes());
  std::vector<std::uint32_t> all(content.graphs());
  std::iota(all.begin(), all.end(), 0);
  *dataset.add_splits() = DescribeSplit(content, kAllSplit, all);
  for (const IndexSplit& split : splits)
    *dataset.add_splits() = DescribeSplit(content, split.name, split.graphs);
  *dataset.mutable_lineage() = request.lineage();
  dataset.mutable_lineage()->set_edges(content.schema().edges());
  dataset.mutable_lineage()->set_renumbered(content.schema().renumbered());
  for (const std::uint32_t value : content.Classes()) dataset.add_classes(value);
  return dataset;
}

absl::Status CheckVersion(const std::string& version, const v1::SealDatasetRequest& request) {
  if (request.expected_version().empty() || request.expected_version() == version) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the graphs and splits make version ", version, ", not ", request.expected_version(),
                   ": they are not those of ", wire::FullName(request.name(), request.expected_version())));
}

}  // namespace

absl::Status CheckDatasetName(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kMaxNameBytes && IsLetterOrDigit(name.front()) &&
                    std::all_of(name.begin(), name.end(), IsNameByte);
  if (good) return absl::OkStatus();
  return base::WithField(absl::InvalidArgumentError(absl::StrCat(
                             "data set name '", std::string(name), "' must be 1 to ", kMaxNameBytes,
                             " characters of [A-Za-z0-9._-], the first one a letter or digit")),
                         "name");
}

std::uint64_t SealBytes(const records::DatasetContent& content, const v1::SealDatasetRequest& request) {
  std::uint64_t bytes_of_a_graph = sizeof(std::uint32_t);  // of the split of all
  if (request.split_case() != v1::SealDatasetRequest::SPLIT_NOT_SET) bytes_of_a_graph += kSplitBytesOfAGraph;
  if (request.split_case() == v1::SealDatasetRequest::kByIds) bytes_of_a_graph += kIdIndexBytesOfAGraph;
  if (!content.schema().targets().empty()) bytes_of_a_graph += kTargetBytesOfAGraph;
  std::uint64_t bins = MaxBins(content.n_node()) + MaxBins(content.n_edge());
  if (records::IsRenumbered(content.schema())) {
    bins += MaxBins(content.bandwidth()) + MaxBins(content.bandwidth_as_read());
  }
  const std::uint64_t texts = request.lineage().SpaceUsedLong() + content.schema().SpaceUsedLong();
  return content.graphs() * bytes_of_a_graph + bins * kBytesOfABin + kDescriptions * texts + kSealBytes;
}

absl::StatusOr<SealedContent> SealContent(records::DatasetContent& content,
                                          const v1::SealDatasetRequest& request) {
  ABSL_RETURN_IF_ERROR(CheckDatasetName(request.name()));
  if (content.graphs() == 0) return absl::FailedPreconditionError("the import holds no graph");
  ABSL_ASSIGN_OR_RETURN(std::vector<IndexSplit> splits, ResolveSplits(content, request));
  SealedContent sealed{std::move(splits), {}};
  sealed.description = Describe(content, request, sealed.splits);
  sealed.description.set_version(Version(content.Hash(), sealed.splits));
  ABSL_RETURN_IF_ERROR(CheckVersion(sealed.description.version(), request));
  return sealed;
}

DatasetReference ParseReference(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return {std::string(text), std::nullopt};
  return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

absl::Status NoSuchDataset(const DatasetReference& reference) {
  if (!reference.version) {
    return base::WithReason(absl::NotFoundError(absl::StrCat("no data set '", reference.name, "'")),
                            kDatasetNotFound, {{"dataset", reference.name}});
  }
  return base::WithReason(absl::NotFoundError(absl::StrCat("no data set '", reference.name, "' of version '",
                                                           *reference.version, "'")),
                          kDatasetNotFound, {{"dataset", reference.name}, {"version", *reference.version}});
}

absl::Status NoSuchSplit(const v1::Dataset& dataset, std::string_view split) {
  const std::string known = absl::StrJoin(dataset.splits(), ", ",
                                          [](std::string* out, const v1::Split& s) { out->append(s.name()); });
  return base::WithReason(absl::NotFoundError(absl::StrCat("data set '", dataset.name(), "' has no split '",
                                                           std::string(split), "'; it has: ", known)),
                          "SPLIT_NOT_FOUND",
                          {{"dataset", wire::FullName(dataset)}, {"split", std::string(split)}});
}

}  // namespace packtrain::storage
