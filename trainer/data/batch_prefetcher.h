// Reads batches ahead of the training thread.
#ifndef PACKTRAIN_TRAINER_DATA_BATCH_PREFETCHER_H_
#define PACKTRAIN_TRAINER_DATA_BATCH_PREFETCHER_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "absl/status/statusor.h"
#include "client/batch_reader.h"
#include "proto/wire/batch.h"
#include "proto/wire/mutex.h"

namespace packtrain::trainer {

// Receives on a thread of its own, so that checking and copying what came costs the training thread nothing.
// Next is for one thread.
class BatchPrefetcher {
 public:
  // Holds at most `depth` batches, at least 1. A request to stop cancels the reader.
  BatchPrefetcher(std::unique_ptr<client::BatchReader> reader, std::size_t depth, const std::stop_token& stop);
  // Cancels the reader.
  ~BatchPrefetcher();

  // As client::BatchReader::Next; after the end or a failure, that again.
  absl::StatusOr<std::optional<wire::Batch>> Next();

 private:
  using Item = absl::StatusOr<std::optional<wire::Batch>>;

  void ReadAll();
  // False once the consumer has gone.
  bool Put(Item item);

  const std::unique_ptr<client::BatchReader> reader_;
  const std::size_t depth_;
  wire::Mutex mutex_;
  wire::CondVar changed_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::stop_callback<std::function<void()>> on_stop_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_BATCH_PREFETCHER_H_
