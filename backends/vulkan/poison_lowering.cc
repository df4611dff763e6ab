#include "backends/vulkan/poison_lowering.h"

#include <algorithm>
#include <vector>

namespace interlock {
namespace {

constexpr uint32_t kPoisonWord = kPoisonByte * 0x01010101u;

// As ranges of the arena that share no byte: two operands may read the same ended value, and no
// barrier stands between the fills.
std::vector<ByteRange> arena_ranges_of(const DeviceLayout& layout,
                                       std::span<const EndedBytes> ended) {
  std::vector<ByteRange> ranges;
  for (const EndedBytes& bytes : ended) {
    const DeviceRange range = layout.range_of(bytes.memory, bytes.bytes);
    ranges.push_back({range.offset_bytes, range.offset_bytes + range.size_bytes});
  }
  std::ranges::sort(ranges, {}, &ByteRange::begin);
  size_t count = 0;
  for (const ByteRange& range : ranges) {
    if (count > 0 && range.begin <= ranges[count - 1].end) {
      ranges[count - 1].end = std::max(ranges[count - 1].end, range.end);
    } else {
      ranges[count++] = range;
    }
  }
  ranges.resize(count);
  return ranges;
}

}  // namespace

// Fills of Vulkan take whole words; the few bytes around them are copied from a word of poison.
void lower_poison(const VulkanLowering& lowering, std::span<const EndedBytes> ended) {
  if (ended.empty()) return;
  CommandList& list = lowering.list;
  const DeviceRange word = lowering.layout.take(kWordBytes);
  list.add_full_barrier();
  list.add_fill({word, kPoisonWord});
  list.add_full_barrier();
  for (const ByteRange& range : arena_ranges_of(lowering.layout, ended)) {
    const uint64_t words_begin =
        std::min((range.begin + kWordBytes - 1) / kWordBytes * kWordBytes, range.end);
    const uint64_t words_end = std::max(range.end / kWordBytes * kWordBytes, words_begin);
    list.add_copy({word.offset_bytes, range.begin, words_begin - range.begin});
    list.add_fill({{words_begin, words_end - words_begin}, kPoisonWord});
    list.add_copy({word.offset_bytes, words_end, range.end - words_end});
  }
  list.add_full_barrier();
}

}  // namespace interlock
