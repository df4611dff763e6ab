#include "backends/interface/host_cache.h"

#include <algorithm>

namespace interlock {

std::vector<uint8_t> HostCache::bytes_for(DispatchId dispatch, MemoryId memory, ByteRange range) {
  const uint8_t* const start = starts_[memory.index];
  std::vector<uint8_t> bytes(start + range.begin, start + range.end);
  if (program_.dispatch(dispatch).host == HostAccess::kNone) return bytes;
  for (const DispatchId writer : writers()) {
    for_each_part(writer, memory, range, [&](ByteRange part, const Operand& staged) {
      std::copy_n(staged.copy.data() + (part.begin - staged.range.begin), part.size_bytes(),
                  bytes.data() + (part.begin - range.begin));
    });
  }
  return bytes;
}

void HostCache::read(DispatchId dispatch, std::vector<std::vector<uint8_t>>& host_reads) {
  std::vector<uint8_t>& read = host_read_of(program_, dispatch, host_reads);
  for (const Access& access : program_.accesses_of(dispatch)) {
    std::vector<uint8_t> bytes = bytes_for(dispatch, access.memory, access.range);
    partial_.for_each_fetched(
        dispatch, access, access.range,
        [&](ByteRange shared, const std::vector<uint8_t>& fetched, uint64_t offset_bytes) {
          std::copy_n(fetched.data() + offset_bytes, shared.size_bytes(),
                      bytes.data() + (shared.begin - access.range.begin));
        });
    read.insert(read.end(), bytes.begin(), bytes.end());
  }
}

}  // namespace interlock
