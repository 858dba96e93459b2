#include "tests/soak/share_reader.h"

#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/crc32c.h"
#include "proto/wire/batch_spec.h"

namespace packtrain::soak {
namespace {

constexpr std::uint32_t kGraphs = 128;
constexpr std::uint32_t kSeed = 11;
constexpr std::chrono::milliseconds kUntilAPlaceIsFree{100};

client::StreamRequest RequestOf(const Share& share, std::uint64_t epochs, std::size_t read_ahead) {
  client::StreamRequest request;
  request.dataset = share.dataset;
  request.spec.policy = wire::ParseWord(share.policy, wire::kPolicyWords)->value;
  request.spec.graphs = kGraphs;
  request.spec.seed = kSeed;
  request.rank = share.rank;
  request.world_size = share.world_size;
  request.epochs = epochs;
  request.read_ahead.batches = read_ahead;
  return request;
}

absl::Status OtherBatch(std::size_t epoch, std::size_t step, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("epoch ", epoch, ", step ", step, ": ", what));
}

}  // namespace

std::string NameOf(const Share& share) {
  return absl::StrCat(share.policy, ", rank ", share.rank, " of ", share.world_size);
}

ShareReader::ShareReader(std::shared_ptr<client::Connection> connection, const Share& share,
                         std::uint64_t epochs, std::size_t read_ahead)
    : connection_(std::move(connection)), request_(RequestOf(share, epochs, read_ahead)), end_(epochs) {}

absl::StatusOr<bool> ShareReader::Next() {
  while (end_ == 0 || request_.start_epoch < end_) {
    if (absl::Status status = Open(); !status.ok()) return status;
    absl::StatusOr<std::optional<wire::Batch>> batch = reader_->Next();
    if (absl::IsResourceExhausted(batch.status())) {
      ++refusals_;
      reader_.reset();
      std::this_thread::sleep_for(kUntilAPlaceIsFree);
      continue;
    }
    if (!batch.ok()) return batch.status();
    if (!batch->has_value()) return absl::DataLossError("the stream ended before its last epoch");
    if (absl::Status status = Add(**batch); !status.ok()) return status;
    return true;
  }
  return false;
}

absl::Status ShareReader::Open() {
  if (reader_ != nullptr) return absl::OkStatus();
  request_.epochs = end_ == 0 ? 0 : end_ - request_.start_epoch;
  absl::StatusOr<std::unique_ptr<client::BatchReader>> reader =
      client::BatchReader::Open(connection_, request_);
  if (!reader.ok()) return reader.status();
  reader_ = *std::move(reader);
  return absl::OkStatus();
}

absl::Status ShareReader::Add(const wire::Batch& batch) {
  const wire::BatchHeader& header = batch.header();
  if (header.epoch != request_.start_epoch || header.step != request_.start_step) {
    return OtherBatch(
        header.epoch, header.step,
        absl::StrCat("came where epoch ", request_.start_epoch, ", step ", request_.start_step, " was due"));
  }
  const auto graphs = batch.Elements<std::uint64_t>(wire::kGraphIndexSection);
  if (!graphs.ok()) return graphs.status();
  if (header.step == 0) epochs_.emplace_back();
  EpochTrace& epoch = epochs_.back();
  epoch.batches.push_back({header.index, header.padded, batch.body().size(), base::Crc32c(batch.body())});
  epoch.graphs.insert(epoch.graphs.end(), graphs->begin(), graphs->end());
  const bool last = header.step + 1 == header.epoch_steps;
  request_.start_epoch += last ? 1 : 0;
  request_.start_step = last ? 0 : header.step + 1;
  request_.expected_fingerprint = header.fingerprint;
  return absl::OkStatus();
}

absl::Status CheckBatches(const std::vector<EpochTrace>& whole, const std::vector<EpochTrace>& read) {
  for (std::size_t epoch = 0; epoch < read.size(); ++epoch) {
    const std::vector<BatchTrace>& batches = read[epoch].batches;
    for (std::size_t step = 0; step < batches.size(); ++step) {
      if (epoch >= whole.size() || step >= whole[epoch].batches.size()) {
        return OtherBatch(epoch, step, "there is no such batch");
      }
      if (batches[step] != whole[epoch].batches[step]) return OtherBatch(epoch, step, "another batch came");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckEpochs(const std::vector<EpochTrace>& whole, const std::vector<EpochTrace>& read) {
  if (absl::Status status = CheckBatches(whole, read); !status.ok()) return status;
  if (read.size() != whole.size()) {
    return absl::DataLossError(absl::StrCat(read.size(), " of ", whole.size(), " epochs came"));
  }
  for (std::size_t epoch = 0; epoch < whole.size(); ++epoch) {
    if (read[epoch].batches.size() != whole[epoch].batches.size() ||
        read[epoch].graphs != whole[epoch].graphs) {
      return absl::DataLossError(absl::StrCat("epoch ", epoch, " lacks batches or has other graphs"));
    }
  }
  return absl::OkStatus();
}

}  // namespace packtrain::soak
