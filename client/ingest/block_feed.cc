#include "client/ingest/block_feed.h"

#include <utility>

namespace packtrain::ingest {
namespace {

constexpr std::size_t kBlocksAhead = 4;

}  // namespace

BlockFeed::BlockFeed(BlockSource& source) : source_(source), thread_([this] { ReadAll(); }) {}

BlockFeed::~BlockFeed() {
  {
    base::MutexLock lock(mutex_);
    stopped_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

absl::StatusOr<std::optional<ReadBlock>> BlockFeed::Next() {
  std::optional<ReadBlock> block;
  {
    base::MutexLock lock(mutex_);
    while (blocks_.empty() && !end_) changed_.Wait(mutex_);
    if (blocks_.empty()) {
      if (!end_->ok()) return *end_;
      return block;
    }
    block = std::move(blocks_.front());
    blocks_.pop_front();
  }
  changed_.NotifyAll();
  return block;
}

void BlockFeed::ReadAll() {
  while (true) {
    ReadBlock next;
    const absl::StatusOr<bool> more = source_.Next(&next.block);
    if (!more.ok() || !*more) return End(more.status());
    next.read = source_.ledger().read();
    next.consumed_bytes = source_.consumed_bytes();
    if (!Push(std::move(next))) return End(absl::CancelledError("nobody reads on"));
  }
}

bool BlockFeed::Push(ReadBlock block) {
  {
    base::MutexLock lock(mutex_);
    while (blocks_.size() >= kBlocksAhead && !stopped_) changed_.Wait(mutex_);
    if (stopped_) return false;
    blocks_.push_back(std::move(block));
  }
  changed_.NotifyAll();
  return true;
}

void BlockFeed::End(absl::Status status) {
  {
    base::MutexLock lock(mutex_);
    end_ = std::move(status);
  }
  changed_.NotifyAll();
}

}  // namespace packtrain::ingest
