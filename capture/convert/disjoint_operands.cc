#include "capture/convert/disjoint_operands.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace interlock {
namespace {

// What happens to the bytes from a position on, as counts of operands that have begun and not
// ended.
struct Change {
  int read = 0;
  int write = 0;
  int atomic = 0;

  int& of(AccessMode mode) {
    return mode == AccessMode::kRead ? read : mode == AccessMode::kWrite ? write : atomic;
  }
  bool is_any() const { return read > 0 || write > 0 || atomic > 0; }
  AccessMode mode() const {
    if (write == 0 && atomic == 0) return AccessMode::kRead;
    if (read == 0 && atomic == 0) return AccessMode::kWrite;
    return read == 0 && write == 0 ? AccessMode::kAtomic : AccessMode::kUpdate;
  }
};

}  // namespace

std::vector<CapturedOperand> disjoint_operands(const std::vector<CapturedOperand>& operands) {
  std::vector<CapturedOperand> result;
  // By the number of the memory, which is the same for the same program.
  std::map<uint64_t, std::pair<std::shared_ptr<CapturedMemory>, std::map<uint64_t, Change>>>
      changes;
  for (const CapturedOperand& operand : operands) {
    const bool is_plain = operand.mode == AccessMode::kRead || operand.mode == AccessMode::kWrite ||
                          operand.mode == AccessMode::kAtomic;
    if (!is_plain) {
      result.push_back(operand);
      continue;
    }
    auto& [memory, at] = changes[operand.bytes.memory->number];
    memory = operand.bytes.memory;
    at[operand.bytes.range.begin].of(operand.mode) += 1;
    at[operand.bytes.range.end].of(operand.mode) -= 1;
  }
  for (const auto& [number, of_memory] : changes) {
    const auto& [memory, at] = of_memory;
    Change now;
    uint64_t before = 0;
    for (const auto& [position, change] : at) {
      if (position > before && now.is_any()) {
        const AccessMode mode = now.mode();
        const bool goes_on = !result.empty() && result.back().mode == mode &&
                             result.back().bytes.memory == memory &&
                             result.back().bytes.range.end == before;
        if (goes_on) {
          result.back().bytes.range.end = position;
        } else {
          result.push_back({{memory, {before, position}, {}}, mode});
        }
      }
      now.read += change.read;
      now.write += change.write;
      now.atomic += change.atomic;
      before = position;
    }
  }
  std::ranges::stable_sort(result, {}, &CapturedOperand::mode);
  return result;
}

}  // namespace interlock
