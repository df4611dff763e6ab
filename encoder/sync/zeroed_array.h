// ZeroedArray: an array that begins as zero bytes, at a cache line, and on huge pages where it is
// large and the system has them. A system hands out zero pages as they are first touched, so that
// to make one that is used here and there costs what is used; and a look into a large table at
// random seldom misses the TLB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace interlock {

// Requires of T: zero bytes are a value.
template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ZeroedArray() = default;
  explicit ZeroedArray(size_t size)
      : block_(std::calloc(size * sizeof(T) + kLineBytes, 1)), size_(size) {
    if (block_ == nullptr) throw std::bad_alloc();
    const uintptr_t line = (reinterpret_cast<uintptr_t>(block_) + kLineBytes - 1) / kLineBytes;
    data_ = reinterpret_cast<T*>(line * kLineBytes);
    advise();
  }
  ZeroedArray(const ZeroedArray& other) : ZeroedArray(other.size_) {
    if (size_ > 0) std::memcpy(static_cast<void*>(data_), other.data_, size_ * sizeof(T));
  }
  ZeroedArray(ZeroedArray&& other) noexcept { swap(other); }
  ZeroedArray& operator=(ZeroedArray other) noexcept {
    swap(other);
    return *this;
  }
  ~ZeroedArray() { std::free(block_); }

  // Makes all of it zero bytes again.
  void clear() {
    if (size_ > 0) std::memset(static_cast<void*>(data_), 0, size_bytes());
  }

  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  size_t size() const { return size_; }
  size_t size_bytes() const { return size_ * sizeof(T); }

 private:
  static constexpr size_t kLineBytes = 64;
  static constexpr size_t kHugePageBytes = size_t{2} << 20;

  void swap(ZeroedArray& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  // A refusal changes nothing but the time.
  void advise() {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    const uintptr_t at = reinterpret_cast<uintptr_t>(data_);
    const uintptr_t first = (at + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
    const uintptr_t last = (at + size_bytes()) / kHugePageBytes * kHugePageBytes;
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
  }

  void* block_ = nullptr;
  T* data_ = nullptr;  // In the block.
  size_t size_ = 0;
};

}  // namespace interlock
