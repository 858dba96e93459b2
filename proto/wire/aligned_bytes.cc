#include "proto/wire/aligned_bytes.h"

#include <algorithm>
#include <new>

#include "proto/wire/batch_layout.h"

namespace packtrain::wire {
namespace {

constexpr std::align_val_t kAlignment{kSectionAlignment};

void Free(std::byte* memory) { ::operator delete(memory, kAlignment); }

}  // namespace

AlignedBytes AllocateAligned(std::size_t size) {
  void* memory = ::operator new(std::max<std::size_t>(size, 1), kAlignment, std::nothrow);
  return AlignedBytes(static_cast<std::byte*>(memory), Free);
}

}  // namespace packtrain::wire
