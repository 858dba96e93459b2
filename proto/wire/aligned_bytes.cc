#include "proto/wire/aligned_bytes.h"

#include <algorithm>
#include <new>

#include "proto/wire/batch_layout.h"
#include "proto/wire/body_pool.h"

namespace packtrain::wire {
namespace {

constexpr std::align_val_t kAlignment{kSectionAlignment};

}  // namespace

void AlignedFree::operator()(std::byte* memory) const {
  if (pool == nullptr) return FreeAligned(memory);
  pool->Return(memory, capacity);
}

AlignedBytes AllocateAligned(std::size_t size) {
  void* memory = ::operator new(std::max<std::size_t>(size, 1), kAlignment, std::nothrow);
  return AlignedBytes(static_cast<std::byte*>(memory));
}

void FreeAligned(std::byte* memory) { ::operator delete(memory, kAlignment); }

}  // namespace packtrain::wire
