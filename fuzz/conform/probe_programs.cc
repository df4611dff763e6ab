#include "fuzz/conform/probe_programs.h"

#include <fmt/format.h>

#include <string_view>
#include <variant>

namespace interlock {
namespace {

constexpr uint64_t kProbeBytes = 64;
constexpr uint64_t kEachUpTo = 17;

struct ProbeWords {
  std::string_view first;   // What the first dispatch does, and all in between.
  std::string_view second;  // What the last one does.
};

// What a dispatch that reads makes of it is an output.
std::string_view output_of(FindingKind kind) {
  return kind == FindingKind::kWriteAfterRead ? " writes out" : "";
}

ProbeWords probe_words_of(FindingKind kind) {
  if (kind == FindingKind::kWriteAfterRead) return {"reads", "writes"};
  return {"writes", kind == FindingKind::kReadAfterWrite ? "reads" : "writes"};
}

std::string head(ProbePlace place, uint64_t operand_count) {
  std::string text = "interlock 1\nmemory out 64\n";
  if (place == ProbePlace::kOneMemory) {
    return text + fmt::format("memory pool {}\n", operand_count * kProbeBytes);
  }
  for (uint64_t i = 0; i < operand_count; ++i) {
    text += fmt::format("memory m{} {}\n", i, kProbeBytes);
  }
  return text;
}

std::string operand(ProbePlace place, uint64_t index) {
  if (place == ProbePlace::kOwnMemories) return fmt::format("m{}", index);
  return fmt::format("pool[{}:{}]", index * kProbeBytes, (index + 1) * kProbeBytes);
}

// It leaves something that an output shows, or what the first dispatch leaves shows it.
std::string last_dispatch(const ConflictProbe& probe, uint64_t index) {
  const std::string operand_text = operand(probe.place, index);
  return probe.kind == FindingKind::kReadAfterWrite
             ? fmt::format("d1: dispatch Opaque reads {} writes out\n", operand_text)
             : fmt::format("d1: dispatch Opaque writes {}\n", operand_text);
}

}  // namespace

std::vector<ConflictProbe> conflict_probes() {
  constexpr FindingKind kKinds[] = {FindingKind::kReadAfterWrite, FindingKind::kWriteAfterRead,
                                    FindingKind::kWriteAfterWrite};
  std::vector<ConflictProbe> probes;
  for (const ProbePlace place : {ProbePlace::kOwnMemories, ProbePlace::kOneMemory}) {
    for (const FindingKind kind : kKinds) probes.push_back({kind, place});
  }
  return probes;
}

std::string text_at_distance(const ConflictProbe& probe, uint64_t distance) {
  const ProbeWords words = probe_words_of(probe.kind);
  std::string text = head(probe.place, distance);
  for (uint64_t i = 0; i < distance; ++i) {
    text += fmt::format("{}dispatch Opaque {} {}{}\n", i == 0 ? "d0: " : "", words.first,
                        operand(probe.place, i), i == 0 ? output_of(probe.kind) : "");
  }
  return text + last_dispatch(probe, 0);
}

std::string text_of_operands(const ConflictProbe& probe, uint64_t operand_count, uint64_t index) {
  std::string text = head(probe.place, operand_count);
  text += fmt::format("d0: dispatch Opaque {}", probe_words_of(probe.kind).first);
  for (uint64_t i = 0; i < operand_count; ++i) text += ' ' + operand(probe.place, i);
  return fmt::format("{}{}\n{}", text, output_of(probe.kind), last_dispatch(probe, index));
}

std::vector<uint64_t> probe_distances(uint64_t max) {
  std::vector<uint64_t> distances;
  for (uint64_t d = 1; d <= max && d <= kEachUpTo; ++d) distances.push_back(d);
  for (uint64_t power = 32; power - 1 <= max; power *= 2) {
    for (uint64_t d = power - 1; d <= power + 1 && d <= max; ++d) distances.push_back(d);
  }
  return distances;
}

std::string text_of_stream(uint64_t dispatch_count, uint64_t window) {
  const uint64_t places = 4 * window;
  std::string text = fmt::format("interlock 1\nmemory pool {}\n", places * kProbeBytes);
  const auto place = [&](uint64_t i) { return operand(ProbePlace::kOneMemory, i % places); };
  for (uint64_t i = 0; i < dispatch_count; ++i) {
    text += fmt::format("dispatch Step reads {} writes {}\n", place(i + places - window), place(i));
  }
  return text;
}

ProgramDraft in_command_buffers(const ProgramDraft& draft) {
  ProgramDraft result = draft;
  result.items.clear();
  bool is_first = true;
  for (const ItemDraft& item : draft.items) {
    const bool is_dispatch = std::holds_alternative<DispatchDraft>(item);
    if (is_dispatch && !is_first) result.items.emplace_back(SyncDraft{});
    is_first &= !is_dispatch;
    result.items.push_back(item);
  }
  return result;
}

}  // namespace interlock
