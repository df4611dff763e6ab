#include "capture/convert/measured_rows.h"

#include <algorithm>
#include <map>
#include <utility>

namespace interlock {
namespace {

// Fewer are told one by one.
constexpr size_t kRowsMin = 3;

bool is_like(const CapturedOperand& a, const CapturedOperand& b) {
  return a.mode == b.mode && a.bytes.memory == b.bytes.memory && !a.bytes.rows && !b.bytes.rows &&
         a.bytes.range.size_bytes() == b.bytes.range.size_bytes();
}

// How many operands from `first` on are as wide, and as far from each other, as the first two.
size_t row_count_at(const std::vector<CapturedOperand>& operands, size_t first) {
  size_t count = 1;
  while (first + count < operands.size()) {
    const CapturedOperand& last = operands[first + count - 1];
    const CapturedOperand& next = operands[first + count];
    if (!is_like(last, next) || next.bytes.range.begin < last.bytes.range.end) break;
    const uint64_t pitch =
        operands[first + 1].bytes.range.begin - operands[first].bytes.range.begin;
    if (next.bytes.range.begin - last.bytes.range.begin != pitch) break;
    ++count;
  }
  return count;
}

}  // namespace

std::vector<CapturedOperand> with_rows(const std::vector<CapturedOperand>& operands) {
  std::vector<CapturedOperand> result;
  for (size_t i = 0; i < operands.size();) {
    const size_t count = row_count_at(operands, i);
    CapturedOperand& added = result.emplace_back(operands[i]);
    if (count < kRowsMin) {
      ++i;
      continue;
    }
    const uint64_t width = added.bytes.range.size_bytes();
    const uint64_t pitch = operands[i + 1].bytes.range.begin - added.bytes.range.begin;
    added.bytes.range.end = operands[i + count - 1].bytes.range.end;
    added.bytes.rows = {count, pitch, width};
    i += count;
  }
  return result;
}

std::vector<CapturedOperand> bounded(const std::vector<CapturedOperand>& operands) {
  std::map<std::pair<AccessMode, uint64_t>, CapturedOperand> bounds;
  for (const CapturedOperand& operand : operands) {
    // What is both read and written is so around all of it.
    for (const AccessMode mode :
         {AccessMode::kRead, AccessMode::kWrite, AccessMode::kUniform, AccessMode::kIndirect}) {
      const bool is_updated = operand.mode == AccessMode::kUpdate &&
                              (mode == AccessMode::kRead || mode == AccessMode::kWrite);
      if (operand.mode != mode && !is_updated) continue;
      const auto [found, is_new] =
          bounds.try_emplace({mode, operand.bytes.memory->number}, operand);
      CapturedOperand& around = found->second;
      around.mode = mode;
      around.bytes.rows.reset();
      around.bytes.range.begin = std::min(around.bytes.range.begin, operand.bytes.range.begin);
      around.bytes.range.end = std::max(around.bytes.range.end, operand.bytes.range.end);
    }
  }
  std::vector<CapturedOperand> result;
  for (auto& [key, operand] : bounds) result.push_back(std::move(operand));
  return result;
}

}  // namespace interlock
