#include "backends/interface/beside_bytes.h"

#include <algorithm>

namespace interlock {

void BesideBytes::find(DispatchId dispatch) {
  for_each_beside(program_, dispatch, [&](const MemoryRange& bytes) {
    std::vector<uint8_t> content = cache_.bytes_for(dispatch, bytes.memory, bytes.range);
    for_each_fetched_beside(
        partial_, dispatch, bytes,
        [&](ByteRange shared, const std::vector<uint8_t>& fetched, uint64_t offset_bytes) {
          std::copy_n(fetched.data() + offset_bytes, shared.size_bytes(),
                      content.data() + (shared.begin - bytes.range.begin));
        });
    contents_.add(dispatch, {bytes, std::move(content)});
  });
}

void BesideBytes::put_back(DispatchId dispatch, std::span<const StepBytes> places) {
  contents_.take(dispatch, places, [&](const auto& found, ByteRange part) {
    std::copy_n(found.content.data() + (part.begin - found.bytes.range.begin), part.size_bytes(),
                starts_[found.bytes.memory.index] + part.begin);
  });
}

}  // namespace interlock
