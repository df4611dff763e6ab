#include "simulator/picture/segments.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace interlock {
namespace {

// How much a row says about where to look.
enum class RowWeight : uint8_t { kFindingBytes, kFindingRow, kOtherRow };

struct MemoryVotes {
  RowWeight weight = RowWeight::kOtherRow;  // The best of them.
  uint64_t access_count = 0;
};

RowWeight weight_of(const PictureRow& row) {
  return row.is_in_finding ? RowWeight::kFindingRow : RowWeight::kOtherRow;
}

// Memories by importance; of the same by number.
std::vector<MemoryId> shown_memories(const Program& program, const Finding* finding,
                                     const Picture& picture) {
  std::map<MemoryId, MemoryVotes> votes;
  for (const PictureRow& row : picture.rows) {
    if (!row.dispatch.is_some() || row.fold != kNone32) continue;
    for (const Access& access : program.accesses_of(row.dispatch)) {
      MemoryVotes& vote = votes[access.memory];
      vote.weight = std::min(vote.weight, weight_of(row));
      ++vote.access_count;
    }
  }
  if (finding != nullptr && finding->memory.is_some()) {
    votes[finding->memory].weight = RowWeight::kFindingBytes;
  }
  std::vector<MemoryId> memories;
  for (const auto& [memory, vote] : votes) memories.push_back(memory);
  std::ranges::stable_sort(memories, [&](MemoryId a, MemoryId b) {
    const MemoryVotes& left = votes[a];
    const MemoryVotes& right = votes[b];
    if (left.weight != right.weight) return left.weight < right.weight;
    return left.access_count > right.access_count;
  });
  return memories;
}

class SegmentCuts {
 public:
  SegmentCuts(uint64_t size_bytes, uint32_t segment_limit)
      : size_bytes_(size_bytes), limit_(segment_limit), cuts_{0, size_bytes} {}

  void cut(ByteRange bytes) {
    for (const uint64_t at : {bytes.begin, bytes.end}) {
      if (cuts_.size() <= limit_ && at <= size_bytes_) cuts_.insert(at);
    }
  }

  std::vector<uint64_t> boundaries() const { return {cuts_.begin(), cuts_.end()}; }

 private:
  const uint64_t size_bytes_;
  const uint32_t limit_;
  std::set<uint64_t> cuts_;
};

void cut_at_rows(const Program& program, const Picture& picture, MemoryId memory, RowWeight weight,
                 SegmentCuts& cuts) {
  for (const PictureRow& row : picture.rows) {
    if (!row.dispatch.is_some() || row.fold != kNone32 || weight_of(row) != weight) continue;
    for (const Access& access : program.accesses_of(row.dispatch)) {
      if (access.memory == memory) cuts.cut(access.range);
    }
  }
}

}  // namespace

void cut_memories(const Program& program, const Finding* finding, const PictureLimits& limits,
                  Picture& picture) {
  std::vector<MemoryId> memories = shown_memories(program, finding, picture);
  picture.more_memories = memories.size() - std::min<uint64_t>(memories.size(), limits.memories);
  memories.resize(memories.size() - picture.more_memories);
  for (const MemoryId memory : memories) {
    SegmentCuts cuts(program.memory(memory).size_bytes, limits.segments);
    if (finding != nullptr && finding->memory == memory) cuts.cut(finding->overlap);
    for (const RowWeight weight : {RowWeight::kFindingRow, RowWeight::kOtherRow}) {
      cut_at_rows(program, picture, memory, weight, cuts);
    }
    picture.memories.push_back(
        {memory, std::string(program.name(program.memory(memory).name)), cuts.boundaries()});
  }
}

std::pair<uint32_t, uint32_t> segments_of(std::span<const uint64_t> boundaries, ByteRange bytes) {
  if (bytes.is_empty() || boundaries.size() < 2) return {0, 0};
  const auto first = std::ranges::upper_bound(boundaries, bytes.begin) - boundaries.begin() - 1;
  const auto last = std::ranges::lower_bound(boundaries, bytes.end) - boundaries.begin();
  return {static_cast<uint32_t>(first), static_cast<uint32_t>(last - first)};
}

}  // namespace interlock
