// Reuses the memory of bodies: memory fresh from the system costs a page fault for every 4 kB, which is more
// than filling it does.
#ifndef PACKTRAIN_PROTO_WIRE_BODY_POOL_H_
#define PACKTRAIN_PROTO_WIRE_BODY_POOL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "proto/base/mutex.h"
#include "proto/wire/aligned_bytes.h"

namespace packtrain::wire {

// Kept by an assembler for its stream, and by a server for all of its streams.
inline constexpr std::uint64_t kMaxKeptBodyBytes = 32 << 20;

// Hands out the memory that was returned last, which is still in the processor's caches. Any number of threads
// may use it. Memory that it has handed out keeps it alive.
class BodyPool : public std::enable_shared_from_this<BodyPool> {
 public:
  // Keeps at most `max_kept_bytes` of memory that is not in use.
  static std::shared_ptr<BodyPool> Create(std::uint64_t max_kept_bytes);
  ~BodyPool();
  BodyPool(const BodyPool&) = delete;
  BodyPool& operator=(const BodyPool&) = delete;

  // As AllocateAligned, of CapacityOf(size) bytes.
  AlignedBytes Take(std::size_t size);

  // `size` rounded up, by an eighth and a page at most, so that sizes that differ a little share memory.
  static std::size_t CapacityOf(std::size_t size);

  // Bytes of memory that is not in use.
  std::uint64_t kept_bytes() const;

 private:
  friend struct AlignedFree;

  struct Kept {
    std::vector<std::byte*> memory;  // the last to be returned is the last here
    std::uint64_t taken = 0;         // when memory of this capacity was last asked for
  };

  explicit BodyPool(std::uint64_t max_kept_bytes) : max_kept_bytes_(max_kept_bytes) {}

  // Takes back memory of `capacity` bytes.
  void Return(std::byte* memory, std::size_t capacity);
  // Frees memory of capacities that have not been asked for longest, until `bytes` more may be kept.
  void MakeRoom(std::uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::uint64_t max_kept_bytes_;

  mutable base::Mutex mutex_;
  std::map<std::size_t, Kept> kept_ ABSL_GUARDED_BY(mutex_);  // by capacity
  std::uint64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t takes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_BODY_POOL_H_
