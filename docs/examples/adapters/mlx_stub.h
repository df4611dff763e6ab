// What the example needs of MLX and metal-cpp, so that it compiles anywhere: the names and the shape of
// mlx/backend/metal/device.h (MLX 0.22 and later), and none of the code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

namespace MTL {

struct Size {
  std::size_t width, height, depth;
};

enum BarrierScope { BarrierScopeBuffers = 1 };

struct Buffer {
  void* contents() const { return bytes; }
  std::size_t length() const { return size; }
  void* bytes;
  std::size_t size;
};

struct ComputeCommandEncoder {
  void setBuffer(const Buffer*, std::size_t, int) {}
  void memoryBarrier(BarrierScope) {}
  void dispatchThreadgroups(Size, Size) {}
};

}  // namespace MTL

namespace mlx::core {

// An array is a window of a buffer of the allocator.
class array {
 public:
  array(const MTL::Buffer& buffer, std::size_t offset_bytes, std::size_t size_bytes)
      : buffer_(&buffer), offset_bytes_(offset_bytes), size_bytes_(size_bytes) {}
  const MTL::Buffer* buffer() const { return buffer_; }
  std::size_t offset() const { return offset_bytes_; }
  std::size_t nbytes() const { return size_bytes_; }

 private:
  const MTL::Buffer* buffer_;
  std::size_t offset_bytes_;
  std::size_t size_bytes_;
};

}  // namespace mlx::core
