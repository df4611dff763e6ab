// ZeroedArray: an array that begins as zero bytes, at a cache line, and where it is large at the
// begin of a huge page, if the system has them. A system hands out zero pages as they are first
// touched, so that to make one that is used here and there costs what is used; a look into a large
// table at random seldom misses the TLB, and what fills one waits for few pages.
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
  explicit ZeroedArray(size_t size) : size_(size) {
    size_bytes() < kHugePageBytes ? allocate() : map();
  }
  ZeroedArray(const ZeroedArray& other) : ZeroedArray(other.size_) {
    if (size_ > 0) std::memcpy(static_cast<void*>(data_), other.data_, size_ * sizeof(T));
  }
  ZeroedArray(ZeroedArray&& other) noexcept { swap(other); }
  ZeroedArray& operator=(ZeroedArray other) noexcept {
    swap(other);
    return *this;
  }
  ~ZeroedArray() {
#ifdef __linux__
    if (mapped_bytes_ > 0) {
      munmap(block_, mapped_bytes_);
      return;
    }
#endif
    std::free(block_);
  }

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
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  void set_data(size_t alignment) {
    const uintptr_t at = (reinterpret_cast<uintptr_t>(block_) + alignment - 1) / alignment;
    data_ = reinterpret_cast<T*>(at * alignment);
  }

  void allocate() {
    block_ = std::calloc(size_bytes() + kLineBytes, 1);
    if (block_ == nullptr) throw std::bad_alloc();
    set_data(kLineBytes);
  }

  // An allocator would clear what it hands out a second time, all of it. The room for alignment is
  // never touched. Where there are no huge pages, nothing changes but the time.
  void map() {
#ifdef __linux__
    const size_t bytes = size_bytes() + kHugePageBytes;
    block_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block_ == MAP_FAILED) throw std::bad_alloc();
    mapped_bytes_ = bytes;
    set_data(kHugePageBytes);
#ifdef MADV_HUGEPAGE
    madvise(data_, size_bytes() / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
#endif
#else
    allocate();
#endif
  }

  void* block_ = nullptr;
  size_t mapped_bytes_ = 0;  // Of the block, if it is no allocator's.
  T* data_ = nullptr;        // In the block.
  size_t size_ = 0;
};

}  // namespace interlock
