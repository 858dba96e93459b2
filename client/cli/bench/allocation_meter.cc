#include "client/cli/bench/allocation_meter.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace packtrain::cli {
namespace {

// Constant-initialised: operator new is called before any constructor runs.
constinit std::atomic<bool> counting = false;
constinit std::atomic<std::int64_t> used_bytes = 0;
constinit std::atomic<std::int64_t> max_bytes = 0;

void CountTaken(std::int64_t bytes) {
  const std::int64_t used = used_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t max = max_bytes.load(std::memory_order_relaxed);
  while (used > max && !max_bytes.compare_exchange_weak(max, used, std::memory_order_relaxed)) {
  }
}

void* Allocate(std::size_t bytes) {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory != nullptr && counting.load(std::memory_order_relaxed)) {
    CountTaken(static_cast<std::int64_t>(malloc_usable_size(memory)));
  }
  return memory;
}

void Free(void* memory) {
  if (memory != nullptr && counting.load(std::memory_order_relaxed)) {
    used_bytes.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  }
  std::free(memory);
}

}  // namespace

AllocationMeter::AllocationMeter() {
  used_bytes = 0;
  max_bytes = 0;
  counting = true;
}

AllocationMeter::~AllocationMeter() { counting = false; }

std::uint64_t AllocationMeter::peak_bytes() const { return static_cast<std::uint64_t>(max_bytes.load()); }

}  // namespace packtrain::cli

// The library's other forms but the over-aligned ones call these. Sanitizers replace each form by itself, so
// the one whose memory a plain delete may free is here, too.
void* operator new(std::size_t bytes) {
  while (true) {
    if (void* const memory = packtrain::cli::Allocate(bytes); memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return packtrain::cli::Allocate(bytes);
}

void operator delete(void* memory) noexcept { packtrain::cli::Free(memory); }
void operator delete(void* memory, std::size_t) noexcept { packtrain::cli::Free(memory); }
