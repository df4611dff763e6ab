// The basic idea is an interval map per memory that is carried through issue order: an interval
// holds the link that made its bytes, and atomics chain their links to the one they found.
//
// For example, two values on the same 8 bytes of the scratch memory t, one after the other, with
// barriers between:
//
//   fill_x: dispatch FillX order=0 writes t                        access 0
//   add:    dispatch Add order=2 atomics t[0:4] atomic=add         access 1
//   read_x: dispatch ReadX order=4 reads t writes m[0:8]
//   fill_y: dispatch FillY order=1 writes t                        access 4
//   read_y: dispatch ReadY order=3 reads t writes m[8:16]
//
//   after     intervals of t            links
//   fill_x    [0:8) 0                   0: access 0
//   add       [0:4) 1, [4:8) 0          1: access 1, on link 0
//   fill_y    [0:8) 2                   2: access 4
//
// read_x has two sources, [0:4) of link 1 and [4:8) of link 0; read_y has one, [0:8) of link 2, and
// so has the end of the program. Following the links from each source gives what is taken: of
// access 0 the bytes [0:4), below the atomic, and [4:8), together [0:8), by 2 sources; of access 1
// the bytes [0:4), by 1; of access 4 [0:8), by 2.
//
// The reference runs in program order: fill_x, fill_y, add, read_y, read_x. One image of t would
// not do, as fill_y overwrites x before it is read. So the reference keeps what each access did to
// the bytes that are taken from it, until its last source was put together; for read_x it copies
// the bytes of fill_x and applies the operand of add to [0:4).
#include "backends/reference/scratch_flow.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

class Tracer {
 public:
  Tracer(const Program& program, uint64_t limit_bytes)
      : program_(program), limit_bytes_(limit_bytes), intervals_(program.memories.size()) {
    flow_.take_count.resize(program.accesses.size());
  }

  Result<ScratchFlow> run() {
    for (size_t d = 0; d < program_.dispatches.size(); ++d) {
      if (is_stopped()) return Error{"The run was stopped."};
      flow_.source_begin.push_back(flow_.sources.size());
      note_reads(program_.dispatches[d]);
      note_writes(program_.dispatches[d]);
      if (is_too_large()) {
        return error_of(
            "The reference of this program needs more than {} bytes, the execution limit, to know which writers of scratch memories each read sees; it does so at {}.",
            limit_bytes_, program_.description_of(DispatchId{d}));
      }
    }
    flow_.source_begin.push_back(flow_.sources.size());
    for (size_t m = 0; m < program_.memories.size(); ++m) {
      if (program_.memories[m].is_scratch) {
        note_read(MemoryId{m}, {0, program_.memories[m].size_bytes});
      }
    }
    flow_.source_begin.push_back(flow_.sources.size());
    if (is_too_large()) {
      return error_of(
          "The reference of this program needs more than {} bytes, the execution limit, to know which writers of scratch memories the end of the program sees.",
          limit_bytes_);
    }
    collect_taken();
    return std::move(flow_);
  }

 private:
  struct Interval {
    uint64_t end;
    ScratchLinkIndex link;
  };
  struct Taken {
    uint32_t access;
    ByteRange range;
  };
  // The latest in program order, plus 1; 0: none.
  struct Latest {
    uint64_t in_all;         // Of the link and those before it.
    uint64_t below_row = 0;  // Of an atomic: of those below its row.
  };

  bool is_too_large() const { return flow_.size_bytes > limit_bytes_; }

  template <typename Entry>
  void append(std::vector<Entry>& entries, const Entry& entry) {
    // A vector that grows holds its entries up to three times.
    flow_.size_bytes += 3 * sizeof entry;
    entries.push_back(entry);
  }

  void note_reads(const Dispatch& dispatch) {
    for (const Access& access : program_.accesses_of(dispatch)) {
      const bool sees_old =
          access.reads_plainly() || (dispatch.is_partial && access.writes_plainly());
      if (sees_old && program_.memory(access.memory).is_scratch) {
        note_read(access.memory, access.range);
      }
    }
  }

  void note_read(MemoryId memory, ByteRange range) {
    for (const ScratchSource& source : find_sources(memory, range)) {
      if (is_too_large()) return;
      append(flow_.sources, source);
      for (ScratchLinkIndex i = source.link; i != kNoScratchLink && !is_too_large();
           i = flow_.links[i].previous) {
        append(taken_, {flow_.links[i].access, source.range});
        ++flow_.take_count[flow_.links[i].access];
      }
    }
  }

  void note_writes(const Dispatch& dispatch) {
    for (uint32_t k = 0; k < dispatch.access_count && !is_too_large(); ++k) {
      const uint32_t index = dispatch.first_access + k;
      const Access& access = program_.accesses[index];
      const bool is_change = !access.only_reads() && !access.range.is_empty();
      if (!is_change || !program_.memory(access.memory).is_scratch) continue;
      if (!access.is_atomic()) {
        latest_.push_back({dispatch.order + 1, 0});
        assign(access.memory, access.range, add_link({.access = index}));
        continue;
      }
      for (const ScratchSource& found : find_sources(access.memory, access.range)) {
        const uint64_t below = below_row(found.link, dispatch.atomic_op);
        if (below > dispatch.order + 1) continue;
        const ScratchLinkIndex link = add_link({index, true, dispatch.atomic_op, found.link});
        latest_.push_back({std::max(latest_of(found.link), dispatch.order + 1), below});
        assign(access.memory, found.range, link);
      }
    }
  }

  ScratchLinkIndex add_link(const ScratchLink& link) {
    append(flow_.links, link);
    flow_.size_bytes += 3 * sizeof(Latest);
    return static_cast<ScratchLinkIndex>(flow_.links.size() - 1);
  }

  uint64_t latest_of(ScratchLinkIndex link) const {
    return link == kNoScratchLink ? 0 : latest_[link].in_all;
  }

  // Of what an atomic of `op` adds to, those it commutes with left out.
  uint64_t below_row(ScratchLinkIndex link, AtomicOp op) const {
    const bool is_row =
        link != kNoScratchLink && flow_.links[link].is_atomic && flow_.links[link].op == op;
    return is_row ? latest_[link].below_row : latest_of(link);
  }

  // `range`, cut by what made it; ascending.
  std::vector<ScratchSource> find_sources(MemoryId memory, ByteRange range) const {
    const std::map<uint64_t, Interval>& intervals = intervals_[memory.index];
    std::vector<ScratchSource> found;
    auto next = intervals.upper_bound(range.begin);
    if (next != intervals.begin() && std::prev(next)->second.end > range.begin) --next;
    for (uint64_t begin = range.begin; begin < range.end;) {
      const bool is_gap = next == intervals.end() || next->first > begin;
      uint64_t end = range.end;
      ScratchLinkIndex link = kNoScratchLink;
      if (is_gap) {
        if (next != intervals.end()) end = std::min(end, next->first);
      } else {
        end = std::min(end, next->second.end);
        link = next->second.link;
        ++next;
      }
      found.push_back({memory, {begin, end}, link});
      begin = end;
    }
    return found;
  }

  void assign(MemoryId memory, ByteRange range, ScratchLinkIndex link) {
    std::map<uint64_t, Interval>& intervals = intervals_[memory.index];
    split(intervals, range.begin);
    split(intervals, range.end);
    intervals.erase(intervals.lower_bound(range.begin), intervals.lower_bound(range.end));
    intervals[range.begin] = {range.end, link};
  }

  // Afterwards no interval has `at` inside.
  static void split(std::map<uint64_t, Interval>& intervals, uint64_t at) {
    auto next = intervals.lower_bound(at);
    if (next == intervals.begin()) return;
    Interval& before = std::prev(next)->second;
    if (before.end <= at) return;
    intervals[at] = before;
    before.end = at;
  }

  // Sorts what is taken by access, and joins what overlaps or touches.
  void collect_taken() {
    std::ranges::sort(taken_, {},
                      [](const Taken& t) { return std::pair(t.access, t.range.begin); });
    size_t next = 0;
    for (uint32_t access = 0; access < program_.accesses.size(); ++access) {
      flow_.taken_begin.push_back(flow_.taken.size());
      for (; next < taken_.size() && taken_[next].access == access; ++next) {
        const ByteRange range = taken_[next].range;
        const bool is_first = flow_.taken.size() == flow_.taken_begin.back();
        if (is_first || flow_.taken.back().end < range.begin) {
          flow_.taken.push_back(range);
        } else {
          flow_.taken.back().end = std::max(flow_.taken.back().end, range.end);
        }
      }
    }
    flow_.taken_begin.push_back(flow_.taken.size());
  }

  const Program& program_;
  uint64_t limit_bytes_;
  ScratchFlow flow_;
  std::vector<std::map<uint64_t, Interval>> intervals_;  // By memory, then by first byte.
  std::vector<Latest> latest_;                           // By link.
  std::vector<Taken> taken_;
};

}  // namespace

bool touches_scratch(const Program& program) {
  return std::ranges::any_of(program.accesses, [&](const Access& access) {
    return !access.range.is_empty() && program.memory(access.memory).is_scratch;
  });
}

Result<ScratchFlow> trace_scratch(const Program& program, uint64_t limit_bytes) {
  return Tracer(program, limit_bytes).run();
}

}  // namespace interlock
