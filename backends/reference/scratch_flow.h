// ScratchFlow: which accesses made the scratch bytes that each dispatch sees in issue order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// An index into ScratchFlow::links; none: the initial bytes.
using ScratchLinkIndex = uint32_t;
inline constexpr ScratchLinkIndex kNoScratchLink = UINT32_MAX;

// What one access did to some bytes: a plain write replaced them, an atomic changed what the link
// before it had left.
struct ScratchLink {
  uint32_t access = 0;  // Into Program::accesses.
  bool is_atomic = false;
  AtomicOp op = AtomicOp::kNone;               // Of an atomic.
  ScratchLinkIndex previous = kNoScratchLink;  // Of an atomic.
};

// The bytes `range` of `memory` are what `link` left.
struct ScratchSource {
  MemoryId memory;
  ByteRange range;
  ScratchLinkIndex link = kNoScratchLink;
};

struct ScratchFlow {
  std::vector<ScratchLink> links;
  std::vector<ScratchSource> sources;  // By reader; those of the end of the program last.
  std::vector<size_t> source_begin;    // By dispatch, one more for the end, and one more.
  std::vector<ByteRange> taken;        // By access; disjoint, ascending.
  std::vector<size_t> taken_begin;     // By access, and one more.
  std::vector<uint64_t> take_count;    // By access: how many sources it contributes to.
  uint64_t size_bytes = 0;             // Of links, sources and ranges, about.

  std::span<const ScratchSource> sources_of(DispatchId reader) const { return part(reader.index); }
  std::span<const ScratchSource> sources_of_the_end() const {
    return part(source_begin.size() - 2);
  }

  // The bytes of an access that later readers, or the end of the program, see.
  std::span<const ByteRange> taken_of(uint32_t access) const {
    return std::span(taken).subspan(taken_begin[access],
                                    taken_begin[access + 1] - taken_begin[access]);
  }

 private:
  std::span<const ScratchSource> part(size_t i) const {
    return std::span(sources).subspan(source_begin[i], source_begin[i + 1] - source_begin[i]);
  }
};

// True iff a dispatch touches a byte of a scratch memory.
bool touches_scratch(const Program& program);

// Reads see the last plain write and all atomics since; so do partial writes, which keep bytes. An
// atomic that adds to something later in program order than itself is left out.
// Errors: the flow takes more than `limit_bytes`.
// Cost: O((a + s) log a) for a accesses and s pairs of a source and an access in its chain.
Result<ScratchFlow> trace_scratch(const Program& program, uint64_t limit_bytes);

}  // namespace interlock
