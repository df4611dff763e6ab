// What the judges of split steps share: the parts of a small program, byte by byte.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

struct Byte {
  uint32_t memory = 0;
  uint64_t offset = 0;

  auto operator<=>(const Byte&) const = default;
};

bool covers(const Access& access, Byte byte);

// Where a dispatch executes, and by which sorts it reads and writes.
Stage stage_by_name(const Program& program, const Dispatch& dispatch);
StageAccess reading_sort(Stage stage, const Access& access);
StageAccess writing_sort(Stage stage);
bool is_read(const Access& access);
bool is_plain_write(const Access& access);

// What one dispatch does to one byte.
enum class SplitEffect { kNone, kOverwrite, kPartial, kAtomic };
SplitEffect effect_on(const Program& program, const Dispatch& dispatch, Byte byte);

std::set<Byte> bytes_of(const Program& program);
std::set<Byte> output_bytes(const Program& program);

// One per dependency.
struct SplitEvent {
  size_t command = 0;  // Statement index.
  StageMask waits_for = 0;
  StageMask holds_back = 0;
  AccessMask makes_available = 0;
  AccessMask makes_visible = 0;
  std::vector<Access> operands;

  bool covers(Byte byte) const;
};

std::vector<SplitEvent> split_events_of(const Program& program);

// The first precedes the second.
bool leads_on(const SplitEvent& first, const SplitEvent& second);

}  // namespace interlock
