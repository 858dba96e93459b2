// One rank's epochs as their reader can tell them from others.
#ifndef PACKTRAIN_TESTS_SOAK_SHARE_READER_H_
#define PACKTRAIN_TESTS_SOAK_SHARE_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/batch_reader.h"
#include "client/connection.h"
#include "proto/wire/batch_layout.h"

namespace packtrain::soak {

// What one rank reads of a data set.
struct Share {
  std::string dataset;
  std::string policy;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  friend auto operator<=>(const Share&, const Share&) = default;
};

std::string NameOf(const Share& share);

struct BatchTrace {
  std::uint64_t index = 0;
  wire::Shape padded;
  std::uint64_t body_bytes = 0;
  std::uint32_t body_crc32c = 0;  // of the body as it lies with the reader
  friend bool operator==(const BatchTrace&, const BatchTrace&) = default;
};

struct EpochTrace {
  std::vector<BatchTrace> batches;    // by step
  std::vector<std::uint64_t> graphs;  // in the order they came
};

// Reads a share from epoch 0 on, and goes on behind its last batch where the server had no place for it. Used
// by one thread.
class ShareReader {
 public:
  // Reads `epochs` of them; 0: without end. `read_ahead` batches lie ready.
  ShareReader(std::shared_ptr<client::Connection> connection, const Share& share, std::uint64_t epochs,
              std::size_t read_ahead);

  // Adds the next batch to its epoch; false at the end.
  absl::StatusOr<bool> Next();

  // Those that have begun.
  const std::vector<EpochTrace>& epochs() const { return epochs_; }
  // How often every place of the server was taken.
  std::uint64_t refusals() const { return refusals_; }

 private:
  absl::Status Open();
  absl::Status Add(const wire::Batch& batch);

  const std::shared_ptr<client::Connection> connection_;
  client::StreamRequest request_;  // of what is still due
  const std::uint64_t end_;        // epochs; 0: none
  std::unique_ptr<client::BatchReader> reader_;
  std::vector<EpochTrace> epochs_;
  std::uint64_t refusals_ = 0;
};

// Whether each batch in `read` is that of `whole`; DATA_LOSS names the first that is not.
absl::Status CheckBatches(const std::vector<EpochTrace>& whole, const std::vector<EpochTrace>& read);

// Whether `read` is `whole`, each graph as often.
absl::Status CheckEpochs(const std::vector<EpochTrace>& whole, const std::vector<EpochTrace>& read);

}  // namespace packtrain::soak

#endif  // PACKTRAIN_TESTS_SOAK_SHARE_READER_H_
