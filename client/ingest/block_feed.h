// Reads the blocks of a source on a thread of its own, ahead of whoever sends them.
#ifndef PACKTRAIN_CLIENT_INGEST_BLOCK_FEED_H_
#define PACKTRAIN_CLIENT_INGEST_BLOCK_FEED_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/block_source.h"
#include "proto/base/mutex.h"

namespace packtrain::ingest {

// A block, and how far the import had come with it.
struct ReadBlock {
  Block block;
  std::uint64_t read = 0;
  std::uint64_t consumed_bytes = 0;
};

// Created, used and destroyed by one thread; a second one reads.
class BlockFeed {
 public:
  // `source` has begun and belongs to the feed until it is destroyed, which waits for the block being read.
  explicit BlockFeed(BlockSource& source);
  ~BlockFeed();
  BlockFeed(const BlockFeed&) = delete;
  BlockFeed& operator=(const BlockFeed&) = delete;

  // Waits for the next block; nullopt at the end. Errors of BlockSource::Next.
  absl::StatusOr<std::optional<ReadBlock>> Next();

 private:
  void ReadAll();
  // Waits for room; false where nobody wants more.
  bool Push(ReadBlock block);
  void End(absl::Status status);

  BlockSource& source_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<ReadBlock> blocks_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);  // set once nothing more is read
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_BLOCK_FEED_H_
