#include "tests/testing/fake_graph_store.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/wire/full_name.h"
#include "server/records/dataset_content.h"
#include "server/storage/seal.h"

namespace packtrain::testing {

struct FakeGraphStore::State {
  base::Mutex mutex;
  std::map<std::string, std::shared_ptr<const storage::Dataset>> versions
      ABSL_GUARDED_BY(mutex);  // NAME@VERSION
  std::map<std::string, std::shared_ptr<const storage::Dataset>> deleted ABSL_GUARDED_BY(mutex);  // likewise
  std::map<std::string, std::string> names ABSL_GUARDED_BY(mutex);  // NAME -> VERSION
  std::uint64_t bytes ABSL_GUARDED_BY(mutex) = 0;
  std::uint64_t reads_before_failure ABSL_GUARDED_BY(mutex) = 0;
  std::optional<absl::Status> failure ABSL_GUARDED_BY(mutex);
  absl::Status scan_failure ABSL_GUARDED_BY(mutex);
  std::set<std::uint32_t> damaged ABSL_GUARDED_BY(mutex);

  absl::Status BeginRead() {
    const base::MutexLock lock(mutex);
    if (!failure || reads_before_failure-- > 0) return absl::OkStatus();
    return *std::exchange(failure, std::nullopt);
  }

  bool IsDamaged(std::uint32_t graph) {
    const base::MutexLock lock(mutex);
    return damaged.contains(graph);
  }

  std::vector<v1::Dataset> VersionsOf(const storage::DatasetReference& reference) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::vector<v1::Dataset> found;
    for (const auto& [name, dataset] : versions) {
      const v1::Dataset& description = dataset->description();
      if (description.name() != reference.name) continue;
      if (!reference.version || description.version() == *reference.version) found.push_back(description);
    }
    return found;
  }

  absl::Status BeginScan() {
    const base::MutexLock lock(mutex);
    return scan_failure;
  }
};

namespace {

class FakeDataset : public storage::Dataset {
 public:
  FakeDataset(std::shared_ptr<FakeGraphStore::State> state, storage::SealedContent sealed,
              const records::DatasetContent& content, std::vector<std::string> records)
      : state_(std::move(state)),
        description_(std::move(sealed.description)),
        layout_(*records::RecordLayout::Create(description_.schema())),
        splits_(std::move(sealed.splits)),
        n_node_(content.n_node().Numbers()),
        n_edge_(content.n_edge().Numbers()),
        bandwidth_as_read_(content.bandwidth_as_read().Numbers()),
        all_(content.graphs()),
        records_(std::move(records)) {
    std::iota(all_.begin(), all_.end(), 0);
    if (bandwidth_as_read_.empty()) return;
    bandwidth_ = content.bandwidth().Numbers();
  }

  const v1::Dataset& description() const override { return description_; }
  std::span<const std::uint32_t> n_node() const override { return n_node_; }
  std::span<const std::uint32_t> n_edge() const override { return n_edge_; }
  std::span<const std::uint32_t> bandwidth() const override { return bandwidth_; }

  absl::StatusOr<std::vector<std::uint32_t>> ReadBandwidthsAsRead(
      std::span<const std::uint32_t> graphs) const override {
    if (bandwidth_as_read_.empty()) return Dataset::ReadBandwidthsAsRead(graphs);
    std::vector<std::uint32_t> bandwidths;
    for (const std::uint32_t graph : graphs) {
      if (graph >= bandwidth_as_read_.size()) return absl::OutOfRangeError(absl::StrCat("no graph ", graph));
      bandwidths.push_back(bandwidth_as_read_[graph]);
    }
    return bandwidths;
  }

  absl::StatusOr<std::span<const std::uint32_t>> Split(std::string_view name) const override {
    if (name == storage::kAllSplit) return std::span(all_);
    for (const storage::IndexSplit& split : splits_) {
      if (split.name == name) return std::span(split.graphs);
    }
    return storage::NoSuchSplit(description_, name);
  }

  absl::Status ReadRecords(std::span<const std::uint32_t> graphs, RecordSink sink) const override {
    if (absl::Status status = state_->BeginRead(); !status.ok()) return status;
    for (const std::uint32_t graph : graphs) {
      if (graph >= records_.size()) return absl::OutOfRangeError(absl::StrCat("no graph ", graph));
    }
    for (std::size_t k = graphs.size(); k-- > 0;) {
      if (absl::Status status = Deliver(k, graphs[k], sink); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status ScanRecords(RecordSink sink) const override {
    if (absl::Status status = state_->BeginScan(); !status.ok()) return status;
    for (const std::uint32_t graph : all_) {
      if (absl::Status status = Deliver(graph, graph, sink); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Deliver(std::size_t k, std::uint32_t graph, RecordSink sink) const {
    if (state_->IsDamaged(graph)) {
      return absl::DataLossError(
          absl::StrCat("data set ", description_.name(), ", graph ", graph, ": damaged"));
    }
    const absl::StatusOr<records::RecordView> record = records::RecordView::Parse(
        layout_, std::as_bytes(std::span(records_[graph])), n_node_[graph], n_edge_[graph]);
    return record.ok() ? sink(k, *record) : record.status();
  }

  const std::shared_ptr<FakeGraphStore::State> state_;
  const v1::Dataset description_;
  const records::RecordLayout layout_;
  const std::vector<storage::IndexSplit> splits_;
  const std::vector<std::uint32_t> n_node_;
  const std::vector<std::uint32_t> n_edge_;
  const std::vector<std::uint32_t> bandwidth_as_read_;  // these two are empty unless renumbered
  std::vector<std::uint32_t> bandwidth_;
  std::vector<std::uint32_t> all_;
  const std::vector<std::string> records_;
};

class FakeWriter : public storage::DatasetWriter {
 public:
  FakeWriter(std::shared_ptr<FakeGraphStore::State> state, records::DatasetContent content)
      : state_(std::move(state)), content_(std::move(content)) {}

  absl::Status Append(std::span<const std::byte> record) override {
    if (absl::Status status = content_.Add(record); !status.ok()) return status;
    records_.emplace_back(reinterpret_cast<const char*>(record.data()), record.size());
    return absl::OkStatus();
  }

  std::uint64_t graphs() const override { return content_.graphs(); }
  bool HasId(std::string_view id) const override { return content_.ids().Contains(id); }
  std::uint64_t memory_bytes() const override { return content_.memory_bytes(); }
  std::uint64_t seal_bytes(const v1::SealDatasetRequest& request) const override {
    return storage::SealBytes(content_, request);
  }

  absl::StatusOr<SealResult> Seal(const v1::SealDatasetRequest& request) override {
    absl::StatusOr<storage::SealedContent> sealed = storage::SealContent(content_, request);
    if (!sealed.ok()) return sealed.status();
    const v1::Dataset description = sealed->description;
    const base::MutexLock lock(state_->mutex);
    state_->names[description.name()] = description.version();
    auto& version = state_->versions[wire::FullName(description)];
    if (version != nullptr) return SealResult{version->description(), true};
    state_->bytes += description.bytes();
    version = std::make_shared<FakeDataset>(state_, *std::move(sealed), content_, std::move(records_));
    return SealResult{description, false};
  }

 private:
  const std::shared_ptr<FakeGraphStore::State> state_;
  records::DatasetContent content_;
  std::vector<std::string> records_;
};

}  // namespace

FakeGraphStore::FakeGraphStore() : state_(std::make_shared<State>()) {}

// The data sets hold the state that holds them.
FakeGraphStore::~FakeGraphStore() {
  const base::MutexLock lock(state_->mutex);
  state_->versions.clear();
  state_->deleted.clear();
}

absl::StatusOr<std::unique_ptr<storage::DatasetWriter>> FakeGraphStore::NewDataset(const v1::Schema& schema) {
  absl::StatusOr<records::DatasetContent> content = records::DatasetContent::Create(schema);
  if (!content.ok()) return content.status();
  return std::make_unique<FakeWriter>(state_, *std::move(content));
}

absl::StatusOr<std::shared_ptr<const storage::Dataset>> FakeGraphStore::Open(std::string_view text) {
  storage::DatasetReference reference = storage::ParseReference(text);
  const base::MutexLock lock(state_->mutex);
  if (!reference.version) {
    const auto newest = state_->names.find(reference.name);
    if (newest == state_->names.end()) return storage::NoSuchDataset(reference);
    reference.version = newest->second;
  }
  const std::string full_name = wire::FullName(reference.name, *reference.version);
  for (const auto* of : {&state_->versions, &state_->deleted}) {
    if (const auto found = of->find(full_name); found != of->end()) return found->second;
  }
  return storage::NoSuchDataset(reference);
}

absl::StatusOr<std::vector<v1::Dataset>> FakeGraphStore::Versions(std::string_view text) const {
  const storage::DatasetReference reference = storage::ParseReference(text);
  const base::MutexLock lock(state_->mutex);
  std::vector<v1::Dataset> found = state_->VersionsOf(reference);
  if (found.empty()) return storage::NoSuchDataset(reference);
  return found;
}

absl::Status FakeGraphStore::MakeCurrent(std::string_view text) {
  const storage::DatasetReference reference = storage::ParseReference(text);
  const base::MutexLock lock(state_->mutex);
  if (state_->VersionsOf(reference).empty()) return storage::NoSuchDataset(reference);
  if (reference.version) state_->names[reference.name] = *reference.version;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Dataset>> FakeGraphStore::Delete(std::string_view text) {
  const storage::DatasetReference reference = storage::ParseReference(text);
  const base::MutexLock lock(state_->mutex);
  std::vector<v1::Dataset> found = state_->VersionsOf(reference);
  if (found.empty()) return storage::NoSuchDataset(reference);
  for (const v1::Dataset& dataset : found) {
    state_->deleted.insert(state_->versions.extract(wire::FullName(dataset)));
  }
  const std::vector<v1::Dataset> left = state_->VersionsOf({reference.name, std::nullopt});
  const auto imported = [](const v1::Dataset& dataset) {
    return std::pair(dataset.lineage().imported_at_ms(), dataset.version());
  };
  const auto newest = std::max_element(left.begin(), left.end(),
                                       [&](const auto& a, const auto& b) { return imported(a) < imported(b); });
  if (left.empty()) {
    state_->names.erase(reference.name);
  } else if (state_->names[reference.name] == reference.version) {
    state_->names[reference.name] = newest->version();
  }
  return found;
}

absl::StatusOr<std::vector<std::string>> FakeGraphStore::Deleted() const {
  const base::MutexLock lock(state_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, dataset] : state_->deleted) names.push_back(name);
  return names;
}

absl::Status FakeGraphStore::Reclaim(std::string_view reference) {
  const base::MutexLock lock(state_->mutex);
  const auto found = state_->deleted.find(std::string(reference));
  if (found == state_->deleted.end()) return absl::OkStatus();
  if (found->second.use_count() > 1) {
    return absl::FailedPreconditionError(absl::StrCat("data set ", found->first, " is in use"));
  }
  state_->deleted.erase(found);
  return absl::OkStatus();
}

absl::Status FakeGraphStore::ListAfter(std::string_view after, DatasetSink sink) const {
  const base::MutexLock lock(state_->mutex);
  for (auto at = state_->names.upper_bound(std::string(after)); at != state_->names.end(); ++at) {
    if (!sink(state_->versions.at(wire::FullName(at->first, at->second))->description())) break;
  }
  return absl::OkStatus();
}

absl::Status FakeGraphStore::ListVersionsAfter(std::string_view after, DatasetSink sink) const {
  const base::MutexLock lock(state_->mutex);
  for (auto at = state_->versions.upper_bound(std::string(after)); at != state_->versions.end(); ++at) {
    if (!sink(at->second->description())) break;
  }
  return absl::OkStatus();
}

std::uint64_t FakeGraphStore::memory_bytes() const {
  const base::MutexLock lock(state_->mutex);
  return state_->bytes;
}

void FakeGraphStore::FailRead(std::uint64_t n, absl::Status status) {
  const base::MutexLock lock(state_->mutex);
  state_->reads_before_failure = n;
  state_->failure = std::move(status);
}

void FakeGraphStore::Damage(std::set<std::uint32_t> graphs) {
  const base::MutexLock lock(state_->mutex);
  state_->damaged = std::move(graphs);
}

void FakeGraphStore::FailScans(absl::Status status) {
  const base::MutexLock lock(state_->mutex);
  state_->scan_failure = std::move(status);
}

}  // namespace packtrain::testing
