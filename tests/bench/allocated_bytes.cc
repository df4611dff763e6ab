#include "tests/bench/allocated_bytes.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

// Bytes allocated through operator new, now and at most.
std::atomic<size_t> live{0};
std::atomic<size_t> peak{0};

void* count_allocation(void* block) {
  if (block == nullptr) std::abort();
  const size_t now = live += malloc_usable_size(block);
  size_t before = peak;
  while (now > before && !peak.compare_exchange_weak(before, now)) {
  }
  return block;
}

void count_release(void* block) {
  if (block != nullptr) live -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace

[[gnu::noinline]] void* operator new(size_t size) { return count_allocation(std::malloc(size)); }
[[gnu::noinline]] void* operator new[](size_t size) { return count_allocation(std::malloc(size)); }
[[gnu::noinline]] void operator delete(void* block) noexcept { count_release(block); }
[[gnu::noinline]] void operator delete[](void* block) noexcept { count_release(block); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { count_release(block); }
[[gnu::noinline]] void operator delete[](void* block, size_t) noexcept { count_release(block); }

[[gnu::noinline]] void* operator new(size_t size, std::align_val_t alignment) {
  const auto alignment_bytes = static_cast<size_t>(alignment);
  const size_t rounded = (size + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  return count_allocation(std::aligned_alloc(alignment_bytes, rounded));
}
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept {
  count_release(block);
}
[[gnu::noinline]] void operator delete(void* block, size_t, std::align_val_t) noexcept {
  count_release(block);
}

namespace interlock {

size_t begin_peak() {
  peak = live.load();
  return live;
}

size_t peak_bytes() { return peak; }

}  // namespace interlock
