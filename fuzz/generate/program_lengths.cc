#include "fuzz/generate/program_lengths.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace interlock {
namespace {

constexpr uint64_t kShortestRow = 16;
constexpr uint64_t kRowSizes = 5;  // 16, 32, 64, 128, 256, and up to twice as many.
constexpr uint64_t kOperandBytes = 4;
constexpr uint64_t kOperandsMax = 4;
constexpr const char* kMemory = "far_apart";  // No generated name has a word in it.

}  // namespace

void lengthen(ProgramDraft& draft, Choice& choice, uint32_t max_dispatches) {
  const uint64_t least = kShortestRow << choice.below(kRowSizes);
  const uint64_t count =
      std::min<uint64_t>(least + choice.below(least), kShortestRow * max_dispatches);
  const uint64_t operand_count = 1 + choice.below(kOperandsMax);
  std::vector<size_t> places;  // Of dispatches but the first.
  for (size_t i = 0; i < draft.items.size(); ++i) {
    if (std::holds_alternative<DispatchDraft>(draft.items[i])) places.push_back(i);
  }
  if (places.size() < 2) return;
  const size_t place = places[1 + choice.below(places.size() - 1)];
  std::vector<ItemDraft> row;
  uint64_t end = 0;
  for (uint64_t i = 0; i < count; ++i) {
    DispatchDraft dispatch;
    dispatch.kernel = "Apart";
    // In the order of the clauses: what is read stands before what is written.
    const uint64_t read_count = choice.below(operand_count + 1);
    for (uint64_t k = 0; k < operand_count; ++k) {
      const AccessMode mode = k < read_count ? AccessMode::kRead : AccessMode::kWrite;
      dispatch.operands.push_back({mode, kMemory, ByteRange{end, end + kOperandBytes}});
      end += kOperandBytes;
    }
    row.emplace_back(std::move(dispatch));
  }
  draft.items.insert(draft.items.begin() + static_cast<std::ptrdiff_t>(place), row.begin(),
                     row.end());
  draft.items.insert(draft.items.begin(), MemoryDraft{.name = kMemory, .size_bytes = end});
}

}  // namespace interlock
