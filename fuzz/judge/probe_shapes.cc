// The basic idea is an order of all combinations: one that departs from the widest probe in fewer
// ways stands before one that does in more.
#include <algorithm>
#include <array>
#include <string_view>

#include "fuzz/judge/probes.h"
#include "fuzz/judge/signature.h"

namespace interlock {
namespace {

constexpr uint64_t kCountMax = 64;

uint64_t other_operand_count(const Program& program, AccessRef access) {
  return program.declared_accesses_of(access.dispatch).size() - 1;
}

std::vector<ProbeModes> modes_of(const Program& program, const Hazard& hazard) {
  const bool first = access_of(program, hazard.first).mode != plain_first_mode(hazard.kind);
  const bool second = access_of(program, hazard.second).mode != plain_second_mode(hazard.kind);
  std::vector<ProbeModes> modes = {ProbeModes::kPlain};
  if (first) modes.push_back(ProbeModes::kFirst);
  if (second) modes.push_back(ProbeModes::kSecond);
  if (first && second) modes.push_back(ProbeModes::kBoth);
  return modes;
}

std::vector<ProbeRanges> ranges_of(const Program& program, const Hazard& hazard) {
  const Access& first = access_of(program, hazard.first);
  const Access& second = access_of(program, hazard.second);
  std::vector<ProbeRanges> ranges = {ProbeRanges::kSame, ProbeRanges::kShort};
  if (first.range != second.range) {
    ranges.push_back(ProbeRanges::kOverlap);
    ranges.push_back(ProbeRanges::kShortOverlap);
  }
  const bool has_two_tensors =
      first.tensor.is_some() && second.tensor.is_some() && first.tensor != second.tensor;
  if (has_two_tensors) ranges.push_back(ProbeRanges::kTwoTensors);
  ranges.push_back(ProbeRanges::kOwn);
  return ranges;
}

struct ContextChoice {
  ProbeContext context = ProbeContext::kNone;
  uint64_t count = 0;
  bool is_largest = true;  // Of those of this context.
};

// What else the find has.
struct Surroundings {
  uint64_t operand_count = 0;  // Other operands of the two.
  uint64_t position_max = 0;   // Of the two.
  uint64_t access_count = 0;   // All but the two.
  uint64_t dispatch_count = 0;
  bool shares_memory = false;  // Another access of the same memory.
};

Surroundings surroundings_of(const Program& program, const Hazard& hazard) {
  Surroundings found;
  found.operand_count =
      other_operand_count(program, hazard.first) + other_operand_count(program, hazard.second);
  found.position_max = std::max(hazard.first.access, hazard.second.access);
  found.dispatch_count = program.dispatches.size() - 2;
  const MemoryId memory = access_of(program, hazard.first).memory;
  for (uint32_t i = 0; i < program.dispatches.size(); ++i) {
    const auto accesses = program.declared_accesses_of(DispatchId(i));
    for (uint32_t k = 0; k < accesses.size(); ++k) {
      const AccessRef access{DispatchId(i), k};
      if (access == hazard.first || access == hazard.second) continue;
      ++found.access_count;
      found.shares_memory |= accesses[k].memory == memory;
    }
  }
  return found;
}

std::vector<ContextChoice> contexts_of(const Program& program, const Hazard& hazard,
                                       bool has_barrier) {
  const Surroundings found = surroundings_of(program, hazard);
  std::vector<ContextChoice> contexts = {{}};
  const auto add_counted = [&](ProbeContext context, uint64_t count_max) {
    count_max = std::min(count_max, kCountMax);
    for (uint64_t n = 1; n <= count_max; ++n) contexts.push_back({context, n, n == count_max});
  };
  add_counted(ProbeContext::kOperands, found.position_max);
  // One dispatch may have many outputs, and many may have none.
  const uint64_t bystander_count = std::max(found.access_count, found.dispatch_count);
  add_counted(ProbeContext::kBefore, bystander_count);
  add_counted(ProbeContext::kBetween, bystander_count);
  if (found.shares_memory) contexts.push_back({ProbeContext::kSharedMemory});
  if (has_barrier) contexts.push_back({ProbeContext::kBarrierBefore});
  if (found.operand_count > 0) contexts.push_back({ProbeContext::kOwnOperands});
  if (found.dispatch_count > 0) contexts.push_back({ProbeContext::kOwnDispatches});
  if (found.operand_count > 0 && found.dispatch_count > 0) contexts.push_back({ProbeContext::kOwn});
  return contexts;
}

}  // namespace

AccessMode plain_first_mode(FindingKind kind) {
  return kind == FindingKind::kWriteAfterRead ? AccessMode::kRead : AccessMode::kWrite;
}

AccessMode plain_second_mode(FindingKind kind) {
  return kind == FindingKind::kReadAfterWrite ? AccessMode::kRead : AccessMode::kWrite;
}

std::vector<ProbeShape> probe_shapes_of(const Program& program, const Hazard& hazard,
                                        bool has_barrier) {
  const std::vector<ProbeModes> modes = modes_of(program, hazard);
  const std::vector<ProbeRanges> ranges = ranges_of(program, hazard);
  const std::vector<ContextChoice> contexts = contexts_of(program, hazard, has_barrier);
  const ProbeShape find{modes.back(), ranges.back(), contexts.back().context, 0};
  std::vector<ProbeShape> shapes;
  for (int departures = 0; departures <= 3; ++departures) {
    for (const ProbeModes mode : modes) {
      for (const ProbeRanges range : ranges) {
        for (const ContextChoice& choice : contexts) {
          const ProbeShape shape{mode, range, choice.context, choice.count};
          const int count = (mode != ProbeModes::kPlain) + (range != ProbeRanges::kSame) +
                            (choice.context != ProbeContext::kNone);
          // The least number of bystanders is looked for where nothing else is needed.
          const bool is_one_of_many = count > 1 && !choice.is_largest;
          const bool has_no_probe =
              (range == ProbeRanges::kTwoTensors && is_cut_out(choice.context)) ||
              (range == ProbeRanges::kOwn && choice.context != ProbeContext::kNone &&
               !is_cut_out(choice.context));
          if (count != departures || is_one_of_many || has_no_probe || shape == find) continue;
          shapes.push_back(shape);
        }
      }
    }
  }
  return shapes;
}

std::string words_of(const Program& program, const Hazard& hazard, const ProbeShape& shape) {
  constexpr std::array<std::string_view, kAccessModeCount> kModeWords = {
      "indirect", "uniform", "read", "write", "update", "atomic"};
  constexpr std::array<std::string_view, 5> kRangeWords = {"", "short_range", "overlap",
                                                           "short_overlap", "two_tensors"};
  constexpr std::array<std::string_view, 9> kContextWords = {
      "",        "operand_position", "dispatches_before", "dispatches_between", "shared_memory",
      "barrier", "operands",         "dispatches",        "operands-dispatches"};
  std::string words;
  const auto append = [&](std::string_view word) {
    if (word.empty()) return;
    if (!words.empty()) words += '-';
    words += word;
  };
  const auto mode_word = [&](const Access& access) {
    return kModeWords[static_cast<size_t>(access.mode)];
  };
  const std::string_view first = mode_word(access_of(program, hazard.first));
  const std::string_view second = mode_word(access_of(program, hazard.second));
  // Which side it stands on says nothing about what is not understood.
  if (keeps_first_mode(shape.modes)) append(first);
  if (keeps_second_mode(shape.modes) && !(keeps_first_mode(shape.modes) && first == second)) {
    append(second);
  }
  append(shape.ranges == ProbeRanges::kOwn ? word_of(alias_shape_of(program, hazard))
                                           : kRangeWords[static_cast<size_t>(shape.ranges)]);
  append(kContextWords[static_cast<size_t>(shape.context)]);
  return words;
}

}  // namespace interlock
