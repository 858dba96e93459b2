// Memory for a batch's body.
#ifndef PACKTRAIN_PROTO_WIRE_ALIGNED_BYTES_H_
#define PACKTRAIN_PROTO_WIRE_ALIGNED_BYTES_H_

#include <cstddef>
#include <memory>

namespace packtrain::wire {

using AlignedBytes = std::unique_ptr<std::byte[], void (*)(std::byte*)>;

// `size` bytes of uninitialised memory that starts at a multiple of kSectionAlignment. Null where there is
// not enough memory; never null for size 0.
AlignedBytes AllocateAligned(std::size_t size);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_ALIGNED_BYTES_H_
