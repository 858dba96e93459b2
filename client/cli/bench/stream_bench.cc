#include "client/cli/bench/stream_bench.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/batch_reader.h"
#include "client/byte_stream.h"
#include "client/cli/bench/padded_tensors.h"
#include "client/cli/bench/pass_ledger.h"
#include "client/internal/service_client.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_spec_convert.h"
#include "proto/wire/full_name.h"

namespace packtrain::cli {
namespace {

using client::ByteStream;
using client::ByteStreamSetting;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Batches and bare bytes are measured in turns, this many, so that other load on the machine affects both
// alike.
constexpr int kRounds = 5;
// Share of the time that is spent before it counts: plans, records that come into memory, buffers.
constexpr double kWarmUpShare = 0.2;
// The largest number of message sizes that the server repeats.
constexpr std::size_t kMaxSizes = 4096;
// Of a message beside its bytes.
constexpr std::uint32_t kMessageFrame = 64;

struct Setting {
  ByteStreamSetting setting;
  const char* name;
};
constexpr std::array<Setting, 3> kSettings = {{{ByteStreamSetting::kPlain, "plain"},
                                               {ByteStreamSetting::kWindow, "window"},
                                               {ByteStreamSetting::kQueue, "queue"}}};

struct Totals {
  std::uint64_t batches = 0;
  std::uint64_t graphs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t max_bytes = 0;
  std::uint64_t crc_checked = 0;
  double seconds = 0;
};

// Calls `step` until `seconds` have passed, at least once; the time it took, or why a step failed.
template <typename Step>
absl::StatusOr<double> RepeatFor(double seconds, Step step) {
  const Clock::time_point start = Clock::now();
  const Clock::time_point end = start + std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  Clock::time_point now;
  do {
    ABSL_RETURN_IF_ERROR(step());
    now = Clock::now();
  } while (now < end);
  return Seconds(now - start).count();
}

// Calls `work(item)` for each item on a thread of its own; the first error, if there is one.
template <typename Item, typename Work>
absl::Status OnThreads(std::vector<Item>& items, Work work) {
  std::vector<absl::Status> statuses(items.size());
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < items.size(); ++k) {
    threads.emplace_back([&statuses, &items, &work, k] { statuses[k] = work(items[k]); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) {
    ABSL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

// One trainer's place: reads batches as a trainer does. Used by one thread at a time.
class StreamClient {
 public:
  // `expand`: null where batches are not expanded.
  StreamClient(std::unique_ptr<client::BatchReader> reader, std::shared_ptr<PassLedger> ledger,
               std::unique_ptr<PaddedTensors> expand)
      : reader_(std::move(reader)), ledger_(std::move(ledger)), expand_(std::move(expand)) {}

  // Reads for a time; counts what it reads where `counted`.
  absl::Status ReadFor(double seconds, bool counted) {
    Totals read;
    ABSL_ASSIGN_OR_RETURN(const double took, RepeatFor(seconds, [&] { return ReadOne(read); }));
    if (counted) Add(read, took);
    return absl::OkStatus();
  }

  const Totals& totals() const { return totals_; }
  // Bytes of the bodies that came first.
  const std::vector<std::uint64_t>& first_sizes() const { return first_sizes_; }

 private:
  absl::Status ReadOne(Totals& read) {
    const std::uint64_t checks_before = reader_->body_checks();
    ABSL_ASSIGN_OR_RETURN(const std::optional<wire::Batch> batch, reader_->Next());
    if (!batch.has_value()) return absl::InternalError("an endless stream ended");
    const wire::BatchHeader& header = batch->header();
    ABSL_RETURN_IF_ERROR(NotePass(*batch));
    if (header.empty) return absl::OkStatus();
    if (expand_ != nullptr) {
      ABSL_RETURN_IF_ERROR(expand_->Expand(*batch));
    }
    read.crc_checked += reader_->body_checks() - checks_before;
    ++read.batches;
    read.graphs += header.real.graphs;
    read.bytes += header.body_bytes;
    read.max_bytes = std::max(read.max_bytes, header.body_bytes);
    if (first_sizes_.size() < kMaxSizes) first_sizes_.push_back(header.body_bytes);
    return absl::OkStatus();
  }

  absl::Status NotePass(const wire::Batch& batch) {
    const wire::BatchHeader& header = batch.header();
    ABSL_ASSIGN_OR_RETURN(const auto graphs, batch.Elements<std::uint64_t>(wire::kGraphIndexSection));
    ABSL_RETURN_IF_ERROR(ledger_->Add(header.epoch, graphs));
    return header.step + 1 == header.epoch_steps ? ledger_->Leave(header.epoch) : absl::OkStatus();
  }

  void Add(const Totals& read, double seconds) {
    totals_.batches += read.batches;
    totals_.graphs += read.graphs;
    totals_.bytes += read.bytes;
    totals_.max_bytes = std::max(totals_.max_bytes, read.max_bytes);
    totals_.crc_checked += read.crc_checked;
    totals_.seconds += seconds;
  }

  const std::unique_ptr<client::BatchReader> reader_;
  const std::shared_ptr<PassLedger> ledger_;
  const std::unique_ptr<PaddedTensors> expand_;
  Totals totals_;
  std::vector<std::uint64_t> first_sizes_;
};

// The measurement of bare bytes in one setting.
struct RawTotals {
  std::unique_ptr<ByteStream> stream;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

// The sizes of the messages in which bodies of these sizes are sent.
std::vector<std::uint32_t> MessageSizes(const std::vector<std::uint64_t>& bodies,
                                        std::uint32_t max_message_bytes) {
  const std::uint64_t most = max_message_bytes - kMessageFrame;
  std::vector<std::uint32_t> sizes;
  for (std::uint64_t left : bodies) {
    for (; left > 0 && sizes.size() < kMaxSizes; left -= sizes.back()) {
      sizes.push_back(static_cast<std::uint32_t>(std::min(left, most)));
    }
  }
  return sizes;
}

class StreamBench {
 public:
  explicit StreamBench(const StreamBenchOptions& options) : options_(options) {}

  absl::StatusOr<StreamBenchResult> Run() {
    ABSL_RETURN_IF_ERROR(LookUp());
    ABSL_RETURN_IF_ERROR(OpenClients());
    ABSL_RETURN_IF_ERROR(ReadAll(options_.seconds * kWarmUpShare, false));
    if (options_.raw) {
      ABSL_RETURN_IF_ERROR(OpenByteStreams());
    }
    for (int round = 0; round < kRounds; ++round) {
      ABSL_RETURN_IF_ERROR(ReadAll(options_.seconds / kRounds, true));
      ABSL_RETURN_IF_ERROR(ReadBytes());
    }
    SumUp();
    ABSL_RETURN_IF_ERROR(AskForMemory());
    return result_;
  }

 private:
  // Asks the server what it can do, and what it has.
  absl::Status LookUp() {
    ABSL_ASSIGN_OR_RETURN(auto connection, client::Connection::Open(options_.connection));
    services_ = std::make_unique<client::ServiceClient>(std::move(connection));
    if (options_.raw) {
      ABSL_RETURN_IF_ERROR(CheckServesBytes());
    }
    ABSL_RETURN_IF_ERROR(LookUpDataset());
    return LookUpPlan();
  }

  absl::Status CheckServesBytes() {
    ABSL_ASSIGN_OR_RETURN(const v1::GetServerInfoResponse info, ServerInfo());
    if (std::find(info.features().begin(), info.features().end(), "bench") != info.features().end()) {
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(
        absl::StrCat("server ", options_.connection.server,
                     " does not serve the bare stream that batches are measured against: start packtraind with "
                     "--enable-bench, or measure batches alone with --no-raw"));
  }

  absl::Status LookUpDataset() {
    v1::GetDatasetRequest request;
    request.set_dataset(options_.dataset);
    ABSL_ASSIGN_OR_RETURN(v1::GetDatasetResponse response,
                          services_->Read<v1::GetDatasetResponse>(request, client::kLookUp));
    dataset_ = std::move(*response.mutable_dataset());
    result_.dataset = wire::FullName(dataset_);
    return absl::OkStatus();
  }

  absl::StatusOr<v1::GetServerInfoResponse> ServerInfo() {
    return services_->Read<v1::GetServerInfoResponse>(v1::GetServerInfoRequest(), client::kLookUp);
  }

  // Has the first epoch planned for the streams that will read it, so that no stream's first batch waits for a
  // plan.
  absl::Status LookUpPlan() {
    v1::GetPlanRequest request;
    ABSL_ASSIGN_OR_RETURN(*request.mutable_spec(), wire::ToMessage(options_.spec));
    request.set_dataset(result_.dataset);
    request.set_epoch(options_.first_epoch);
    request.set_world_size(WorldSize());
    ABSL_ASSIGN_OR_RETURN(const v1::GetPlanResponse plan, services_->Read<v1::GetPlanResponse>(request));
    result_.plan_seconds = plan.plan_seconds();
    // Another epoch of dropped last steps may hold other graphs.
    if (!options_.spec.drop_last) pass_graphs_ = plan.graphs();
    return absl::OkStatus();
  }

  std::uint32_t WorldSize() const { return options_.shared_epoch ? options_.clients : 1; }

  std::shared_ptr<PassLedger> NewLedger() {
    ledgers_.push_back(std::make_shared<PassLedger>(dataset_.graphs(), pass_graphs_, WorldSize()));
    return ledgers_.back();
  }

  absl::Status OpenClients() {
    for (std::uint32_t k = 0; k < options_.clients; ++k) {
      ABSL_ASSIGN_OR_RETURN(auto connection, client::Connection::Open(options_.connection));
      client::StreamRequest request;
      request.dataset = result_.dataset;
      request.spec = options_.spec;
      request.rank = options_.shared_epoch ? k : 0;
      request.world_size = WorldSize();
      request.start_epoch = options_.first_epoch;
      request.read_ahead.batches = 0;  // a client does nothing but read, as with the bare bytes
      ABSL_RETURN_IF_ERROR(OpenClient(std::move(connection), request));
    }
    return absl::OkStatus();
  }

  absl::Status OpenClient(std::shared_ptr<client::Connection> connection,
                          const client::StreamRequest& request) {
    const Clock::time_point start = Clock::now();
    ABSL_ASSIGN_OR_RETURN(auto reader, client::BatchReader::Open(std::move(connection), request));
    auto ledger = ledgers_.empty() || !options_.shared_epoch ? NewLedger() : ledgers_.front();
    auto expand = options_.expand ? std::make_unique<PaddedTensors>(dataset_.schema()) : nullptr;
    clients_.push_back(std::make_unique<StreamClient>(std::move(reader), std::move(ledger), std::move(expand)));
    absl::Status first = clients_.back()->ReadFor(0, false);
    result_.first_batch_seconds = std::max(result_.first_batch_seconds, Seconds(Clock::now() - start).count());
    return first;
  }

  absl::Status OpenByteStreams() {
    const std::vector<std::uint32_t> sizes = MessageSizes(
        clients_.front()->first_sizes(), static_cast<std::uint32_t>(options_.connection.max_message_bytes));
    for (std::size_t s = 0; s < kSettings.size(); ++s) {
      for (std::uint32_t k = 0; k < options_.clients; ++k) {
        ABSL_ASSIGN_OR_RETURN(auto stream, ByteStream::Open(options_.connection, sizes, kSettings[s].setting));
        if (auto first = stream->Next(); !first.ok()) return first.status();
        raw_[s].push_back({std::move(stream)});
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadAll(double seconds, bool counted) {
    return OnThreads(clients_,
                     [&](std::unique_ptr<StreamClient>& client) { return client->ReadFor(seconds, counted); });
  }

  absl::Status ReadBytes() {
    const double seconds = options_.seconds / kRounds / kSettings.size();
    for (std::vector<RawTotals>& setting : raw_) {
      absl::Status read = OnThreads(setting, [&](RawTotals& raw) {
        const absl::StatusOr<double> took = RepeatFor(seconds, [&raw] {
          const absl::StatusOr<std::uint64_t> bytes = raw.stream->Next();
          if (bytes.ok()) raw.bytes += *bytes;
          return bytes.status();
        });
        if (took.ok()) raw.seconds += *took;
        return took.status();
      });
      ABSL_RETURN_IF_ERROR(read);
    }
    return absl::OkStatus();
  }

  void SumUp() {
    std::uint64_t bytes = 0;
    for (const std::unique_ptr<StreamClient>& client : clients_) {
      const Totals& totals = client->totals();
      bytes += totals.bytes;
      result_.batches += totals.batches;
      result_.crc_checked += totals.crc_checked;
      result_.graphs += totals.graphs;
      result_.seconds = std::max(result_.seconds, totals.seconds);
      result_.graphs_per_second += static_cast<double>(totals.graphs) / totals.seconds;
      result_.bytes_per_second += static_cast<double>(totals.bytes) / totals.seconds;
      result_.max_batch_bytes = std::max(result_.max_batch_bytes, totals.max_bytes);
    }
    if (result_.batches > 0) {
      result_.mean_batch_bytes = static_cast<double>(bytes) / static_cast<double>(result_.batches);
    }
    for (const std::shared_ptr<PassLedger>& ledger : ledgers_) result_.passes += ledger->passes();
    ChooseRaw();
  }

  // None where bare bytes were not measured.
  void ChooseRaw() {
    double highest = 0;
    for (std::size_t s = 0; s < kSettings.size(); ++s) {
      double rate = 0;
      for (const RawTotals& raw : raw_[s]) rate += static_cast<double>(raw.bytes) / raw.seconds;
      if (rate <= highest) continue;
      highest = rate;
      result_.raw = RawRate{rate, kSettings[s].name};
    }
  }

  absl::Status AskForMemory() {
    ABSL_ASSIGN_OR_RETURN(const v1::GetServerInfoResponse info, ServerInfo());
    result_.server_rss_bytes = info.memory().process_rss_bytes();
    result_.resident = info.memory().resident_dataset_bytes() >= dataset_.bytes();
    return absl::OkStatus();
  }

  const StreamBenchOptions& options_;
  std::unique_ptr<client::ServiceClient> services_;
  v1::Dataset dataset_;
  std::optional<std::uint64_t> pass_graphs_;
  std::vector<std::shared_ptr<PassLedger>> ledgers_;
  std::vector<std::unique_ptr<StreamClient>> clients_;
  std::array<std::vector<RawTotals>, kSettings.size()> raw_;
  StreamBenchResult result_;
};

}  // namespace

absl::StatusOr<StreamBenchResult> MeasureStream(const StreamBenchOptions& options) {
  return StreamBench(options).Run();
}

}  // namespace packtrain::cli
