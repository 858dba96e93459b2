#include "server/metrics/families.h"

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace packtrain::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr char kRocksPrefix[] = "packtrain_rocksdb_";

// Adds metrics to one family.
class FamilyBuilder {
 public:
  FamilyBuilder(std::string name, std::string help, MetricType type)
      : family_{std::move(name), std::move(help), type, {}} {}

  FamilyBuilder& Add(double value, Labels labels = {}) {
    ClientMetric& metric = New(std::move(labels));
    if (family_.type == MetricType::Counter) metric.counter.value = value;
    if (family_.type == MetricType::Gauge) metric.gauge.value = value;
    return *this;
  }
  FamilyBuilder& Add(std::uint64_t value, Labels labels = {}) {
    return Add(static_cast<double>(value), std::move(labels));
  }
  FamilyBuilder& Add(const Histogram& histogram, Labels labels = {});
  FamilyBuilder& Add(const rocks::Durations& durations, Labels labels);

  MetricFamily Take() { return std::move(family_); }

 private:
  ClientMetric& New(Labels labels) {
    ClientMetric& metric = family_.metric.emplace_back();
    metric.label = std::move(labels);
    return metric;
  }

  MetricFamily family_;
};

FamilyBuilder& FamilyBuilder::Add(const Histogram& histogram, Labels labels) {
  ClientMetric::Histogram& out = New(std::move(labels)).histogram;
  std::uint64_t cumulative = 0;
  for (std::size_t k = 0; k < histogram.counts().size(); ++k) {
    cumulative += histogram.counts()[k];
    const bool bounded = k < histogram.bounds().size();
    out.bucket.push_back(
        {cumulative, bounded ? histogram.bounds()[k] : std::numeric_limits<double>::infinity()});
  }
  out.sample_count = cumulative;
  out.sample_sum = histogram.sum();
  return *this;
}

FamilyBuilder& FamilyBuilder::Add(const rocks::Durations& durations, Labels labels) {
  ClientMetric::Summary& out = New(std::move(labels)).summary;
  out.sample_count = durations.count;
  out.sample_sum = durations.sum;
  out.quantile = {{0.5, durations.median}, {0.95, durations.p95}, {0.99, durations.p99}};
  return *this;
}

FamilyBuilder Counter(const char* name, const char* help) { return {name, help, MetricType::Counter}; }
FamilyBuilder Gauge(const char* name, const char* help) { return {name, help, MetricType::Gauge}; }
FamilyBuilder Distribution(const char* name, const char* help) { return {name, help, MetricType::Histogram}; }

MetricFamily BuildInfo(const ServerReading& reading) {
  return Gauge("packtrain_build_info", "1, with the versions of what runs as labels")
      .Add(1.0, {{"version", reading.version},
                 {"api", reading.api},
                 {"plan_version", std::to_string(reading.plan_version)}})
      .Take();
}

MetricFamily BatchesSent(const BatchTotals& sent) {
  FamilyBuilder family = Counter("packtrain_batches_sent_total",
                                 "Batches handed to gRPC; a data set's series go when it is deleted");
  for (const auto& [series, count] : sent.batches) {
    family.Add(count, {{"policy", series.policy}, {"dataset", series.dataset}});
  }
  return family.Take();
}

MetricFamily StreamsEnded(const StreamsReading& streams) {
  FamilyBuilder family =
      Counter("packtrain_streams_ended_total",
              "Batch streams that ended or were refused, and bench streams that were refused, by status code");
  for (const auto& [code, count] : streams.ended) family.Add(count, {{"code", code}});
  return family.Take();
}

MetricFamily Oversize(const OversizeTotals& oversize) {
  return Counter("packtrain_oversize_graphs_total",
                 "Graphs above the budget in the plans of epochs, by --oversize; error: the plan was refused")
      .Add(oversize.error, {{"action", "error"}})
      .Add(oversize.alone, {{"action", "alone"}})
      .Add(oversize.skip, {{"action", "skip"}})
      .Take();
}

MetricFamily Steps(const StepHistograms& steps) {
  FamilyBuilder family = Distribution("packtrain_step_duration_seconds",
                                      "Reported training steps, by phase; total is the whole step");
  for (std::size_t k = 0; k < wire::kTrainerPhases.size(); ++k) {
    family.Add(steps.by_phase[k], {{"phase", std::string(wire::kTrainerPhases[k].name)}});
  }
  return family.Take();
}

MetricFamily Datasets(const std::optional<std::set<std::string>>& datasets) {
  FamilyBuilder family = Gauge("packtrain_datasets", "Data sets stored; absent where the store cannot say");
  if (datasets.has_value()) family.Add(std::uint64_t{datasets->size()});
  return family.Take();
}

void AddStreams(const StreamsReading& streams, std::vector<MetricFamily>& out) {
  const BatchTally& all = streams.sent.all;
  out.push_back(BatchesSent(streams.sent));
  out.push_back(Counter("packtrain_graphs_sent_total", "Graphs in batches sent").Add(all.graphs).Take());
  out.push_back(
      Counter("packtrain_sent_bytes_total", "Bytes of the bodies of batches sent").Add(all.body_bytes).Take());
  out.push_back(Counter("packtrain_corrupt_graphs_total",
                        "Graphs left out of batches sent, as they are damaged, --on-corrupt skip")
                    .Add(all.corrupt_graphs)
                    .Take());
  out.push_back(
      Distribution("packtrain_batch_build_duration_seconds", "Time to read and lay out a batch that was sent")
          .Add(all.build_seconds)
          .Take());
  out.push_back(
      Distribution("packtrain_padding_ratio", "Share of a batch's node and edge slots that is padding")
          .Add(all.padding_ratio)
          .Take());
  out.push_back(Gauge("packtrain_stream_queue_bytes",
                      "Bytes of batches that are built and not yet taken by their clients, of all streams")
                    .Add(streams.queue_bytes)
                    .Take());
  out.push_back(Gauge("packtrain_streams_open", "Batch streams open").Add(streams.open).Take());
  out.push_back(
      Gauge("packtrain_streams_limit", "Most batch streams open, --max-streams").Add(streams.most).Take());
  out.push_back(StreamsEnded(streams));
}

void AddMemory(const MemoryReading& memory, std::vector<MetricFamily>& out) {
  out.push_back(Gauge("packtrain_memory_cap_bytes", "The server's budget of memory, --memory")
                    .Add(memory.cap_bytes)
                    .Take());
  out.push_back(
      Gauge("packtrain_memory_used_bytes", "Memory that is taken from the server's budget, all parts together")
          .Add(memory.used_bytes)
          .Take());
  FamilyBuilder caps =
      Gauge("packtrain_memory_part_cap_bytes", "Most that a part may take of the server's budget of memory");
  FamilyBuilder used =
      Gauge("packtrain_memory_part_used_bytes", "Memory that a part takes of the server's budget");
  for (const MemoryPartReading& part : memory.parts) {
    caps.Add(part.cap_bytes, {{"part", part.name}});
    used.Add(part.used_bytes, {{"part", part.name}});
  }
  out.push_back(caps.Take());
  out.push_back(used.Take());
  out.push_back(Gauge("packtrain_resident_dataset_bytes", "Records of data sets that are in memory whole")
                    .Add(memory.resident_dataset_bytes)
                    .Take());
}

void AddDisk(const DiskReading& disk, std::vector<MetricFamily>& out) {
  out.push_back(Gauge("packtrain_kept_imports", "Imports that broke off and are kept for --keep-staged")
                    .Add(disk.kept_imports)
                    .Take());
  out.push_back(Gauge("packtrain_kept_import_bytes", "Bytes on disk of imports that broke off and are kept")
                    .Add(disk.kept_import_bytes)
                    .Take());
}

void AddProcess(const ProcessReading& process, std::vector<MetricFamily>& out) {
  out.push_back(
      Gauge("process_resident_memory_bytes", "Resident memory size").Add(process.resident_bytes).Take());
  out.push_back(
      Counter("process_cpu_seconds_total", "Processor time, user and system").Add(process.cpu_seconds).Take());
  out.push_back(Gauge("process_open_fds", "Open file descriptors").Add(process.open_files).Take());
  out.push_back(Gauge("process_max_fds", "Most file descriptors open").Add(process.max_files).Take());
}

// Makes one family of each name for all stores, since stores have the same statistics.
class RocksFamilies {
 public:
  template <typename T>
  void Add(const char* name, const char* help, MetricType type, const T& value, const std::string& store) {
    const auto found = families_.try_emplace(name, std::string(kRocksPrefix) + name, help, type).first;
    found->second.Add(value, {{"store", store}});
  }
  void MoveTo(std::vector<MetricFamily>& out) {
    for (auto& [name, family] : families_) out.push_back(family.Take());
  }

 private:
  std::map<std::string, FamilyBuilder> families_;
};

void AddDatabases(const std::vector<DatabaseReading>& databases, std::vector<MetricFamily>& out) {
  RocksFamilies families;
  for (const auto& [store, statistics] : databases) {
    for (const auto& [name, help, value] : statistics.counters) {
      families.Add(name, help, MetricType::Counter, value, store);
    }
    for (const auto& [name, help, value] : statistics.gauges) {
      families.Add(name, help, MetricType::Gauge, value, store);
    }
    for (const rocks::Durations& durations : statistics.durations) {
      families.Add(durations.name, durations.help, MetricType::Summary, durations, store);
    }
  }
  families.MoveTo(out);
}

}  // namespace

std::vector<MetricFamily> ToFamilies(const ServerReading& reading) {
  std::vector<MetricFamily> families;
  families.push_back(BuildInfo(reading));
  AddStreams(reading.streams, families);
  families.push_back(Oversize(reading.oversize));
  families.push_back(Counter("packtrain_plans_made_total", "Epochs planned").Add(reading.plans).Take());
  families.push_back(Datasets(reading.datasets));
  families.push_back(Steps(reading.steps));
  AddMemory(reading.memory, families);
  AddDisk(reading.disk, families);
  AddDatabases(reading.databases, families);
  AddProcess(reading.process, families);
  return families;
}

}  // namespace packtrain::metrics
