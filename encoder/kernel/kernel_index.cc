// Kernels by name. Every new name of a kernel in a text, and most dispatches of generators, ask for
// one; so the names are in buckets, by what tells most of them apart.
#include <array>
#include <cstddef>
#include <cstdint>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

class KernelIndex {
 public:
  KernelIndex() {
    INTERLOCK_CHECK(kernel_table().size() < kNone);
    first_.fill(kNone);
    for (size_t i = kernel_table().size(); i-- > 0;) {
      uint8_t& first = first_[bucket_of(kernel_table()[i].name)];
      next_[i] = first;
      first = static_cast<uint8_t>(i);
    }
  }

  std::optional<KernelId> find(std::string_view name) const {
    if (name.empty()) return std::nullopt;
    for (size_t i = first_[bucket_of(name)]; i != kNone; i = next_[i]) {
      if (kernel_table()[i].name == name) return KernelId(i);
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kBucketCount = 128;
  static constexpr uint8_t kNone = UINT8_MAX;

  // Requires: not empty.
  static size_t bucket_of(std::string_view name) {
    return (5 * name.size() + 3 * static_cast<uint8_t>(name.front()) +
            static_cast<uint8_t>(name.back())) %
           kBucketCount;
  }

  std::array<uint8_t, kBucketCount> first_;  // Of each bucket.
  std::array<uint8_t, kNone> next_;          // Of the same bucket, by kernel.
};

}  // namespace

std::optional<KernelId> find_kernel(std::string_view name) {
  static const KernelIndex index;
  return index.find(name);
}

}  // namespace interlock
