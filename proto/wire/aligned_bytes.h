// Memory for a batch's body.
#ifndef PACKTRAIN_PROTO_WIRE_ALIGNED_BYTES_H_
#define PACKTRAIN_PROTO_WIRE_ALIGNED_BYTES_H_

#include <cstddef>
#include <memory>

namespace packtrain::wire {

class BodyPool;

// Gives memory back to where it came from: to `pool`, or to the system if that is null.
struct AlignedFree {
  std::shared_ptr<BodyPool> pool;
  std::size_t capacity = 0;
  void operator()(std::byte* memory) const;
};

using AlignedBytes = std::unique_ptr<std::byte[], AlignedFree>;

// `size` bytes of uninitialised memory that starts at a multiple of kSectionAlignment. Null where there is
// not enough memory; never null for size 0.
AlignedBytes AllocateAligned(std::size_t size);

// Frees memory that AllocateAligned returned and that was released from its owner.
void FreeAligned(std::byte* memory);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_ALIGNED_BYTES_H_
